package template

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// number is v for arithmetic: an int64, digits or float64; nil when v is no number. Booleans count as 0 and 1.
//
//go:noinline
func number(v value) value {
	switch v := v.(type) {
	case int64, digits, float64:
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
	case digits:
		return parseFloat(string(n))
	case float64:
		return n
	}
	return math.NaN()
}

// parseInteger reads an integer with optional sign; base 0 looks at its prefix. It gives nil when s is none, or one of
// more than maxDigits digits. An integer beyond int64 is digits in base 10 and nil in others; large reports either.
func parseInteger(s string, base int) (n value, large bool) {
	negative := false
	if s != "" && (s[0] == '-' || s[0] == '+') {
		negative = s[0] == '-'
		s = s[1:]
	}
	s, base = cutBase(s, base)
	if s == "" || len(s) > maxDigits || s[0] == '_' || s[len(s)-1] == '_' || strings.Contains(s, "__") {
		return nil, len(s) > maxDigits && allDigits(s)
	}
	s = strings.ReplaceAll(s, "_", "")
	for i := range len(s) {
		if digitValue(s[i]) >= base {
			return nil, false
		}
	}
	if base == 10 {
		n = newInteger(s, negative)
		_, large = n.(digits)
		return n, large
	}
	if negative {
		s = "-" + s
	}
	i, err := strconv.ParseInt(s, base, 64)
	if err != nil {
		return nil, errors.Is(err, strconv.ErrRange)
	}
	return i, false
}

func allDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

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
	return newInteger(s, f < 0)
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

// arithmetic applies + - * / // % or ** to two numbers. Integers stay within int64, or the render fails.
func (r *render) arithmetic(op string, a, b value) value {
	x, intX := a.(int64)
	y, intY := b.(int64)
	if intX && intY && op != "/" && (op != "**" || y >= 0) {
		return r.integerArithmetic(op, x, y)
	}
	_, floatX := a.(float64)
	_, floatY := b.(float64)
	if !floatX && !floatY && !(intX && intY) {
		r.tooLarge()
	}
	if op == "/" && intX && intY && y != 0 && y != -1 && x%y == 0 {
		return float64(x / y) // exact where x and y are too large for floats
	}
	return r.floatArithmetic(op, toFloat(a), toFloat(b))
}

// tooLarge ends the render because integer arithmetic would leave int64.
//
//go:noinline
func (r *render) tooLarge() {
	r.fail("integer arithmetic is limited to 64 bits, from -2**63 to 2**63-1; use |float for larger numbers")
}

func (r *render) integerArithmetic(op string, x, y int64) int64 {
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
		if x == 0 || y == 0 {
			return 0
		}
		if p := x * y; p/y == x && (y != -1 || x != math.MinInt64) {
			return p
		}
	case "**":
		return r.power(x, y)
	default:
		if y == 0 {
			r.fail("division by zero")
		}
		if op == "//" && y == -1 && x == math.MinInt64 {
			break
		}
		quo, rem := x/y, x%y
		if rem != 0 && (rem < 0) != (y < 0) {
			quo, rem = quo-1, rem+y
		}
		if op == "%" {
			return rem
		}
		return quo
	}
	r.tooLarge()
	return 0
}

// power is x**n for n >= 0, by squaring.
func (r *render) power(x, n int64) int64 {
	result := int64(1)
	for {
		if n&1 == 1 {
			result = r.integerArithmetic("*", result, x)
		}
		if n >>= 1; n == 0 {
			return result
		}
		x = r.integerArithmetic("*", x, x)
	}
}

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
	return r.arithmetic("-", int64(0), n)
}
