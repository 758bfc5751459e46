package template

import (
	"math"
	"strconv"
	"strings"
)

func filterAbs(r *render, v value, _ *args) value {
	n := needNumber(r, v)
	if f, ok := n.(float64); ok {
		return math.Abs(f)
	}
	return signed(r, n, decimal(n)[0] == '-')
}

func filterInt(r *render, v value, a *args) value {
	r.needDefined(v)
	switch n := number(v).(type) {
	case int64, digits:
		return n
	case float64:
		if math.IsInf(n, 0) {
			r.fail("an infinite number has no integer")
		}
		if !math.IsNaN(n) {
			return fromFloat(n)
		}
	}
	if s, ok := asText(v); ok {
		r.scan(s)
		s = strings.TrimFunc(s, isSpace)
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
	}
	return a.or(0, int64(0))
}

func filterFloat(r *render, v value, a *args) value {
	r.needDefined(v)
	if n := number(v); n != nil {
		return toFloat(n)
	}
	if s, ok := asText(v); ok {
		r.scan(s)
		if f, ok := readFloat(strings.TrimFunc(s, isSpace)); ok {
			return f
		}
	}
	return a.or(0, 0.0)
}

// readFloat parses a decimal float, inf or nan. Single underscores may separate digits.
func readFloat(s string) (f float64, ok bool) {
	if strings.ContainsAny(s, "xXpP") || strings.Contains("_"+s+"_", "__") {
		return 0, false
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	return f, err == nil || math.IsInf(f, 0)
}

func filterRound(r *render, v value, a *args) value {
	n := needNumber(r, v)
	precision := min(max(a.int(r, 0, 0), -400), 400)
	scale := math.Pow(10, float64(precision))
	switch method := a.text(r, 1, "common"); method {
	case "common":
		return round(r, n, precision)
	case "ceil":
		return math.Ceil(toFloat(n)*scale) / scale
	case "floor":
		return math.Floor(toFloat(n)*scale) / scale
	default:
		r.fail(`round has the methods "common", "ceil" and "floor", not %q`, method)
		return nil
	}
}

func filterFilesize(r *render, v value, a *args) value {
	n := filterFloat(r, v, &args{plain: []value{none{}}})
	if isNone(n) {
		r.fail("filesizeformat needs a number, not %s", describe(r, v))
	}
	size, base, suffix, prefixes := toFloat(n), 1000.0, "B", "kMGTPEZY"
	if a.truth(0, false) {
		base, suffix, prefixes = 1024, "iB", "KMGTPEZY"
	}
	if size == 1 {
		return "1 Byte"
	}
	if size < base {
		return strconv.FormatInt(int64(size), 10) + " Bytes"
	}
	i := 0
	for size /= base; size >= base && i+1 < len(prefixes); size /= base {
		i++
	}
	return strconv.FormatFloat(size, 'f', 1, 64) + " " + prefixes[i:i+1] + suffix
}

func filterSum(r *render, v value, a *args) value {
	key, sum := getter(r, a.at(0), nil), a.or(1, int64(0))
	each(r, v, func(x value) {
		x = key(x)
		if _, ok := asText(x); ok {
			r.fail("sum needs numbers, not %s", describe(r, x))
		}
		sum = binary(r, "+", sum, x)
	})
	return sum
}
