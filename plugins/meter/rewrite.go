package meter

import "strings"

// rewrite writes the module section by section, in the order of the file.
func (m *module) rewrite(limits Limits) ([]byte, error) {
	if err := m.check(limits); err != nil {
		return nil, err
	}
	m.blockTypes()
	e := &emitter{m: m, counter: m.globals, refused: m.globals + 1, stack: m.globals + 2, tick: m.importedFuncs}
	e.scan.m = m
	out := append(make([]byte, 0, len(m.src)+len(m.src)/8+256), header...)
	done := map[byte]bool{}
	for _, sec := range m.sections {
		if sec.id == secCustom {
			out = m.custom(out, sec)
			continue
		}
		out = m.missing(out, done, order[sec.id])
		done[sec.id] = true
		r := m.reader(&sec)
		payload := m.payload(e, sec.id, r, limits)
		if r.err == nil && r.pos != r.end {
			r.fail(malformed(r.pos, "section %d has %d bytes too many", sec.id, r.end-r.pos))
		}
		if r.err != nil {
			return nil, r.err
		}
		out = appendSection(out, sec.id, payload)
	}
	if m.find(secCode) == nil && uint32(len(m.funcs)) > m.importedFuncs {
		return nil, malformed(len(m.src), "functions without bodies")
	}
	return m.missing(out, done, len(order)+1), nil
}

// check rejects modules before any rewriting.
func (m *module) check(limits Limits) error {
	for _, imp := range m.imports {
		if strings.HasPrefix(imp.Module, "easel:meter") {
			return forged("module imports %s.%s; ship it unmetered", imp.Module, imp.Name)
		}
	}
	for _, e := range m.exports {
		if strings.HasPrefix(e.name, "easel:") {
			return forged("module exports %q", e.name)
		}
	}
	if len(m.memories) > 1 {
		return unsupported(0, "%d memories", len(m.memories))
	}
	for _, l := range m.memories {
		if l.min > limits.Pages {
			return overLimit("memory starts at %d KiB, allowed are %d KiB", l.min*64, limits.Pages*64)
		}
	}
	if len(m.tables) > maxTables {
		return overLimit("%d tables, allowed are %d", len(m.tables), maxTables)
	}
	for i, l := range m.tables {
		if l.min > limits.Elements {
			return overLimit("table %d starts with %d entries, allowed are %d", i, l.min, limits.Elements)
		}
	}
	return nil
}

// missing adds the missing sections that the meter needs and that belong before place.
func (m *module) missing(out []byte, done map[byte]bool, place int) []byte {
	for _, id := range []byte{secType, secImport, secGlobal, secExport} {
		if !done[id] && order[id] < place {
			done[id] = true
			n, body := m.added(id)
			out = appendSection(out, id, append(appendU32(nil, n), body...))
		}
	}
	return out
}

func appendSection(out []byte, id byte, payload []byte) []byte {
	return append(appendU32(append(out, id), uint32(len(payload))), payload...)
}

// payload returns the new content of one section.
func (m *module) payload(e *emitter, id byte, r *reader, limits Limits) []byte {
	switch id {
	case secType, secImport, secGlobal, secExport:
		n := uint32(r.count("entries"))
		more, body := m.added(id)
		out := m.entries(appendU32(nil, n+more), id, r, n)
		return append(out, body...)
	case secTable:
		return boundTables(r, limits.Elements)
	case secMemory:
		return boundMemory(r, limits.Pages)
	case secStart:
		return m.copyFunc(nil, r)
	case secElement:
		return m.elements(r)
	case secCode:
		return e.code(make([]byte, 0, (r.end-r.pos)*9/8+64), r)
	case secData:
		return m.data(r)
	}
	return r.bytes(uint32(r.end - r.pos))
}

// entries copies the n entries of a section that gets additional ones.
func (m *module) entries(out []byte, id byte, r *reader, n uint32) []byte {
	switch id {
	case secGlobal:
		for ; n > 0 && r.err == nil; n-- {
			out = append(out, r.byte(), r.byte())
			out = m.copyExpr(out, r)
		}
		return out
	case secExport:
		for ; n > 0 && r.err == nil; n-- {
			out = appendName(out, r.name())
			kind := r.byte()
			out = append(out, kind)
			if Kind(kind) == KindFunc {
				out = m.copyFunc(out, r)
			} else {
				out = appendU32(out, r.u32())
			}
		}
		return out
	}
	return append(out, r.bytes(uint32(r.end-r.pos))...)
}

// added returns the number of entries that the meter adds to a section, and the entries.
func (m *module) added(id byte) (uint32, []byte) {
	switch id {
	case secType:
		b := []byte{0x60, 1, valI32, 1, valI32}
		for _, results := range m.more {
			b = append(appendU32(append(b, 0x60, 0), uint32(len(results))), results...)
		}
		return 1 + uint32(len(m.more)), b
	case secImport:
		b := appendName(appendName(nil, Module), Tick)
		return 1, appendU32(append(b, byte(KindFunc)), uint32(len(m.types)))
	case secGlobal:
		one := []byte{valI32, 1, opI32Const, 0, opEnd}
		b := append(append(one, one...), valI32, 1)
		return 3, append(appendConst(b, stackBudget), opEnd)
	case secExport:
		b := appendU32(append(appendName(nil, Fuel), byte(KindGlobal)), m.globals)
		return 2, appendU32(append(appendName(b, Refused), byte(KindGlobal)), m.globals+1)
	}
	return 0, nil
}
