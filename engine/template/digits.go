package template

import (
	"cmp"
	"strconv"
	"strings"
)

// digits is an integer beyond int64 in decimal, without leading zeros. It can be printed, compared, formatted and
// turned into a float; there is no integer arithmetic on it. Integers within int64 are never digits.
type digits string

// maxDigits bounds the length of an integer, as Python does when it prints one.
const maxDigits = 4300

// newInteger is the value of decimal digits without a sign.
func newInteger(text string, negative bool) value {
	if text = strings.TrimLeft(text, "0"); negative {
		text = "-" + text
	}
	if len(text) <= len("-9223372036854775808") {
		if text == "" || text == "-" {
			return int64(0)
		}
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
	}
	return digits(text)
}

// decimal is the text of an int64 or digits.
func decimal(n value) string {
	if d, ok := n.(digits); ok {
		return string(d)
	}
	i, _ := n.(int64)
	return strconv.FormatInt(i, 10)
}

func (d digits) negative() bool { return d[0] == '-' }

// compareIntegers orders two integers of any size.
func compareIntegers(a, b value) int {
	m, smallA := a.(int64)
	n, smallB := b.(int64)
	if smallA && smallB {
		return cmp.Compare(m, n)
	}
	s, t := decimal(a), decimal(b)
	minusS, minusT := s[0] == '-', t[0] == '-'
	switch {
	case minusS != minusT && minusS:
		return -1
	case minusS != minusT:
		return 1
	case minusS:
		s, t = t, s
	}
	return cmp.Or(cmp.Compare(len(s), len(t)), strings.Compare(s, t))
}
