package surfaces

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// lengthWeight is how many characters of length a point is worth; those of the last
// part of a path count four times.
const lengthWeight = 8

// Score says how well a text answers a query whose characters must all occur in it in
// order: higher is better, and ok is false when they do not. Case counts only where
// the query has capitals. Beginnings of words, runs and the last part of a path count
// more, long texts less.
func Score(query, text string) (score int, ok bool) {
	if query == "" {
		return -len(text), true
	}
	fold := strings.IndexFunc(query, unicode.IsUpper) < 0
	lower := func(r rune) rune {
		if fold {
			return unicode.ToLower(r)
		}
		return r
	}
	name := strings.LastIndexByte(strings.TrimSuffix(text, "/"), '/') + 1
	// The best place is often not the first: try from the last part too.
	best, found := scoreFrom(query, text, 0, name, lower)
	if name > 0 {
		if s, ok := scoreFrom(query, text, name, name, lower); ok && (!found || s > best) {
			best, found = s, true
		}
	}
	return best, found
}

func scoreFrom(query, text string, from, name int, lower func(rune) rune) (score int, ok bool) {
	last, gap := from-1, 0
	var before rune = '/'
	if from > 0 {
		before, _ = utf8.DecodeLastRuneInString(text[:from])
	}
	want, size := utf8.DecodeRuneInString(query)
	first := true
	for i, r := range text[from:] {
		i += from
		if lower(r) == lower(want) {
			score += 8
			switch {
			case !first && i == last:
				score += 12 // a run
			case beginsWord(before, r):
				score += 10
			}
			if i >= name {
				score += 4
			}
			if first {
				gap = i - from
			}
			first = false
			last = i + utf8.RuneLen(r)
			query = query[size:]
			if query == "" {
				if last == len(text) {
					score += 4
				}
				return (score-min(gap, 12))*lengthWeight - len(text) - 3*(len(text)-name), true
			}
			want, size = utf8.DecodeRuneInString(query)
		} else if !first {
			score--
		}
		before = r
	}
	return 0, false
}

// beginsWord tells whether a word begins between two characters.
func beginsWord(before, r rune) bool {
	letter := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	return !letter(before) || unicode.IsUpper(r) && unicode.IsLower(before)
}
