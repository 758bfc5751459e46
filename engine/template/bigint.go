package template

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// bigInt is an integer beyond int64. Integers within int64 are never a bigInt, see normal.
//
// math/big would do as well, but costs the browser module 70 KB (gzip) for numbers that hardly ever occur.
type bigInt struct {
	negative bool
	limbs    []uint32 // base 1e9, lowest first, no zeros at the end
}

const (
	limbBase   = 1_000_000_000
	limbDigits = 9
	// maxDigits bounds the length of an integer, as Python does when it prints one.
	maxDigits = 4300
	maxLimbs  = maxDigits / limbDigits
)

// wide is an integer value as a bigInt.
//
//go:noinline
func wide(v value) *bigInt {
	if b, ok := v.(*bigInt); ok {
		return b
	}
	n, _ := v.(int64)
	b := &bigInt{negative: n < 0}
	u := uint64(n)
	if n < 0 {
		u = -u
	}
	for ; u > 0; u /= limbBase {
		b.limbs = append(b.limbs, uint32(u%limbBase))
	}
	return b
}

// normal is b as a value: an int64 where it fits.
func (b *bigInt) normal() value {
	b.limbs = trimLimbs(b.limbs)
	if len(b.limbs) > 3 {
		return b
	}
	var u uint64
	for i := len(b.limbs) - 1; i >= 0; i-- {
		if u > (math.MaxUint64-limbBase)/limbBase {
			return b
		}
		u = u*limbBase + uint64(b.limbs[i])
	}
	switch {
	case b.negative && u <= 1<<63:
		return int64(-u)
	case !b.negative && u < 1<<63:
		return int64(u)
	}
	return b
}

func trimLimbs(limbs []uint32) []uint32 {
	for len(limbs) > 0 && limbs[len(limbs)-1] == 0 {
		limbs = limbs[:len(limbs)-1]
	}
	return limbs
}

// parseDigits reads decimal digits.
func parseDigits(digits string, negative bool) value {
	b := &bigInt{negative: negative}
	for end := len(digits); end > 0; end -= limbDigits {
		n, _ := strconv.ParseUint(digits[max(0, end-limbDigits):end], 10, 32)
		b.limbs = append(b.limbs, uint32(n))
	}
	return b.normal()
}

func (b *bigInt) String() string {
	var s strings.Builder
	if b.negative {
		s.WriteByte('-')
	}
	for i := len(b.limbs) - 1; i >= 0; i-- {
		part := strconv.Itoa(int(b.limbs[i]))
		if i < len(b.limbs)-1 {
			s.WriteString("00000000"[:limbDigits-len(part)])
		}
		s.WriteString(part)
	}
	return s.String()
}

// float is the nearest float64, or an infinity.
func (b *bigInt) float() float64 {
	f, _ := strconv.ParseFloat(b.String(), 64)
	return f
}

func (b *bigInt) compare(c *bigInt) int {
	if b.negative != c.negative {
		if b.negative {
			return -1
		}
		return 1
	}
	n := compareLimbs(b.limbs, c.limbs)
	if b.negative {
		return -n
	}
	return n
}

func compareLimbs(a, b []uint32) int {
	if n := cmp.Compare(len(a), len(b)); n != 0 {
		return n
	}
	for i := len(a) - 1; i >= 0; i-- {
		if n := cmp.Compare(a[i], b[i]); n != 0 {
			return n
		}
	}
	return 0
}

func (b *bigInt) minus() *bigInt { return &bigInt{!b.negative, b.limbs} }

func (b *bigInt) plus(c *bigInt) *bigInt {
	if b.negative == c.negative {
		return &bigInt{b.negative, addLimbs(b.limbs, c.limbs)}
	}
	if compareLimbs(b.limbs, c.limbs) < 0 {
		b, c = c, b
	}
	return &bigInt{b.negative, subLimbs(b.limbs, c.limbs)}
}

