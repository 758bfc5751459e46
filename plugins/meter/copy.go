package meter

import "strings"

// This file copies the sections that contain function indices or sizes.

// copyFunc copies one function index, shifted past the tick unless it is an import.
func (m *module) copyFunc(out []byte, r *reader) []byte {
	at := r.pos
	i := r.u32()
	if r.err == nil && i >= uint32(len(m.funcs)) {
		r.fail(malformed(at, "function %d of %d", i, len(m.funcs)))
		return out
	}
	return appendU32(out, m.moved(i))
}

func (m *module) moved(i uint32) uint32 {
	if i >= m.importedFuncs {
		return i + 1
	}
	return i
}

// copyExpr copies a constant expression.
func (m *module) copyExpr(out []byte, r *reader) []byte {
	for r.more() {
		at := r.pos
		op := r.byte()
		switch op {
		case opEnd:
			return append(out, op)
		case opI32Const, opI64Const, opF32Const, opF64Const, opRefNull:
			skipConst(r, op)
		case opGlobalGet:
			if i := r.u32(); r.err == nil && i >= m.globals {
				r.fail(malformed(at, "global %d of %d", i, m.globals))
			}
		case opPrefixSIMD:
			if r.u32() != 12 {
				r.fail(unsupported(at, "vector instruction in a constant expression"))
			}
			r.bytes(16)
		case opRefFunc:
			out = m.copyFunc(append(out, op), r)
			continue
		default:
			r.fail(unsupported(at, "instruction 0x%02x in a constant expression", op))
		}
		if r.err == nil {
			out = append(out, r.buf[at:r.pos]...)
		}
	}
	r.fail(malformed(r.pos, "constant expression without end"))
	return out
}

// elements copies the element section. Bit 0 of a segment's flags: no offset, or declarative if bit
// 1 is set too; bit 1: explicit table index; bit 2: expressions.
func (m *module) elements(r *reader) []byte {
	n := r.count("element segments")
	out := appendU32(nil, uint32(n))
	for ; n > 0 && r.err == nil; n-- {
		at := r.pos
		flag := r.u32()
		if flag > 7 {
			r.fail(unsupported(at, "element segment of kind %d", flag))
			return nil
		}
		out = appendU32(out, flag)
		if flag&1 == 0 {
			if flag&2 != 0 {
				out = appendU32(out, r.u32())
			}
			out = m.copyExpr(out, r)
		}
		if flag&3 != 0 {
			out = append(out, r.byte())
		}
		items := r.count("elements")
		out = appendU32(out, uint32(items))
		for ; items > 0 && r.err == nil; items-- {
			if flag&4 != 0 {
				out = m.copyExpr(out, r)
			} else {
				out = m.copyFunc(out, r)
			}
		}
	}
	return out
}

// data copies the data section and checks the globals that offsets read.
func (m *module) data(r *reader) []byte {
	out := make([]byte, 0, r.end-r.pos)
	n := r.count("data segments")
	out = appendU32(out, uint32(n))
	for ; n > 0 && r.err == nil; n-- {
		at := r.pos
		flag := r.u32()
		if flag > 2 {
			r.fail(unsupported(at, "data segment of kind %d", flag))
			return nil
		}
		out = appendU32(out, flag)
		if flag == 2 {
			out = appendU32(out, r.u32())
		}
		if flag != 1 {
			out = m.copyExpr(out, r)
		}
		size := r.u32()
		out = append(appendU32(out, size), r.bytes(size)...)
	}
	return out
}

func boundTables(r *reader, elements uint32) []byte {
	n := r.count("tables")
	out := appendU32(nil, uint32(n))
	for ; n > 0 && r.err == nil; n-- {
		out = append(out, r.byte())
		out = appendBounds(out, readLimit(r), elements)
	}
	return out
}

func boundMemory(r *reader, pages uint32) []byte {
	n := r.count("memories")
	out := appendU32(nil, uint32(n))
	for ; n > 0 && r.err == nil; n-- {
		out = appendBounds(out, readLimit(r), pages)
	}
	return out
}

// appendBounds writes l with a maximum of no more than most.
func appendBounds(out []byte, l limit, most uint32) []byte {
	if !l.hasMax || l.max > most {
		l.max = most
	}
	return appendU32(appendU32(append(out, 1), l.min), l.max)
}

// custom copies a custom section. Debug data addresses code by offset and would be wrong; a
// signature covers bytes that have changed.
func (m *module) custom(out []byte, sec section) []byte {
	payload := m.src[sec.start:sec.end]
	switch {
	case sec.name == "name":
		var ok bool
		if payload, ok = m.names(sec); !ok {
			return out
		}
	case strings.HasPrefix(sec.name, "."), strings.HasPrefix(sec.name, "reloc."), strings.HasPrefix(sec.name, "metadata.code"),
		sec.name == "linking", sec.name == "sourceMappingURL", sec.name == "easel.signature":
		return out
	}
	return appendSection(out, secCustom, append(appendName(nil, sec.name), payload...))
}
