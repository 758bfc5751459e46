package meter

import "unicode/utf8"

// reader reads untrusted bytes. The first failure is sticky: every later read returns zero and does
// not advance, so callers may check once after several reads, but must check before they loop on a
// value that was read.
type reader struct {
	buf []byte // the whole module, so that positions in errors are file offsets
	pos int
	end int
	err error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.pos = r.end
}

func (r *reader) more() bool { return r.err == nil && r.pos < r.end }

func (r *reader) byte() byte {
	if r.pos >= r.end {
		r.fail(malformed(r.pos, "ends too early"))
		return 0
	}
	b := r.buf[r.pos]
	r.pos++
	return b
}

func (r *reader) bytes(n uint32) []byte {
	if uint64(n) > uint64(r.end-r.pos) {
		r.fail(malformed(r.pos, "wants %d bytes, has %d", n, r.end-r.pos))
		return nil
	}
	b := r.buf[r.pos : r.pos+int(n)]
	r.pos += int(n)
	return b
}

// u32 reads an unsigned LEB128 number of at most 5 bytes.
func (r *reader) u32() uint32 {
	if r.pos < r.end && r.buf[r.pos] < 0x80 {
		r.pos++
		return uint32(r.buf[r.pos-1])
	}
	start, v := r.pos, uint32(0)
	for shift := 0; shift < 35; shift += 7 {
		b := r.byte()
		if shift == 28 && b > 0x0f {
			break
		}
		v |= uint32(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	r.fail(malformed(start, "number is not a 32-bit LEB128"))
	return 0
}

// count reads the length of a list whose entries take at least one byte each, which bounds all
// allocations by the size of the input.
func (r *reader) count(what string) int {
	start := r.pos
	n := r.u32()
	if uint64(n) > uint64(r.end-r.pos) {
		r.fail(malformed(start, "%d %s in %d bytes", n, what, r.end-r.pos))
		return 0
	}
	return int(n)
}

// signed reads a signed LEB128 number of the given width in bits.
func (r *reader) signed(bits int) int64 {
	start, v := r.pos, int64(0)
	for shift := 0; shift < bits; shift += 7 {
		b := r.byte()
		v |= int64(b&0x7f) << shift
		if b >= 0x80 {
			continue
		}
		if shift+7 < 64 && b&0x40 != 0 {
			v |= -1 << (shift + 7)
		}
		if left := bits - shift; left < 7 && !signFills(b, left) {
			break
		}
		return v
	}
	r.fail(malformed(start, "number is not a signed %d-bit LEB128", bits))
	return 0
}

// signFills reports whether the bits of b above the last used one repeat the sign.
func signFills(b byte, used int) bool {
	top := int8(b<<1) >> used // sign-extends the seven bits, then drops the used ones but the sign
	return top == 0 || top == -1
}

func (r *reader) name() string {
	start := r.pos
	n := r.u32()
	b := r.bytes(n)
	if r.err == nil && !utf8.Valid(b) {
		r.fail(malformed(start, "name is not UTF-8"))
		return ""
	}
	return string(b)
}

func (r *reader) valType() byte {
	start := r.pos
	t := r.byte()
	if r.err == nil && !isValType(t) {
		r.fail(unsupported(start, "value type 0x%02x", t))
	}
	return t
}

func (r *reader) refType() byte {
	start := r.pos
	t := r.byte()
	if r.err == nil && t != funcRef && t != externRef {
		r.fail(unsupported(start, "reference type 0x%02x", t))
	}
	return t
}

func isValType(t byte) bool { return t >= 0x7b && t <= 0x7f || t == funcRef || t == externRef }

func appendU32(b []byte, v uint32) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

// appendConst appends i32.const v for v >= 0.
func appendConst(b []byte, v uint32) []byte {
	b = append(b, opI32Const)
	for v >= 0x40 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

func appendName(b []byte, s string) []byte {
	return append(appendU32(b, uint32(len(s))), s...)
}
