// Package codes stores vectors with one bit for each dimension, and estimates from these bits how
// near the vectors are to that of a query. An adapter compares the nearest ones exactly.
package codes

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

// LeastCompared is the minimum number of vectors that a search compares exactly, if there are as
// many.
const LeastCompared = 256

// Group is the codes of the vectors of neighbouring chunks: for each dimension the sign of the
// distance to the middle of all of them. A factor makes an estimate of the cosine out of it:
//
//	<q, v> = <q, middle> + <q, v-middle>, where <q, v-middle> ~ factor * sum(+-q[i])
//
// factor is |v-middle|² / sum(|v[i]-middle[i]|), which makes the estimate exact for q = v-middle.
// Source: the estimator of RaBitQ without its random rotation.
type Group struct {
	First   int // number of the first chunk
	middle  []float32
	factors []float32 // negative where a chunk has no vector
	bits    []byte    // stride bytes for each chunk
}

// Len returns the number of chunks, with those that have no vector.
func (g *Group) Len() int { return len(g.factors) }

func stride(dims int) int { return (dims + 7) / 8 }

// Encode makes the codes of vectors of length 1, which are nil for chunks without one; nil without
// any.
func Encode(vectors [][]float32, dims int) []Group {
	middle, n := make([]float32, dims), 0
	for _, v := range vectors {
		for i, x := range v {
			middle[i] += x
		}
		if v != nil {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	for i := range middle {
		middle[i] /= float32(n)
	}
	size := stride(dims)
	g := Group{middle: middle, factors: make([]float32, len(vectors)), bits: make([]byte, len(vectors)*size)}
	for k, v := range vectors {
		g.factors[k] = -1
		if v != nil {
			g.factors[k] = encode(g.bits[k*size:(k+1)*size], v, middle)
		}
	}
	return []Group{g}
}

// encode sets the bits of a vector and returns its factor.
func encode(bits []byte, v, middle []float32) float32 {
	var squares, sum float32
	for i, x := range v {
		d := x - middle[i]
		if d > 0 {
			bits[i>>3] |= 1 << (i & 7)
		}
		squares += d * d
		sum += max(d, -d)
	}
	if sum == 0 {
		return 0
	}
	return squares / sum
}

// Keep returns the codes of the chunks that keep reports; the caller sets the number of the first.
func (g *Group) Keep(dims int, keep func(local int) bool) Group {
	out := Group{middle: g.middle}
	size := stride(dims)
	for k, factor := range g.factors {
		if keep(g.First + k) {
			out.factors = append(out.factors, factor)
			out.bits = append(out.bits, g.bits[k*size:(k+1)*size]...)
		}
	}
	return out
}

// Query is a vector of length 1 that codes are compared with.
type Query struct {
	vector []float32
	signs  signTable
}

// NewQuery returns a query for a vector.
func NewQuery(vector []float32) *Query { return &Query{vector, signSums(vector)} }

// Estimate calls each with the number of every chunk of a group that has a vector, and with about
// its cosine with that of the query.
func (q *Query) Estimate(g *Group, each func(local int, similarity float32)) {
	size := stride(len(q.vector))
	base := Dot(q.vector, g.middle)
	for k, factor := range g.factors {
		if factor < 0 {
			continue
		}
		each(g.First+k, base+factor*q.signs.sum(g.bits[k*size:(k+1)*size]))
	}
}

// signTable has, for each byte of a code and each of its values, the sum of the query's dimensions
// with the signs of its bits.
type signTable [][256]float32

func signSums(q []float32) signTable {
	table := make(signTable, stride(len(q)))
	for p := range table {
		for b := range 256 {
			var sum float32
			for j, x := range q[p*8 : min(len(q), p*8+8)] {
				if b>>j&1 != 0 {
					sum += x
				} else {
					sum -= x
				}
			}
			table[p][b] = sum
		}
	}
	return table
}

func (t signTable) sum(bits []byte) float32 {
	var a, b float32
	bits = bits[:len(t)]
	p := 0
	for ; p+1 < len(t); p += 2 {
		a += t[p][bits[p]]
		b += t[p+1][bits[p+1]]
	}
	if p < len(t) {
		a += t[p][bits[p]]
	}
	return a + b
}

// Dot returns the sum of the products; for vectors of length 1 it is the cosine.
func Dot(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	b = b[:len(a)]
	i := 0
	for ; i+3 < len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + s2 + s3
}

// DotEncoded is Dot with a vector as [AppendVector] encodes it, which has the same dimensions.
func DotEncoded(a []float32, b []byte) float32 {
	var s0, s1 float32
	b = b[:4*len(a)]
	i := 0
	for ; i+1 < len(a); i += 2 {
		s0 += a[i] * math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		s1 += a[i+1] * math.Float32frombits(binary.LittleEndian.Uint32(b[4*i+4:]))
	}
	if i < len(a) {
		s0 += a[i] * math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return s0 + s1
}

// AppendVector encodes a vector.
func AppendVector(b []byte, v []float32) []byte {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// DecodeVector reads what [AppendVector] wrote.
func DecodeVector(b []byte) []float32 {
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}

// Append encodes groups.
func Append(b []byte, groups []Group) []byte {
	for _, g := range groups {
		b = binary.AppendUvarint(b, uint64(g.First))
		b = binary.AppendUvarint(b, uint64(len(g.factors)))
		b = AppendVector(b, g.middle)
		b = AppendVector(b, g.factors)
		b = append(b, g.bits...)
	}
	return b
}

// ErrDamaged means that encoded data is not what [Append] makes.
var ErrDamaged = errors.New("codes of vectors are damaged")

// Decode reads what [Append] wrote for a segment with a number of chunks.
func Decode(b []byte, dims, chunks int) (groups []Group, err error) {
	for len(b) > 0 {
		first, size1 := binary.Uvarint(b)
		n, size2 := binary.Uvarint(b[max(0, size1):])
		if size1 <= 0 || size2 <= 0 || first > uint64(chunks) || n > uint64(chunks)-first {
			return nil, ErrDamaged
		}
		b = b[size1+size2:]
		floats, bits := 4*(dims+int(n)), int(n)*stride(dims)
		if len(b) < floats+bits {
			return nil, ErrDamaged
		}
		all := DecodeVector(b[:floats])
		groups = append(groups, Group{int(first), all[:dims], all[dims:], slices.Clone(b[floats : floats+bits])})
		b = b[floats+bits:]
	}
	return groups, nil
}