func addLimbs(a, b []uint32) []uint32 {
	if len(a) < len(b) {
		a, b = b, a
	}
	sum := make([]uint32, 0, len(a)+1)
	carry := uint32(0)
	for i, x := range a {
		x += carry
		if i < len(b) {
			x += b[i]
		}
		carry = x / limbBase
		sum = append(sum, x%limbBase)
	}
	return trimLimbs(append(sum, carry))
}

// subLimbs is a-b for a >= b.
func subLimbs(a, b []uint32) []uint32 {
	diff := slices.Clone(a)
	borrow := uint32(0)
	for i := range diff {
		x := borrow
		if i < len(b) {
			x += b[i]
		}
		borrow = 0
		if diff[i] < x {
			borrow = 1
			diff[i] += limbBase
		}
		diff[i] -= x
	}
	return trimLimbs(diff)
}

func (b *bigInt) times(c *bigInt) *bigInt {
	product := make([]uint32, len(b.limbs)+len(c.limbs))
	for i, x := range b.limbs {
		carry := uint64(0)
		for j, y := range c.limbs {
			t := uint64(product[i+j]) + uint64(x)*uint64(y) + carry
			product[i+j], carry = uint32(t%limbBase), t/limbBase
		}
		product[i+len(c.limbs)] = uint32(carry)
	}
	return &bigInt{b.negative != c.negative, trimLimbs(product)}
}

// divide gives quotient and remainder, rounded down like Python does. c is not zero.
func (b *bigInt) divide(c *bigInt) (quo, rem *bigInt) {
	q, m := divLimbs(b.limbs, c.limbs)
	quo, rem = &bigInt{b.negative != c.negative, q}, &bigInt{b.negative, m}
	if len(m) > 0 && b.negative != c.negative {
		quo = quo.plus(wide(int64(-1)))
		if len(q) == 0 {
			quo = wide(int64(-1))
		}
		rem = rem.plus(c)
	}
	return quo, rem
}

// divLimbs is long division: each digit of the quotient is estimated from the leading limbs and then corrected.
func divLimbs(a, b []uint32) (quo, rem []uint32) {
	if compareLimbs(a, b) < 0 {
		return nil, a
	}
	if len(b) == 1 {
		quo = slices.Clone(a)
		return trimLimbs(quo), trimLimbs([]uint32{divSmall(quo, uint64(b[0]))})
	}
	scale := uint64(limbBase) / (uint64(b[len(b)-1]) + 1)
	u, v := scaleLimbs(a, scale), trimLimbs(scaleLimbs(b, scale))
	n := len(v)
	quo = make([]uint32, len(u)-n)
	for j := len(quo) - 1; j >= 0; j-- {
		q := (uint64(u[j+n])*limbBase + uint64(u[j+n-1])) / uint64(v[n-1])
		q = min(q, limbBase-1)
		for !subtractScaled(u[j:j+n+1], v, q) {
			q-- // at most twice, because of the scaling
		}
		quo[j] = uint32(q)
	}
	divSmall(u, scale)
	return trimLimbs(quo), trimLimbs(u)
}

// divSmall divides a by n, in place, and gives the remainder.
func divSmall(a []uint32, n uint64) uint32 {
	var rem uint64
	for i := len(a) - 1; i >= 0; i-- {
		t := rem*limbBase + uint64(a[i])
		a[i], rem = uint32(t/n), t%n
	}
	return uint32(rem)
}

// scaleLimbs is a*n with one more limb than a.
func scaleLimbs(a []uint32, n uint64) []uint32 {
	product := make([]uint32, len(a)+1)
	carry := uint64(0)
	for i, x := range a {
		t := uint64(x)*n + carry
		product[i], carry = uint32(t%limbBase), t/limbBase
	}
	product[len(a)] = uint32(carry)
	return product
}

// subtractScaled subtracts v*q from u, unless that would be negative.
func subtractScaled(u, v []uint32, q uint64) bool {
	product := scaleLimbs(v, q)
	if compareLimbs(trimLimbs(slices.Clone(u)), trimLimbs(product)) < 0 {
		return false
	}
	diff := subLimbs(u, trimLimbs(product))
	clear(u)
	copy(u, diff)
	return true
}
