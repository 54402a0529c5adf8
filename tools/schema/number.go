package schema

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// decimal is a JSON number, exactly: digits × 10^exp. The digits have no zero at
// either end, so equal numbers are equal values and 1e999999999 stays small;
// zero has no digits.
type decimal struct {
	neg    bool
	digits string
	exp    int64
}

// maxExponent bounds exponents; numbers beyond are taken as 10^±maxExponent, far
// outside of what any other number reaches.
const maxExponent = 1 << 60

// decimalOf reads a number in the grammar of JSON.
func decimalOf(n json.Number) decimal {
	s, neg := strings.CutPrefix(string(n), "-")
	var exp int64
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		exp, _ = strconv.ParseInt(s[i+1:], 10, 64) // out of range is the nearest
		exp = min(max(exp, -maxExponent), maxExponent)
		s = s[:i]
	}
	whole, fraction, _ := strings.Cut(s, ".")
	exp -= int64(len(fraction))
	digits := strings.TrimLeft(whole+fraction, "0")
	all := len(digits)
	digits = strings.TrimRight(digits, "0")
	if digits == "" {
		return decimal{}
	}
	return decimal{neg, digits, exp + int64(all-len(digits))}
}

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.neg:
		return -1
	}
	return 1
}

func (d decimal) isInteger() bool { return d.exp >= 0 }

// cmp is negative, 0 or positive as d is below, at or above e.
func (d decimal) cmp(e decimal) int {
	s, t := d.sign(), e.sign()
	if s != t || s == 0 {
		return s - t
	}
	m, n := int64(len(d.digits))+d.exp, int64(len(e.digits))+e.exp
	switch {
	case m < n:
		return -s
	case m > n:
		return s
	}
	return s * strings.Compare(d.digits, e.digits)
}

// multipleOf tells whether d is a whole multiple of e, which is not zero.
func (d decimal) multipleOf(e decimal) bool {
	if d.digits == "" {
		return true
	}
	shift := d.exp - e.exp
	if shift < 0 {
		return false // d has digits behind the last place of e, and no zeros to lose
	}
	by := e.coefficient()
	// digits × 10^shift, modulo by: the power is never written out.
	rest := new(big.Int).Exp(big.NewInt(10), big.NewInt(shift), by)
	rest.Mul(rest, new(big.Int).Mod(d.coefficient(), by))
	return rest.Mod(rest, by).Sign() == 0
}

func (d decimal) coefficient() *big.Int {
	n, _ := new(big.Int).SetString(d.digits, 10)
	return n
}

// count returns a number that counts something: whole and not negative. What is
// larger than any length is the largest int.
func (d decimal) count() (int, bool) {
	if d.sign() < 0 || !d.isInteger() {
		return 0, false
	}
	if int64(len(d.digits))+d.exp > 18 {
		return math.MaxInt, true
	}
	n, err := strconv.Atoi(d.digits + strings.Repeat("0", int(d.exp)))
	if err != nil { // zero, which has no digits
		return 0, true
	}
	return n, true
}

// canonical appends a text that two values share exactly when JSON Schema takes
// them as equal: 1.0 is 1, and the order of keys says nothing.
func canonical(b []byte, v any) []byte {
	switch v := v.(type) {
	case bool:
		return strconv.AppendBool(b, v)
	case json.Number:
		d := decimalOf(v)
		if d.neg {
			b = append(b, '-')
		}
		b = append(append(b, d.digits...), 'e')
		return append(strconv.AppendInt(b, d.exp, 10), ',')
	case string:
		return canonicalString(b, v)
	case []any:
		b = append(b, '[')
		for _, item := range v {
			b = canonical(b, item)
		}
		return append(b, ']')
	case map[string]any:
		b = append(b, '{')
		for _, name := range sortedKeys(v) {
			b = canonical(canonicalString(b, name), v[name])
		}
		return append(b, '}')
	}
	return append(b, "null"...)
}

func canonicalString(b []byte, s string) []byte {
	b = append(strconv.AppendInt(append(b, '"'), int64(len(s)), 10), ':')
	return append(b, s...)
}
