package meter

// Subsections of the name section that a runtime uses in stack traces.
const (
	nameModule = 0
	nameFuncs  = 1
)

// names rewrites the name section: the module's name and the names of functions, whose indices
// change. Other subsections are for debuggers only and are dropped, as is the whole section if it
// is unreadable, which the format allows.
func (m *module) names(sec section) ([]byte, bool) {
	r := m.reader(&sec)
	var out []byte
	for r.more() {
		id := r.byte()
		size := r.u32()
		body := r.bytes(size)
		if r.err != nil {
			return nil, false
		}
		switch id {
		case nameModule:
			out = append(appendU32(append(out, id), size), body...)
		case nameFuncs:
			in := &reader{buf: m.src, pos: r.pos - len(body), end: r.pos}
			moved := m.funcNames(in)
			if in.err != nil || in.pos != in.end {
				return nil, false
			}
			out = append(appendU32(append(out, id), uint32(len(moved))), moved...)
		}
	}
	return out, r.err == nil
}

// funcNames copies the map of function names, which is sorted by index, and adds the tick.
func (m *module) funcNames(r *reader) []byte {
	n := r.count("names")
	out := appendU32(make([]byte, 0, r.end-r.pos+32), uint32(n)+1)
	placed := false
	place := func() {
		out = appendName(appendU32(out, m.importedFuncs), "easel.tick")
		placed = true
	}
	for ; n > 0 && r.err == nil; n-- {
		i := r.u32()
		name := r.bytes(r.u32())
		if !placed && i >= m.importedFuncs {
			place()
		}
		out = appendU32(out, m.moved(i))
		out = append(appendU32(out, uint32(len(name))), name...)
	}
	if !placed {
		place()
	}
	return out
}
