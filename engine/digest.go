package engine

import (
	"encoding/binary"
	"math/bits"
)

// sha1Sum returns the SHA-1 hash (FIPS 180-4) that citation numbers are derived from. It is not
// used for security. crypto/sha1 brings much of crypto along: with regexp it made the browser
// module a tenth larger, so it is written out.
func sha1Sum(text string) [20]byte {
	h := [5]uint32{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}
	msg := append([]byte(text), 0x80)
	for len(msg)%64 != 56 {
		msg = append(msg, 0)
	}
	msg = binary.BigEndian.AppendUint64(msg, uint64(len(text))*8)
	for ; len(msg) > 0; msg = msg[64:] {
		sha1Block(&h, msg[:64])
	}
	var sum [20]byte
	for i, x := range h {
		binary.BigEndian.PutUint32(sum[4*i:], x)
	}
	return sum
}

func sha1Block(h *[5]uint32, block []byte) {
	var w [80]uint32
	for i := range w {
		if i < 16 {
			w[i] = binary.BigEndian.Uint32(block[4*i:])
		} else {
			w[i] = bits.RotateLeft32(w[i-3]^w[i-8]^w[i-14]^w[i-16], 1)
		}
	}
	a, b, c, d, e := h[0], h[1], h[2], h[3], h[4]
	for i, x := range w {
		var f, k uint32
		switch {
		case i < 20:
			f, k = b&c|^b&d, 0x5a827999
		case i < 40:
			f, k = b^c^d, 0x6ed9eba1
		case i < 60:
			f, k = b&c|b&d|c&d, 0x8f1bbcdc
		default:
			f, k = b^c^d, 0xca62c1d6
		}
		a, b, c, d, e = bits.RotateLeft32(a, 5)+f+e+k+x, a, bits.RotateLeft32(b, 30), c, d
	}
	for i, x := range [...]uint32{a, b, c, d, e} {
		h[i] += x
	}
}
