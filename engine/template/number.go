package template

import (
	"math"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// number is v for arithmetic: an int64, *bigInt or float64; nil when v is no number. Booleans count as 0 and 1.
//
//go:noinline
func number(v value) value {
	switch v := v.(type) {
	case int64, *bigInt, float64:
		return v
	case bool:
		if v {
			return int64(1)
		}
		return int64(0)
	}
	return nil
}

// toFloat is a number as a float64, possibly an infinity.
func toFloat(n value) float64 {
	switch n := n.(type) {
	case int64:
		return float64(n)
	case *bigInt:
		return n.float()
	case float64:
		return n
	}
	return math.NaN()
}

// parseInteger reads an integer with optional sign; base 0 looks at its prefix. It gives nil when s is none, or
// one of more than maxDigits digits.
func parseInteger(s string, base int) value {
	negative := false
	if s != "" && (s[0] == '-' || s[0] == '+') {
		negative = s[0] == '-'
		s = s[1:]
	}
	s, base = cutBase(s, base)
	if s == "" || len(s) > maxDigits || s[0] == '_' || s[len(s)-1] == '_' || strings.Contains(s, "__") {
		return nil
	}
	s = strings.ReplaceAll(s, "_", "")
	for i := range len(s) {
		if digitValue(s[i]) >= base {
			return nil
		}
	}
	if base == 10 {
		return parseDigits(s, negative)
	}
	n, scale := wide(int64(0)), wide(int64(base))
	for i := range len(s) {
		n = n.times(scale).plus(wide(int64(digitValue(s[i]))))
	}
	n.negative = negative
	return n.normal()
}

// cutBase removes the prefix 0x, 0o or 0b where the base allows it.
func cutBase(s string, base int) (rest string, effective int) {
	if len(s) > 2 && s[0] == '0' {
		for prefix, b := range map[byte]int{'x': 16, 'o': 8, 'b': 2} {
			if s[1]|0x20 == prefix && (base == 0 || base == b) {
				return strings.TrimPrefix(s[2:], "_"), b
			}
		}
	}
	if base == 0 {
		base = 10
	}
	return s, base
}

// parseFloat reads a float literal; too large ones become infinite.
func parseFloat(s string) float64 {
	f, _ := strconv.ParseFloat(s, 64)
	return f
}

// fromFloat cuts a finite float to an integer.
func fromFloat(f float64) value {
	if math.Abs(f) < 1<<62 {
		return int64(f)
	}
	s := strconv.FormatFloat(math.Trunc(math.Abs(f)), 'f', 0, 64)
	return parseDigits(s, f < 0)
}

// formatFloat prints a float: shortest digits, always recognizable as a float.
func formatFloat(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case math.IsNaN(f):
		return "nan"
	}
	return engine.Float(f).Text()
}

// arithmetic applies + - * / // % or ** to two numbers.
func (r *render) arithmetic(op string, a, b value) value {
	x, smallX := a.(int64)
	y, smallY := b.(int64)
	if smallX && smallY {
		if v := smallArithmetic(op, x, y); v != nil {
			return v
		}
	}
	_, floatX := a.(float64)
	_, floatY := b.(float64)
	if op == "/" && !floatX && !floatY && !(smallX && smallY && exact(x) && exact(y)) {
		return r.divide(wide(a), wide(b))
	}
	if floatX || floatY || op == "/" || op == "**" && !positive(b) {
		return r.floatArithmetic(op, toFloat(a), toFloat(b))
	}
	if op == "**" {
		return r.power(a, b)
	}
	return r.bigArithmetic(op, wide(a), wide(b))
}

// exact reports whether a float can hold n.
func exact(n int64) bool { return n > -1<<53 && n < 1<<53 }

// divide is the float next to x/y, even where x and y are too large for floats.
func (r *render) divide(x, y *bigInt) value {
	if len(y.limbs) == 0 {
		r.fail("division by zero")
	}
	// Enough limbs for 27 digits, and one more digit when something is left, decide every rounding.
	shift := max(0, len(y.limbs)-len(x.limbs)+4)
	scaled := &bigInt{x.negative, append(make([]uint32, shift), x.limbs...)}
	quo, rem := divLimbs(scaled.limbs, y.limbs)
	digits := (&bigInt{x.negative != y.negative, quo}).String()
	exponent := -shift * limbDigits
	if len(rem) > 0 {
		digits, exponent = digits+"1", exponent-1
	}
	f := parseFloat(digits + "e" + strconv.Itoa(exponent))
	if math.IsInf(f, 0) {
		r.fail("the result of / is too large for a float")
	}
	return f
}

