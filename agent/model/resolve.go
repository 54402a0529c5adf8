package model

import (
	"fmt"
	"slices"
	"strings"
)

// maxNamed is how many models an error names.
const maxNamed = 8

// Resolve finds the model a person means: by provider and id, by id, by the last
// part of the id, or by a prefix of one of these that no other model has. Case
// counts only where it decides. The error of an ambiguous name lists the
// candidates, that of an unknown one those that are near.
func Resolve(name string, models []Model) (Model, error) {
	name = strings.TrimSpace(name)
	if name == "" {
		return Model{}, fmt.Errorf("model %q: the name is empty", name)
	}
	if len(models) == 0 {
		return Model{}, fmt.Errorf("model %q: no models are configured; name a server in models.json (docs/models.md)", name)
	}
	for _, step := range []func(n string) bool{
		func(n string) bool { return n == name },
		func(n string) bool { return strings.EqualFold(n, name) },
		func(n string) bool { return len(n) > len(name) && strings.EqualFold(n[:len(name)], name) },
	} {
		for _, names := range []func(Model) string{Model.FullName, id, lastPart} {
			found := matching(models, func(m Model) bool { return step(names(m)) })
			switch {
			case len(found) == 1:
				return found[0], nil
			case len(found) > 1:
				return Model{}, ambiguous(name, found)
			}
		}
	}
	return Model{}, unknown(name, models)
}

func id(m Model) string { return m.ID }

func lastPart(m Model) string { return m.ID[strings.LastIndexByte(m.ID, '/')+1:] }

func matching(models []Model, fits func(Model) bool) []Model {
	var found []Model
	for _, m := range models {
		if fits(m) {
			found = append(found, m)
		}
	}
	return found
}

func ambiguous(name string, found []Model) error {
	return fmt.Errorf("model %q: it could be %s; write one of these", name, list(found))
}

func unknown(name string, models []Model) error {
	if near := nearest(name, models); len(near) > 0 {
		return fmt.Errorf("model %q: there is no such model; near it are %s", name, list(near))
	}
	return fmt.Errorf("model %q: there is no such model; there are %s", name, list(models))
}

func list(models []Model) string {
	var names []string
	for i, m := range models {
		if i == maxNamed {
			names = append(names, fmt.Sprintf("and %d more", len(models)-i))
			break
		}
		names = append(names, m.FullName())
	}
	return strings.Join(names, ", ")
}

// nearest returns models whose name holds the one asked for, or differs in a few
// characters.
func nearest(name string, models []Model) []Model {
	name = strings.ToLower(name)
	type scored struct {
		m        Model
		distance int
	}
	var near []scored
	for _, m := range models {
		best := -1
		for _, n := range []string{m.FullName(), m.ID, lastPart(m)} {
			n = strings.ToLower(n)
			d := distance(name, n)
			if strings.Contains(n, name) || strings.Contains(name, n) {
				d = min(d, 1)
			}
			if d <= max(2, len(name)/3) && (best < 0 || d < best) {
				best = d
			}
		}
		if best >= 0 {
			near = append(near, scored{m, best})
		}
	}
	slices.SortStableFunc(near, func(a, b scored) int { return a.distance - b.distance })
	var out []Model
	for _, s := range near[:min(len(near), 3)] {
		out = append(out, s.m)
	}
	return out
}

// distance is the number of characters to change, add or drop.
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, s := range to {
			next := min(row[j], row[j+1]) + 1
			if r == s {
				next = min(next, diagonal)
			} else {
				next = min(next, diagonal+1)
			}
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return row[len(to)]
}
