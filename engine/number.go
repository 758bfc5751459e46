package engine

import (
	"cmp"
	"math"
	"strconv"
	"strings"
)

// Int returns a whole number.
func Int(n int64) Value { return Value{kind: KindNumber, text: strconv.FormatInt(n, 10)} }

// Float returns a number with a fraction: 2 becomes 2.0. NaN and infinities, which JSON lacks,
// become null.
func Float(f float64) Value {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Null
	}
	return Value{kind: KindNumber, text: formatFloat(f)}
}

// formatFloat writes the shortest text that reads back as f, and always looks like a float: 1.0,
// 0.1, 1e+16.
func formatFloat(f float64) string {
	abs := math.Abs(f)
	if abs != 0 && (abs < 1e-4 || abs >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if strings.IndexByte(s, '.') < 0 {
		s += ".0"
	}
	return s
}

// ParseNumber parses a JSON number; ok is false when s is not one.
func ParseNumber(s string) (v Value, ok bool) {
	if s == "" || numberEnd(s, 0) != len(s) {
		return Null, false
	}
	return Value{kind: KindNumber, text: s}, true
}

// IsInt reports whether v is a number written without fraction and exponent.
func (v Value) IsInt() bool { return v.kind == KindNumber && !strings.ContainsAny(v.text, ".eE") }

// isWhole reports whether a number has no fraction. It looks at the digits, because a float64 holds
// neither 1e400 nor the fraction of 9007199254740992.5.
func (v Value) isWhole() bool {
	if v.IsInt() {
		return true
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(v.text), "e")
	digits, fraction, _ := strings.Cut(strings.TrimPrefix(mantissa, "-"), ".")
	e, err := strconv.Atoi(cmp.Or(exponent, "0"))
	significant := strings.TrimRight(digits+fraction, "0")
	switch {
	case strings.Trim(significant, "0") == "":
		return true
	case err != nil:
		return !strings.HasPrefix(exponent, "-")
	}
	return len(significant) <= len(digits)+e
}

// Float returns the number as a float64; ok is false for every other kind.
func (v Value) Float() (f float64, ok bool) {
	if v.kind != KindNumber {
		return 0, false
	}
	f, err := strconv.ParseFloat(v.text, 64)
	return f, err == nil || !math.IsNaN(f)
}

// Int returns the number as an int64, cut towards zero; ok is false for other kinds and for numbers
// out of range.
func (v Value) Int() (n int64, ok bool) {
	if v.kind != KindNumber {
		return 0, false
	}
	if n, err := strconv.ParseInt(v.text, 10, 64); err == nil {
		return n, true
	}
	f, _ := v.Float()
	if math.Abs(f) >= 1<<63 {
		return 0, false
	}
	return int64(f), true
}

// compareNumbers orders two number texts by value: -1, 0 or 1.
func compareNumbers(a, b string) int {
	if a == b {
		return 0
	}
	x, errX := strconv.ParseInt(a, 10, 64)
	y, errY := strconv.ParseInt(b, 10, 64)
	if errX == nil && errY == nil {
		return cmp.Compare(x, y)
	}
	if isDigits(a) && isDigits(b) { // whole numbers beyond int64
		return compareDigits(a, b)
	}
	f, _ := strconv.ParseFloat(a, 64)
	g, _ := strconv.ParseFloat(b, 64)
	return cmp.Compare(f, g)
}

func isDigits(s string) bool { return !strings.ContainsAny(s, ".eE") }

func compareDigits(a, b string) int {
	negA, negB := a[0] == '-', b[0] == '-'
	switch {
	case negA != negB && negA:
		return -1
	case negA != negB:
		return 1
	case negA:
		a, b = b[1:], a[1:]
	}
	if c := cmp.Compare(len(a), len(b)); c != 0 {
		return c
	}
	return cmp.Compare(a, b)
}

// CompareNumbers orders two numbers by value: -1, 0 or 1. It must be called with numbers only.
func CompareNumbers(a, b Value) int { return compareNumbers(a.text, b.text) }
