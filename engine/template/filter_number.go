package template

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

func filterAbs(r *render, v value, _ *args) value {
	r.needDefined(v)
	switch n := number(v).(type) {
	case float64:
		return math.Abs(n)
	case int64, digits:
		if c, _ := compareNumbers(n, int64(0)); c >= 0 {
			return n
		}
		return r.negate(n, true)
	}
	r.fail("abs needs a number, not %s", r.describe(v))
	return nil
}

func filterInt(r *render, v value, a *args) value {
	r.needDefined(v)
	standard := a.at(0)
	if standard == nil {
		standard = int64(0)
	}
	switch n := number(v).(type) {
	case int64, digits:
		return n
	case float64:
		if math.IsInf(n, 0) {
			r.fail("an infinite number has no integer")
		}
		if math.IsNaN(n) {
			return standard
		}
		return fromFloat(n)
	}
	s, ok := asText(v)
	if !ok {
		return standard
	}
	r.scan(s)
	s = plainDigits(strings.TrimFunc(s, isSpace))
	n, large := parseInteger(s, a.int(r, 1, 10))
	if n != nil {
		return n
	}
	if large {
		r.fail("the integer %s does not fit into 64 bits", firstBytes(s, 40))
	}
	if f, ok := readFloat(s); ok && !math.IsInf(f, 0) && !math.IsNaN(f) {
		return fromFloat(f)
	}
	return standard
}

func filterFloat(r *render, v value, a *args) value {
	r.needDefined(v)
	standard := a.at(0)
	if standard == nil {
		standard = 0.0
	}
	if n := number(v); n != nil {
		return toFloat(n)
	}
	if s, ok := asText(v); ok {
		r.scan(s)
		if f, ok := readFloat(plainDigits(strings.TrimFunc(s, isSpace))); ok {
			return f
		}
	}
	return standard
}

// plainDigits turns the digits of other scripts into those of ASCII.
func plainDigits(s string) string {
	return strings.Map(func(c rune) rune {
		if c < utf8.RuneSelf || !unicode.IsDigit(c) {
			return c
		}
		for _, d := range unicode.Digit.R16 { // every range holds the digits 0 to 9
			if c >= rune(d.Lo) && c <= rune(d.Hi) {
				return '0' + (c-rune(d.Lo))%10
			}
		}
		return c
	}, s)
}

// readFloat reads a decimal float, inf or nan; underscores may stand between digits.
func readFloat(s string) (f float64, ok bool) {
	if strings.ContainsAny(s, "xXpP") || strings.HasPrefix(s, "_") || strings.HasSuffix(s, "_") || strings.Contains(s, "__") {
		return 0, false
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	return f, err == nil || math.IsInf(f, 0)
}

func filterRound(r *render, v value, a *args) value {
	r.needDefined(v)
	n := number(v)
	if n == nil {
		r.fail("round needs a number, not %s", r.describe(v))
	}
	precision := min(max(a.int(r, 0, 0), -400), 400)
	method := a.text(r, 1, "common")
	f, isFloat := n.(float64)
	switch method {
	case "common":
		if !isFloat {
			return r.roundInteger(n, precision)
		}
		return roundFloat(f, precision)
	case "ceil", "floor":
		scale := math.Pow(10, float64(precision))
		f = toFloat(n) * scale
		if method == "ceil" {
			return math.Ceil(f) / scale
		}
		return math.Floor(f) / scale
	}
	r.fail(`round knows the methods "common", "ceil" and "floor", not %q`, method)
	return nil
}

// roundFloat rounds the exact value to places behind the point; halves go to the even neighbour.
func roundFloat(f float64, places int) float64 {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return f
	}
	if places < 0 {
		scale := math.Pow(10, float64(-places))
		if math.IsInf(scale, 0) {
			return math.Copysign(0, f)
		}
		return math.RoundToEven(f/scale) * scale
	}
	return parseFloat(strconv.FormatFloat(f, 'f', places, 64))
}

func (r *render) roundInteger(n value, places int) value {
	if places >= 0 {
		return n
	}
	if i, ok := n.(int64); ok && places < -18 && (places < -19 || i <= 5e18 && i >= -5e18) {
		return int64(0)
	}
	scale := value(r.power(10, int64(-places)))
	half := r.arithmetic("//", scale, int64(2))
	rest := r.arithmetic("%", n, scale)
	down := r.arithmetic("-", n, rest)
	c, _ := compareNumbers(rest, half)
	odd := !r.equal(r.arithmetic("%", r.arithmetic("//", down, scale), int64(2)), int64(0))
	if c > 0 || c == 0 && odd {
		return r.arithmetic("+", down, scale)
	}
	return down
}

var sizePrefixes = [...]string{"k", "M", "G", "T", "P", "E", "Z", "Y"}

func filterFilesize(r *render, v value, a *args) value {
	n := filterFloat(r, v, &args{plain: []value{none{}}})
	if isNone(n) {
		r.fail("filesizeformat needs a number, not %s", r.describe(v))
	}
	size := toFloat(number(n))
	base, infix := 1000.0, "B"
	if a.truth(r, 0, false) {
		base, infix = 1024, "iB"
	}
	if size == 1 {
		return "1 Byte"
	}
	if size < base {
		return strconv.FormatInt(int64(size), 10) + " Bytes"
	}
	unit := base
	for i, p := range sizePrefixes {
		unit *= base
		if size < unit || i == len(sizePrefixes)-1 {
			if infix == "iB" {
				p = strings.ToUpper(p)
			}
			return strconv.FormatFloat(base*size/unit, 'f', 1, 64) + " " + p + infix
		}
	}
	return nil
}