func positive(n value) bool {
	switch n := n.(type) {
	case int64:
		return n >= 0
	case *bigInt:
		return !n.negative
	}
	return false
}

// smallArithmetic handles the cases that stay within int64; nil for the others.
func smallArithmetic(op string, x, y int64) value {
	switch op {
	case "+":
		if s := x + y; (s > x) == (y > 0) {
			return s
		}
	case "-":
		if d := x - y; (d < x) == (y > 0) {
			return d
		}
	case "*":
		if small(x) && small(y) {
			return x * y
		}
	case "//":
		if y > 0 {
			q := x / y
			if x%y < 0 {
				q--
			}
			return q
		}
	case "%":
		if y > 0 {
			return (x%y + y) % y
		}
	}
	return nil
}

func small(n int64) bool { return n == int64(int32(n)) }

func (r *render) floatArithmetic(op string, x, y float64) value {
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	case "**":
		return r.floatPower(x, y)
	}
	if y == 0 {
		r.fail("division by zero")
	}
	switch op {
	case "/":
		return x / y
	case "//":
		q, _ := floorDivide(x, y)
		return q
	default:
		_, m := floorDivide(x, y)
		return m
	}
}

// floorDivide gives the quotient rounded down and the remainder with the sign of y.
func floorDivide(x, y float64) (quo, rem float64) {
	rem = math.Mod(x, y)
	quo = (x - rem) / y
	if rem != 0 && (rem < 0) != (y < 0) {
		rem += y
		quo--
	}
	if rem == 0 {
		rem = math.Copysign(0, y)
	}
	if quo == 0 {
		return math.Copysign(0, x/y), rem
	}
	floor := math.Floor(quo)
	if quo-floor > 0.5 {
		floor++
	}
	return floor, rem
}

func (r *render) floatPower(x, y float64) value {
	if x == 0 && y < 0 {
		r.fail("division by zero")
	}
	p := math.Pow(x, y)
	if math.IsNaN(p) && x < 0 {
		r.fail("a negative number to the power of a fraction is not real")
	}
	if math.IsInf(p, 0) && !math.IsInf(x, 0) && !math.IsInf(y, 0) {
		r.fail("the result of ** is too large")
	}
	return p
}

func (r *render) bigArithmetic(op string, x, y *bigInt) value {
	r.spend(len(x.limbs)*len(y.limbs)/4 + (len(x.limbs)+len(y.limbs))/4)
	var z *bigInt
	switch op {
	case "+":
		z = x.plus(y)
	case "-":
		z = x.plus(y.minus())
	case "*":
		z = x.times(y)
	default:
		if len(y.limbs) == 0 {
			r.fail("division by zero")
		}
		quo, rem := x.divide(y)
		z = quo
		if op == "%" {
			z = rem
		}
	}
	if len(z.limbs) > maxLimbs {
		r.stop("an integer has more than %d digits", maxDigits)
	}
	return z.normal()
}

// power is a**b for integers with b >= 0, by squaring.
func (r *render) power(a, b value) value {
	n, ok := b.(int64)
	if x, small := a.(int64); !ok && (!small || x < -1 || x > 1) {
		r.stop("an integer has more than %d digits", maxDigits)
	} else if !ok {
		n = 2 + b.(*bigInt).parity()
	}
	result := value(int64(1))
	for {
		if n&1 == 1 {
			result = r.arithmetic("*", result, a)
		}
		if n >>= 1; n == 0 {
			return result
		}
		a = r.arithmetic("*", a, a)
	}
}

// parity is 1 for odd numbers.
func (b *bigInt) parity() int64 { return int64(b.limbs[0] & 1) }

// negate is -v, or +v.
func (r *render) negate(v value, minus bool) value {
	r.needDefined(v)
	n := number(v)
	if n == nil {
		r.fail("%s has no sign", r.describe(v))
	}
	if !minus {
		return n
	}
	if f, ok := n.(float64); ok {
		return -f
	}
	return r.bigArithmetic("*", wide(n), wide(int64(-1)))
}
