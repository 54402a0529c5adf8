package bind

import (
	"fmt"

	"starling/surfaces"
	"starling/trust"
)

// has tells whether uses holds the word, with any scope.
func (p *Plugin) has(word trust.Kind) bool { return p.words.Has(word) }

// needs is the error of a word that uses lacks.
func (p *Plugin) needs(word trust.Kind) error {
	if p.has(word) {
		return nil
	}
	return &trust.NeedsError{Word: string(word)}
}

// didYouMean proposes the nearest of the candidates, for the end of a message.
func didYouMean(name string, candidates []string) string {
	if near := surfaces.Nearest(name, candidates); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}
