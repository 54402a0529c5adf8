package markdown

import (
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// maxEntity is longer than an entity may be, in bytes.
const maxEntity = 34

// entity returns what the entity s begins with stands for, and its length; 0 for none.
func entity(s string) (text string, n int) {
	end := strings.IndexByte(s[:min(len(s), maxEntity)], ';')
	if end < 2 {
		return "", 0
	}
	name := s[1:end]
	if name[0] != '#' {
		text, ok := entities()[name]
		if !ok {
			return "", 0
		}
		return text, end + 1
	}
	digits, base, most := name[1:], 10, 7
	if len(digits) > 0 && digits[0]|0x20 == 'x' {
		digits, base, most = digits[1:], 16, 6
	}
	code, err := strconv.ParseUint(digits, base, 32)
	if err != nil || len(digits) > most || digits[0] == '+' {
		return "", 0
	}
	if code == 0 || !utf8.ValidRune(rune(code)) {
		code = utf8.RuneError
	}
	return string(rune(code)), end + 1
}

// entityRuns are names of entities: those behind a character stand for it and the
// ones that follow it.
const entityRuns = `" quot
& amp
' apos
< lt
> gt
` + "\u00a0" + ` nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr
° deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest
À Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml
Ð ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig
à agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml
ð eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml
Œ OElig oelig
Š Scaron scaron
Α Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho
Σ Sigma Tau Upsilon Phi Chi Psi Omega
α alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigmaf sigma tau upsilon phi chi psi omega
` + "\u2002" + ` ensp emsp
` + "\u2009" + ` thinsp
` + "\u200c" + ` zwnj zwj
– ndash mdash
‘ lsquo rsquo sbquo
“ ldquo rdquo bdquo
† dagger Dagger bull
… hellip
‰ permil
′ prime Prime
‹ lsaquo rsaquo
€ euro
™ trade
← larr uarr rarr darr harr
⇐ lArr uArr rArr dArr hArr
∀ forall
∂ part exist
∅ empty
∇ nabla isin notin
∏ prod
∑ sum
− minus
√ radic
∞ infin
∧ and or cap cup int
≈ asymp
≠ ne equiv
≤ le ge
⊂ sub sup
⊆ sube supe
⋅ sdot
✓ check
✗ cross
`

// entities by name: those that answers have, made when the first one is met.
var entities = sync.OnceValue(func() map[string]string {
	names := map[string]string{}
	for line := range strings.Lines(entityRuns) {
		first, size := utf8.DecodeRuneInString(line)
		for i, name := range strings.Fields(line[size:]) {
			names[name] = string(first + rune(i))
		}
	}
	return names
})
