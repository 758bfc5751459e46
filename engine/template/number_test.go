package template

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// edges are integers near the limits of operations on int64.
var edges = []int64{
	0, 1, -1, 2, -2, 3, -7, 10, math.MaxInt32, math.MinInt32, 1 << 32, 1<<53 + 1, math.MaxInt64, math.MaxInt64 - 1,
	math.MinInt64, math.MinInt64 + 1, 3037000499, 3037000500, -3037000500,
}

func TestIntegersStayWithin64BitsOrFail(t *testing.T) {
	t.Parallel()
	pairs := [][2]int64{}
	for _, x := range edges {
		for _, y := range edges {
			pairs = append(pairs, [2]int64{x, y})
		}
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		shift := rnd.IntN(64)
		pairs = append(pairs, [2]int64{int64(rnd.Uint64()) >> shift, int64(rnd.Uint64()) >> (63 - shift)})
	}
	for _, pair := range pairs {
		x, y := pair[0], pair[1]
		p, q := big.NewInt(x), big.NewInt(y)
		want := map[string]*big.Int{
			"+": new(big.Int).Add(p, q), "-": new(big.Int).Sub(p, q), "*": new(big.Int).Mul(p, q),
		}
		if y != 0 {
			want["//"], want["%"] = floorDivMod(p, q)
		}
		if y >= 0 && y < 70 {
			want["**"] = new(big.Int).Exp(p, q, nil)
		}
		for op, z := range want {
			got, err := calculated(op, x, y)
			if z.IsInt64() {
				require.NoError(t, err, "%d %s %d", x, op, y)
				require.Equal(t, z.Int64(), got, "%d %s %d", x, op, y)
			} else {
				require.ErrorContains(t, err, "integer arithmetic is limited to 64 bits", "%d %s %d", x, op, y)
			}
		}
	}
}

func calculated(op string, a, b value) (v value, err error) {
	r := newRender(&Template{}, Limits{}, nil, nil)
	defer caught(&err, &r.line)
	return arithmetic(r, op, a, b), nil
}

// floorDivMod rounds down; math/big rounds towards zero or makes the remainder positive.
func floorDivMod(p, q *big.Int) (quo, rem *big.Int) {
	quo, rem = new(big.Int).QuoRem(p, q, new(big.Int))
	if rem.Sign() != 0 && rem.Sign() != q.Sign() {
		quo.Sub(quo, big.NewInt(1))
		rem.Add(rem, q)
	}
	return quo, rem
}

func TestLargeIntegersAreOrderedExactly(t *testing.T) {
	t.Parallel()
	list := []string{
		"-100000000000000000000", "-99999999999999999999", "-9223372036854775809", "-9223372036854775808", "-1", "0",
		"9223372036854775807", "9223372036854775808", "99999999999999999998", "99999999999999999999",
		"100000000000000000000",
	}
	for i, s := range list {
		for j, u := range list {
			a, _ := parseInteger(s, 10)
			b, _ := parseInteger(u, 10)
			p, _ := new(big.Int).SetString(s, 10)
			q, _ := new(big.Int).SetString(u, 10)
			c, ok := compareNumbers(a, b)
			require.True(t, ok)
			require.Equal(t, p.Cmp(q), c, "%s <=> %s", s, u)
			require.Equal(t, i == j, c == 0)
		}
	}
	large, _ := parseInteger("100000000000000000000", 10)
	c, _ := compareNumbers(large, 1e20)
	require.Zero(t, c)
	c, _ = compareNumbers(1e21, large)
	require.Equal(t, 1, c)
}

func TestIntegersAreReadInEveryBase(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]value{
		"0x1F": int64(31), "0b101": int64(5), "0o17": int64(15), "1_000": int64(1000), "-12": int64(-12), "": nil,
		"1__0": nil, "_1": nil, "12a": nil, strings.Repeat("9", maxDigits+1): nil, "0x10000000000000000": nil,
		"-9223372036854775808": int64(-9223372036854775808), "0009223372036854775808": digits("9223372036854775808"),
	} {
		got, _ := parseInteger(text, 0)
		require.Equal(t, want, got, text)
	}
	n, large := parseInteger("ff", 16)
	require.Equal(t, int64(255), n)
	require.False(t, large)
}

func TestLargeIntegersPassThrough(t *testing.T) {
	t.Parallel()
	const n = "123456789012345678901234567890"
	v, err := engine.ParseJSON([]byte(n))
	require.NoError(t, err)
	vars := func(name string) (engine.Value, bool) { return v, name == "n" }
	for text, want := range map[string]string{
		`{{ n }} {{ [n] }} {{ n|tojson }}`:                          n + " [" + n + "] " + n,
		`{{ n == n }} {{ n == 1 }} {{ {n: 2}[n] }}`:                 "True False 2",
		`{{ n > 1 }} {{ [n, 1]|max }} {{ n|abs }} {{ +n }}`:         "True " + n + " " + n + " " + n,
		`{{ n|string|int }} {{ '%d' % n }} {{ '{:,}'.format(99) }}`: n + " " + n + " 99",
		`{{ n|float }} {{ n * 1.0 }} {{ n is integer }}`: "1.2345678901234568e+29 " +
			"1.2345678901234568e+29 True",
		`{{ '%x %X %o %e %g %5.1f|%-5d|' % (255,255,8,1,2,3.14,4) }}`: "ff FF 10 1.000000e+00 2   3.1|4    |",
	} {
		tmpl, err := Parse(text)
		require.NoError(t, err, text)
		got, err := tmpl.Render(vars)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for text, reason := range map[string]string{
		`{{ n + 1 }}`: "integer arithmetic is limited to 64 bits, from -2**63 to 2**63-1; " +
			"use |float for larger numbers",
		`{{ -n }}`: "integer arithmetic is limited to 64 bits, from -2**63 to 2**63-1; " +
			"use |float for larger numbers",
		`{{ '{:x}'.format(n) }}`: "integer arithmetic is limited to 64 bits, from -2**63 to 2**63-1; " +
			"use |float for larger numbers",
		`{{ 'fffffffffffffffff'|int(0, 16) }}`: "the integer fffffffffffffffff does not fit into 64 bits",
	} {
		tmpl, err := Parse(text)
		require.NoError(t, err, text)
		_, err = tmpl.Render(vars)
		require.EqualError(t, err, "template line 1: "+reason, text)
	}
	_, err = Parse(`{{ 9223372036854775808 }}`)
	require.EqualError(t, err, "template line 1: "+
		"the integer 9223372036854775808 is beyond the limits of 64 bits, -2**63 and 2**63-1")
}

func TestRoundIntegersNearInt64Limits(t *testing.T) {
	t.Parallel()
	require.Equal(t, "0 0 1200 0", rendered(t,
		`{{ 9|round(-400) }} {{ 4999999999999999999|round(-19) }} {{ 1250|round(-2) }} {{ 50|round(-2) }}`))
}
