package template

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// randomInt makes an integer of up to 60 digits; runs of 0 and 9 are frequent, because they make the carries.
func randomInt(rnd *rand.Rand) string {
	var s strings.Builder
	for n := rnd.IntN(60); n >= 0; n-- {
		s.WriteByte("0123456789000999"[rnd.IntN(16)])
	}
	digits := strings.TrimLeft(s.String(), "0")
	if digits == "" {
		return "0"
	}
	if rnd.IntN(2) == 0 {
		return "-" + digits
	}
	return digits
}

func TestIntegersOfAnySizeAgreeWithMathBig(t *testing.T) {
	r := newRender(&Template{}, Limits{Steps: 1 << 40}.orDefault(), nil)
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		x, y := randomInt(rnd), randomInt(rnd)
		a, b := parseInteger(x, 10), parseInteger(y, 10)
		p, _ := new(big.Int).SetString(x, 10)
		q, _ := new(big.Int).SetString(y, 10)
		check := func(op string, want *big.Int) {
			require.Equal(t, want.String(), r.str(r.arithmetic(op, a, b)), "%s %s %s", x, op, y)
		}
		check("+", new(big.Int).Add(p, q))
		check("-", new(big.Int).Sub(p, q))
		check("*", new(big.Int).Mul(p, q))
		c, ok := compareNumbers(a, b)
		require.True(t, ok)
		require.Equal(t, p.Cmp(q), c, "%s <=> %s", x, y)
		if q.Sign() == 0 {
			continue
		}
		quo, rem := floorDivMod(p, q)
		check("//", quo)
		check("%", rem)
		want, _ := new(big.Rat).SetFrac(p, q).Float64()
		require.Equal(t, want, r.arithmetic("/", a, b), "%s / %s", x, y)
	}
}

// floorDivMod is division rounded down; math/big rounds towards zero or makes the remainder positive.
func floorDivMod(p, q *big.Int) (quo, rem *big.Int) {
	quo, rem = new(big.Int).QuoRem(p, q, new(big.Int))
	if rem.Sign() != 0 && rem.Sign() != q.Sign() {
		quo.Sub(quo, big.NewInt(1))
		rem.Add(rem, q)
	}
	return quo, rem
}

func TestIntegersAreReadInEveryBase(t *testing.T) {
	for text, want := range map[string]value{
		"0x1F": int64(31), "0b101": int64(5), "0o17": int64(15), "1_000": int64(1000), "-12": int64(-12), "": nil,
		"1__0": nil, "_1": nil, "12a": nil, strings.Repeat("9", maxDigits+1): nil,
		"-9223372036854775808": int64(-9223372036854775808),
	} {
		require.Equal(t, want, parseInteger(text, 0), text)
	}
	require.IsType(t, &bigInt{}, parseInteger("9223372036854775808", 10), "one more than int64 holds")
	require.Equal(t, int64(255), parseInteger("ff", 16))
}

func TestFormattingBigIntegersInOtherBases(t *testing.T) {
	require.Equal(t, "100000000000000000000000000", rendered(t, `{{ '{:x}'.format(16 ** 26) }}`))
	require.Equal(t, "-0b1"+strings.Repeat("0", 70), rendered(t, `{{ '{:#b}'.format(-(2 ** 70)) }}`))
}
