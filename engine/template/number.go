package template

import (
	"cmp"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// digits is an integer beyond int64 in decimal, without leading zeros. It can be printed, compared
// and converted to a float, but arithmetic on it fails.
type digits string

// maxDigits bounds the length of an integer, as in Python.
const maxDigits = 4300

// number returns v as a number, which is int64, digits or float64, or nil. Booleans are 0 and 1.
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

// needNumber returns v as a number and fails for other values.
func needNumber(r *render, v value) value {
	r.needDefined(v)
	n := number(v)
	if n == nil {
		r.fail("expected a number, got %s", describe(r, v))
	}
	return n
}

// toFloat converts a number to a float64, which is infinite if the number is too large.
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

// parseInteger parses an integer with an optional sign. Base 0 is derived from the prefix. The
// result is nil for other strings and for more than maxDigits digits. An integer beyond int64 is a
// digits in base 10 and nil in other bases; large is true in both cases.
func parseInteger(s string, base int) (n value, large bool) {
	sign := ""
	if s != "" && (s[0] == '-' || s[0] == '+') {
		sign, s = strings.TrimPrefix(s[:1], "+"), s[1:]
	}
	if len(s) > 2 && s[0] == '0' {
		prefixed := map[byte]int{'x': 16, 'o': 8, 'b': 2}[s[1]|0x20]
		if prefixed > 0 && (base == 0 || base == prefixed) {
			s, base = strings.TrimPrefix(s[2:], "_"), prefixed
		}
	}
	if base == 0 {
		base = 10
	}
	if len(s) > maxDigits {
		return nil, strings.Trim(s, "0123456789") == ""
	}
	if s == "" || digitsEnd(s, 0, base) < len(s) {
		return nil, false
	}
	s = strings.TrimLeft(strings.ReplaceAll(s, "_", ""), "0")
	if s == "" {
		return int64(0), false
	}
	i, err := strconv.ParseInt(sign+s, base, 64)
	switch {
	case err == nil:
		return i, false
	case base == 10:
		return digits(sign + s), true
	}
	return nil, errors.Is(err, strconv.ErrRange)
}

// parseFloat parses a float. The result is infinite if it is too large.
func parseFloat(s string) float64 {
	f, _ := strconv.ParseFloat(s, 64)
	return f
}

// fromFloat converts a finite float to an integer, rounding towards zero.
func fromFloat(f float64) value {
	if math.Abs(f) < 1<<62 {
		return int64(f)
	}
	n, _ := parseInteger(strconv.FormatFloat(math.Trunc(f), 'f', 0, 64), 10)
	return n
}

// formatFloat formats a float with the fewest digits that identify it, as Python does.
func formatFloat(f float64) string {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(f, 'g', -1, 64), "+"))
	}
	return engine.Float(f).Text()
}

// decimal returns the digits of an integer.
func decimal(n value) string {
	if d, ok := n.(digits); ok {
		return string(d)
	}
	i, _ := n.(int64)
	return strconv.FormatInt(i, 10)
}

// compareNumbers orders two numbers, integers exactly; ok is false if one is NaN.
func compareNumbers(a, b value) (c int, ok bool) {
	i, intA := a.(int64)
	j, intB := b.(int64)
	if intA && intB {
		return cmp.Compare(i, j), true
	}
	x, y := toFloat(a), toFloat(b)
	_, floatA := a.(float64)
	_, floatB := b.(float64)
	c = cmp.Compare(x, y)
	if s, t := decimal(a), decimal(b); c == 0 && !floatA && !floatB {
		if c = cmp.Or(cmp.Compare(len(s), len(t)), strings.Compare(s, t)); x < 0 {
			c = -c
		}
	}
	return c, !math.IsNaN(x) && !math.IsNaN(y)
}

// arithmetic applies + - * / // % or ** to two numbers. An integer result beyond int64 fails.
func arithmetic(r *render, op string, a, b value) value {
	x, intX := a.(int64)
	y, intY := b.(int64)
	ints := intX && intY
	if ints && op != "/" && (op != "**" || y >= 0) {
		return integerArithmetic(r, op, x, y)
	}
	_, floatX := a.(float64)
	_, floatY := b.(float64)
	if !floatX && !floatY && !ints {
		tooLarge(r)
	}
	if ints && op == "/" && y != 0 && y != -1 && x%y == 0 {
		return float64(x / y) // exact where x and y are too large for floats
	}
	return floatArithmetic(r, op, toFloat(a), toFloat(b))
}

// tooLarge aborts the render because of an integer beyond int64.
func tooLarge(r *render) {
	r.fail("integer arithmetic is limited to 64 bits, from -2**63 to 2**63-1; use |float for larger numbers")
}

func integerArithmetic(r *render, op string, x, y int64) int64 {
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
		return power(r, x, y)
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
	tooLarge(r)
	return 0
}

// power returns x**n for n >= 0.
func power(r *render, x, n int64) int64 {
	result := int64(1)
	for {
		if n&1 == 1 {
			result = integerArithmetic(r, "*", result, x)
		}
		if n >>= 1; n == 0 {
			return result
		}
		x = integerArithmetic(r, "*", x, x)
	}
}

func floatArithmetic(r *render, op string, x, y float64) value {
	if y == 0 && (op == "/" || op == "//" || op == "%") || y < 0 && x == 0 && op == "**" {
		r.fail("division by zero")
	}
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	case "/":
		return x / y
	case "//":
		quo, _ := floorDivide(x, y)
		return quo
	case "%":
		_, rem := floorDivide(x, y)
		return rem
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

// floorDivide returns the quotient rounded down and the remainder with the sign of y.
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

// signed returns -v or +v.
func signed(r *render, v value, minus bool) value {
	n := needNumber(r, v)
	if f, ok := n.(float64); ok && minus {
		return -f
	} else if minus {
		return arithmetic(r, "-", int64(0), n)
	}
	return n
}

// round rounds a number to places after the decimal point, halves to even.
func round(r *render, n value, places int) value {
	f, isFloat := n.(float64)
	switch {
	case !isFloat && places >= 0, isFloat && (math.IsInf(f, 0) || math.IsNaN(f)):
		return n
	case !isFloat:
		return roundInteger(r, n, places)
	case places >= 0:
		return parseFloat(strconv.FormatFloat(f, 'f', places, 64))
	}
	scale := math.Pow(10, float64(-places))
	if math.IsInf(scale, 0) {
		return math.Copysign(0, f)
	}
	return math.RoundToEven(f/scale) * scale
}

func roundInteger(r *render, n value, places int) value {
	if i, ok := n.(int64); ok && places < -18 && (places < -19 || i <= 5e18 && i >= -5e18) {
		return int64(0)
	}
	scale := value(power(r, 10, int64(-places)))
	rest := arithmetic(r, "%", n, scale)
	down := arithmetic(r, "-", n, rest)
	c, _ := compareNumbers(rest, arithmetic(r, "//", scale, int64(2)))
	odd := arithmetic(r, "%", arithmetic(r, "//", down, scale), int64(2)) != value(int64(0))
	if c > 0 || c == 0 && odd {
		return arithmetic(r, "+", down, scale)
	}
	return down
}
