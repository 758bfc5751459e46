package template

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// formatSpec says how one value is formatted: [[fill]align][sign][#][0][width][,][.precision][verb].
type formatSpec struct {
	fill      string
	align     byte // < > ^ = or 0
	sign      byte // + - blank or 0
	alternate bool // #
	width     int
	group     string // thousands separator
	precision int    // -1 without
	verb      byte   // 0 without
}

// parseSpec reads what stands behind the colon of a replacement field.
func (r *render) parseSpec(s string) formatSpec {
	all := s
	f := formatSpec{precision: -1}
	if _, n := utf8.DecodeRuneInString(s); n < len(s) && n > 0 && isAlign(s[n]) {
		f.fill, f.align, s = s[:n], s[n], s[n+1:]
	} else if s != "" && isAlign(s[0]) {
		f.align, s = s[0], s[1:]
	}
	take := func(set string) byte {
		if s != "" && strings.IndexByte(set, s[0]) >= 0 {
			c := s[0]
			s = s[1:]
			return c
		}
		return 0
	}
	f.sign = take("+- ")
	f.alternate = take("#") != 0
	if take("0") != 0 {
		if f.fill == "" {
			f.fill = "0"
		}
		if f.align == 0 {
			f.align = '='
		}
	}
	if f.fill == "" {
		f.fill = " "
	}
	f.width, s = r.digits(s)
	f.width = max(f.width, 0)
	if c := take(",_"); c != 0 {
		f.group = string(c)
	}
	if take(".") != 0 {
		if f.precision, s = r.digits(s); f.precision < 0 {
			r.fail("the format %q has no digits behind the point", all)
		}
	}
	f.verb = take("bcdeEfFgGnosxX%")
	if s != "" {
		r.fail("%q is not a format", all)
	}
	return f
}

func isAlign(c byte) bool { return strings.IndexByte("<>^=", c) >= 0 }

// digits reads a number at the start of s; -1 when there is none.
func (r *render) digits(s string) (n int, rest string) {
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	if end == 0 {
		return -1, s
	}
	n, err := strconv.Atoi(s[:end])
	if err != nil || n > r.limits.Output {
		r.tooLong("a text")
	}
	return n, s[end:]
}

// format applies a spec to a value.
func (r *render) format(v value, f formatSpec) string {
	switch n := v.(type) {
	case int64, digits:
		return r.formatNumber(n, f)
	case float64:
		return r.formatNumber(n, f)
	case bool:
		return r.formatNumber(number(n), f)
	}
	if _, ok := asText(v); !ok {
		r.fail("%s has no format", r.describe(v))
	}
	if f.verb != 0 && f.verb != 's' || f.sign != 0 || f.group != "" || f.align == '=' && f.fill != "0" {
		r.fail("the format %q does not fit %s", string(f.verb), r.describe(v))
	}
	s := r.str(v)
	if f.precision >= 0 && r.length(s) > f.precision {
		s = s[:offset(s, f.precision)]
	}
	if f.align == 0 || f.align == '=' {
		f.align = '<'
	}
	return r.aligned("", s, f)
}

// formatNumber formats an integer or float; sign and prefix are kept apart from the digits.
func (r *render) formatNumber(n value, f formatSpec) string {
	var digits, prefix string
	negative := false
	if f.verb == 'n' {
		f.verb = 0
		if _, ok := n.(float64); ok {
			f.verb = 'g'
		}
	}
	switch x := n.(type) {
	case float64:
		digits, negative = r.floatDigits(x, f), math.Signbit(x)
	default:
		if strings.IndexByte("eEfFgG%", f.verb) >= 0 && f.verb != 0 {
			return r.formatNumber(toFloat(n), f)
		}
		digits, prefix, negative = r.integerDigits(x, f)
	}
	if f.group != "" {
		digits = grouped(digits, f.group)
	}
	sign := ""
	if negative {
		sign = "-"
	} else if f.sign == '+' || f.sign == ' ' {
		sign = string(f.sign)
	}
	if f.align == 0 {
		f.align = '>'
	}
	return r.aligned(sign+prefix, digits, f)
}

func (r *render) integerDigits(n value, f formatSpec) (text, prefix string, negative bool) {
	base := 10
	switch f.verb {
	case 'b':
		base = 2
	case 'o':
		base = 8
	case 'x', 'X':
		base = 16
	case 'c':
		i := r.needInt(n)
		if i < 0 || i > utf8.MaxRune {
			r.fail("%d is not the number of a character", i)
		}
		return string(rune(i)), "", false
	case 0, 'd':
	default:
		r.fail("the format %q does not fit an integer", string(f.verb))
	}
	if f.precision >= 0 {
		r.fail("a precision does not fit an integer")
	}
	if f.alternate && base != 10 {
		prefix = "0" + string(f.verb)
	}
	if i, ok := n.(int64); ok {
		text = strconv.FormatInt(i, base)
	} else if text = decimal(n); base != 10 {
		r.tooLarge()
	}
	text, negative = strings.CutPrefix(text, "-")
	if f.verb == 'X' {
		text = strings.ToUpper(text)
	}
	return text, prefix, negative
}

// maxPrecision is more than any float has places; behind them there are only zeros.
const maxPrecision = 1100

// floatDigits is the absolute value of a float as text.
func (r *render) floatDigits(x float64, f formatSpec) string {
	x = math.Abs(x)
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return formatFloat(x)
	}
	precision := f.precision
	if precision > maxPrecision {
		r.fail("a float has at most %d places", maxPrecision)
	}
	if precision < 0 && f.verb != 0 {
		precision = 6
	}
	switch f.verb {
	case 0:
		if precision < 0 {
			return formatFloat(x)
		}
		s := strconv.FormatFloat(x, 'g', max(precision, 1), 64)
		if !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
		return s
	case 'e', 'E', 'f':
		return strconv.FormatFloat(x, f.verb, precision, 64)
	case 'F':
		return strconv.FormatFloat(x, 'f', precision, 64)
	case 'g', 'G':
		return strconv.FormatFloat(x, f.verb, max(precision, 1), 64)
	case '%':
		return strconv.FormatFloat(x*100, 'f', precision, 64) + "%"
	}
	r.fail("the format %q does not fit a float", string(f.verb))
	return ""
}

// grouped puts a separator between thousands.
func grouped(digits, separator string) string {
	end := strings.IndexAny(digits, ".e%")
	if end < 0 {
		end = len(digits)
	}
	var buf []byte
	for i := range end {
		if i > 0 && (end-i)%3 == 0 {
			buf = append(buf, separator...)
		}
		buf = append(buf, digits[i])
	}
	return string(append(buf, digits[end:]...))
}

// aligned fills up to the width. With "=" the filling goes between the sign and the digits.
func (r *render) aligned(sign, digits string, f formatSpec) string {
	var share func(n, width int) int
	switch f.align {
	case '<':
		share = padRight
	case '^':
		share = func(n, _ int) int { return n / 2 }
	case '=':
		return sign + r.pad(digits, f.width-len(sign), f.fill, padLeft)
	default:
		share = padLeft
	}
	return r.pad(sign+digits, f.width, f.fill, share)
}
