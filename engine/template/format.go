package template

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// formatSpec is a format specification: [[fill]align][sign][#][0][width][,][.precision][verb].
type formatSpec struct {
	fill      string
	align     byte // < > ^ = or 0
	sign      byte // + - space or 0
	alternate bool // #
	width     int
	group     string // separator of thousands
	precision int    // -1 if absent
	verb      byte   // 0 if absent
}

// specReader parses a format specification.
type specReader struct {
	r    *render
	rest string
}

// take consumes a character if it is in set, or returns 0.
func (s *specReader) take(set string) byte {
	if s.rest == "" || strings.IndexByte(set, s.rest[0]) < 0 {
		return 0
	}
	c := s.rest[0]
	s.rest = s.rest[1:]
	return c
}

// number consumes digits, or returns -1.
func (s *specReader) number() int {
	end := len(s.rest) - len(strings.TrimLeft(s.rest, "0123456789"))
	if end == 0 {
		return -1
	}
	n, err := strconv.Atoi(s.rest[:end])
	if err != nil || n > s.r.limits.Output {
		s.r.tooLong("a text")
	}
	s.rest = s.rest[end:]
	return n
}

// parseSpec parses the part of a replacement field after the colon.
func parseSpec(r *render, text string) formatSpec {
	const aligns = "<>^="
	s := &specReader{r, text}
	f := formatSpec{}
	_, n := utf8.DecodeRuneInString(text)
	if n > 0 && n < len(text) && strings.IndexByte(aligns, text[n]) >= 0 {
		f.fill, s.rest = text[:n], text[n:]
	}
	f.align = s.take(aligns)
	f.sign = s.take("+- ")
	f.alternate = s.take("#") != 0
	if s.take("0") != 0 {
		f.fill, f.align = cmp.Or(f.fill, "0"), cmp.Or(f.align, '=')
	}
	f.fill = cmp.Or(f.fill, " ")
	f.width = max(s.number(), 0)
	if c := s.take(",_"); c != 0 {
		f.group = string(c)
	}
	f.precision = -1
	if s.take(".") != 0 {
		if f.precision = s.number(); f.precision < 0 {
			r.fail("the format %q has no digits behind the point", text)
		}
	}
	f.verb = s.take("bcdeEfFgGnosxX%")
	if s.rest != "" {
		r.fail("%q is not a format", text)
	}
	return f
}

// format formats a value.
func format(r *render, v value, f formatSpec) string {
	if n := number(v); n != nil {
		return formatNumber(r, n, f)
	}
	s, ok := asText(v)
	if !ok {
		r.fail("%s has no format", describe(r, v))
	}
	if f.verb != 0 && f.verb != 's' || f.sign != 0 || f.group != "" || f.align == '=' && f.fill != "0" {
		r.fail("the format %q does not fit %s", string(f.verb), describe(r, v))
	}
	if f.align == 0 || f.align == '=' {
		f.align = '<'
	}
	return formatText(r, s, f)
}

// formatText truncates and aligns a string.
func formatText(r *render, s string, f formatSpec) string {
	if f.precision >= 0 && r.length(s) > f.precision {
		s = s[:offset(s, f.precision)]
	}
	return aligned(r, "", s, f)
}

// formatNumber formats an integer or float.
func formatNumber(r *render, n value, f formatSpec) string {
	i, small := n.(int64)
	_, isFloat := n.(float64)
	var s, sign string
	switch {
	case isFloat || f.verb != 0 && strings.IndexByte("eEfFgG%", f.verb) >= 0:
		s = formatDigits(r, toFloat(n), f)
	case f.precision >= 0:
		r.fail("a precision does not fit an integer")
	case f.verb == 0 || f.verb == 'd' || f.verb == 'n':
		s = decimal(n)
	case strings.IndexByte("boxXc", f.verb) < 0:
		r.fail("the format %q does not fit an integer", string(f.verb))
	case !small:
		tooLarge(r)
	case f.verb == 'c' && (i < 0 || i > utf8.MaxRune):
		r.fail("%d is not the number of a character", i)
	default:
		s = fmt.Sprintf("%"+string(f.verb), i)
	}
	if digits, negative := strings.CutPrefix(s, "-"); negative {
		sign, s = "-", digits
	} else if f.sign == '+' || f.sign == ' ' {
		sign = string(f.sign)
	}
	if f.group != "" {
		s = grouped(s, f.group)
	}
	if f.alternate && f.verb != 0 && strings.IndexByte("boxX", f.verb) >= 0 {
		sign += "0" + string(f.verb)
	}
	f.align = cmp.Or(f.align, '>')
	return aligned(r, sign, s, f)
}

// maxPrecision exceeds the number of digits of any float.
const maxPrecision = 1100

// formatDigits formats a float without padding.
func formatDigits(r *render, x float64, f formatSpec) string {
	precision := f.precision
	if precision > maxPrecision {
		r.fail("a float has at most %d places", maxPrecision)
	}
	if precision < 0 {
		precision = 6
	}
	switch {
	case math.IsInf(x, 0) || math.IsNaN(x) || f.verb == 0 && f.precision < 0:
		return formatFloat(x)
	case f.verb == '%':
		return fmt.Sprintf("%.*f%%", precision, x*100)
	case f.verb == 'e' || f.verb == 'E' || f.verb == 'f' || f.verb == 'F':
		return fmt.Sprintf("%.*"+string(f.verb), precision, x)
	case f.verb == 'G':
		return fmt.Sprintf("%.*G", max(precision, 1), x)
	case f.verb != 0 && f.verb != 'g' && f.verb != 'n':
		r.fail("the format %q does not fit a float", string(f.verb))
	}
	s := fmt.Sprintf("%.*g", max(precision, 1), x)
	if f.verb == 0 && !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// grouped inserts a separator between thousands.
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

// aligned pads a string to the width. With "=" the padding goes between the sign and the digits.
func aligned(r *render, sign, digits string, f formatSpec) string {
	share := padLeft
	switch f.align {
	case '<':
		share = padRight
	case '^':
		share = func(n, _ int) int { return n / 2 }
	case '=':
		return sign + pad(r, digits, f.width-len(sign), f.fill, padLeft)
	}
	return pad(r, sign+digits, f.width, f.fill, share)
}

// pad pads s with copies of fill to width characters. share returns how many of the n missing ones
// go before s.
func pad(r *render, s string, width int, fill string, share func(n, width int) int) string {
	n := width - r.length(s)
	if n <= 0 {
		return s
	}
	r.times(len(s), n, len(fill))
	before := share(n, width)
	return strings.Repeat(fill, before) + s + strings.Repeat(fill, n-before)
}

func padLeft(n, _ int) int  { return n }
func padRight(int, int) int { return 0 }

// padBoth puts the odd character before the string if the width is odd too, as Python does.
func padBoth(n, width int) int { return n/2 + n&width&1 }
