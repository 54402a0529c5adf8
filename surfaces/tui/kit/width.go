package kit

import (
	"strings"

	"github.com/rivo/uniseg"
)

// Cluster cuts the first character, as a person counts it, off a text and returns
// its width in cells; 0 for a mark that stands alone.
func Cluster(s string) (cluster, rest string, width int) {
	if len(s) > 1 && s[0] >= 0x20 && s[0] < 0x7f && s[1] >= 0x20 && s[1] < 0x7f {
		return s[:1], s[1:], 1
	}
	cluster, rest, width, _ = uniseg.FirstGraphemeClusterInString(s, -1)
	return cluster, rest, width
}

// Width of one line of clean text in cells, as the screen counts them.
func Width(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return uniseg.StringWidth(s)
		}
	}
	return len(s)
}

// Cut returns the longest beginning of s that takes at most width cells, and the
// rest. Whole characters only.
func Cut(s string, width int) (head, rest string) {
	used := 0
	for tail := s; tail != ""; {
		_, next, w := Cluster(tail)
		if used += w; used > width {
			return s[:len(s)-len(tail)], tail
		}
		tail = next
	}
	return s, ""
}

// Clip shortens a line to width cells; what is cut ends in the ellipsis, where there
// is room for it.
func Clip(s string, width int, ellipsis string) string {
	if width <= 0 {
		return ""
	}
	head, rest := Cut(s, width)
	if rest == "" {
		return s
	}
	room := width - Width(ellipsis)
	if room < 0 {
		return head
	}
	head, _ = Cut(s, room)
	return head + ellipsis
}

// Wrap breaks clean text into lines of at most width cells: at line ends, then at
// spaces, else between characters. There is always one line; a character that is
// wider than the width stands alone.
func Wrap(text string, width int) []string {
	width = max(width, 1)
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		out = wrapLine(out, strings.ReplaceAll(line, "\t", "    "), width)
	}
	return out
}

func wrapLine(out []string, line string, width int) []string {
	for {
		head, rest := Cut(line, width)
		if rest == "" {
			return append(out, line)
		}
		if head == "" {
			head, rest, _ = Cluster(line)
		}
		if rest != "" && rest[0] == ' ' {
			out, line = append(out, strings.TrimRight(head, " ")), strings.TrimLeft(rest, " ")
			if line == "" {
				return out
			}
			continue
		}
		if i := strings.LastIndexByte(head, ' '); i > 0 && strings.TrimLeft(head[:i], " ") != "" {
			head, rest = strings.TrimRight(head[:i], " "), line[i+1:]
		}
		out, line = append(out, head), rest
		if line == "" {
			return out
		}
	}
}

// Chop breaks clean text into lines of at most width cells between characters only,
// and keeps every space: for output and code.
func Chop(text string, width int) []string {
	width = max(width, 1)
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.ReplaceAll(line, "\t", "    ")
		for {
			head, rest := Cut(line, width)
			if head == "" && rest != "" {
				head, rest, _ = Cluster(line)
			}
			out = append(out, head)
			if rest == "" {
				break
			}
			line = rest
		}
	}
	return out
}
