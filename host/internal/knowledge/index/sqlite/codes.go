package sqlite

import (
	"encoding/binary"
	"math"
)

// codes are vectors of neighbouring chunks with one bit for each dimension: the sign of its
// distance to the middle of all of them. factor makes an estimate of the cosine out of it:
//
//	<q, v> = <q, middle> + <q, v-middle>, where <q, v-middle> ~ factor * sum(+-q[i])
//
// factor is |v-middle|² / sum(|v[i]-middle[i]|), which makes the estimate exact for q = v-middle.
// Source: the estimator of RaBitQ without its random rotation.
type codes struct {
	first   int // number of the first chunk in the segment
	middle  []float32
	factors []float32 // negative where a chunk has no vector
	bits    []byte    // stride bytes for each chunk
}

func stride(dims int) int { return (dims + 7) / 8 }

// encodeVectors makes the codes of vectors of length 1; nil when there are none.
func encodeVectors(vectors [][]float32, dims int) []codes {
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
	c := codes{middle: middle, factors: make([]float32, len(vectors)), bits: make([]byte, len(vectors)*size)}
	for k, v := range vectors {
		c.factors[k] = -1
		if v != nil {
			c.factors[k] = encodeVector(c.bits[k*size:(k+1)*size], v, middle)
		}
	}
	return []codes{c}
}

// encodeVector sets the bits of a vector and gives its factor.
func encodeVector(bits []byte, v, middle []float32) float32 {
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

// estimate calls each with the number of every chunk that has a vector and about its cosine with q.
func (c *codes) estimate(q []float32, each func(local int, similarity float32)) {
	size := stride(len(q))
	table := signSums(q)
	base := dot(q, c.middle)
	for k, factor := range c.factors {
		if factor < 0 {
			continue
		}
		each(c.first+k, base+factor*table.sum(c.bits[k*size:(k+1)*size]))
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

// dot is the sum of the products; for vectors of length 1 it is the cosine.
func dot(a, b []float32) float32 {
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

// keep is the codes of the chunks that keep reports; the caller sets the number of the first.
func (c *codes) keep(dims int, keep func(local int) bool) codes {
	out := codes{middle: c.middle}
	size := stride(dims)
	for k, factor := range c.factors {
		if keep(c.first + k) {
			out.factors = append(out.factors, factor)
			out.bits = append(out.bits, c.bits[k*size:(k+1)*size]...)
		}
	}
	return out
}

// appendCodes encodes groups of codes for the file.
func appendCodes(b []byte, groups []codes) []byte {
	for _, c := range groups {
		b = binary.AppendUvarint(b, uint64(c.first))
		b = binary.AppendUvarint(b, uint64(len(c.factors)))
		b = appendFloats(b, c.middle)
		b = appendFloats(b, c.factors)
		b = append(b, c.bits...)
	}
	return b
}

func decodeCodes(b []byte, dims int) (groups []codes, err error) {
	for len(b) > 0 {
		first, size1 := binary.Uvarint(b)
		n, size2 := binary.Uvarint(b[max(0, size1):])
		if size1 <= 0 || size2 <= 0 || n > uint64(len(b)) {
			return nil, errCorrupt
		}
		b = b[size1+size2:]
		floats, bits := 4*(dims+int(n)), int(n)*stride(dims)
		if len(b) < floats+bits {
			return nil, errCorrupt
		}
		all := decodeFloats(b[:floats])
		groups = append(groups, codes{int(first), all[:dims], all[dims:], append([]byte(nil),
			b[floats:floats+bits]...)})
		b = b[floats+bits:]
	}
	return groups, nil
}

func appendFloats(b []byte, v []float32) []byte {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func decodeFloats(b []byte) []float32 {
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}

// dotBytes is dot with a vector as it is stored.
func dotBytes(a []float32, b []byte) float32 {
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
