package meter

// emitter writes function bodies with their edits applied.
type emitter struct {
	m       *module
	counter uint32 // index of the fuel global
	refused uint32 // index of the flag global
	stack   uint32 // index of the stack global
	tick    uint32 // index of the imported tick
	scan    scanner
	body    []byte
	frame   uint32 // of the current function
	results []byte
}

// code copies the code section.
func (e *emitter) code(out []byte, r *reader) []byte {
	n := r.count("function bodies")
	own := uint32(len(e.m.funcs)) - e.m.importedFuncs
	if r.err == nil && uint32(n) != own {
		r.fail(malformed(r.pos, "%d function bodies for %d functions", n, own))
	}
	out = appendU32(out, uint32(n))
	for i := 0; i < n && r.err == nil; i++ {
		size := r.u32()
		at := r.pos
		if uint64(size) > uint64(r.end-r.pos) {
			r.fail(malformed(at, "function body of %d bytes in %d", size, r.end-at))
			return out
		}
		in := &reader{buf: r.buf, pos: at, end: at + int(size)}
		e.function(in, e.m.types[e.m.funcs[int(e.m.importedFuncs)+i]])
		if in.err != nil {
			r.fail(in.err)
			return out
		}
		out = append(appendU32(out, uint32(len(e.body))), e.body...)
		r.pos = in.end
	}
	return out
}

// function rewrites one body into e.body.
func (e *emitter) function(r *reader, t FuncType) {
	start, total := r.pos, uint64(len(t.Params))
	groups := r.count("local groups")
	from := r.pos
	for i := 0; i < groups && r.err == nil; i++ {
		at := r.pos
		if total += uint64(r.u32()); total > maxLocals {
			r.fail(malformed(at, "%d locals in one function", total))
		}
		r.valType()
	}
	code := r.pos
	e.scan.scan(r, uint32(total))
	if r.err != nil {
		return
	}
	e.frame, e.results = frameSize(uint32(total), r.end-code), t.Results
	e.body = e.body[:0]
	if !e.scratches() {
		e.body = e.apply(append(e.body, r.buf[start:code]...), r, code, 0)
		return
	}
	e.body = append(appendU32(e.body, uint32(groups)+1), r.buf[from:code]...)
	e.body = e.apply(append(e.body, 2, valI32), r, code, uint32(total))
}

// scratches reports whether an edit needs a scratch local.
func (e *emitter) scratches() bool {
	for _, ed := range e.scan.edits {
		if ed.kind >= editEnter {
			return true
		}
	}
	return false
}

func (e *emitter) apply(out []byte, r *reader, from int, scratch uint32) []byte {
	for _, ed := range e.scan.edits {
		out = append(out, r.buf[from:ed.at]...)
		from = ed.at + ed.skip
		switch ed.kind {
		case editFunc, editLabel:
			out = appendU32(out, ed.value)
		case editReturn:
			out = appendU32(append(out, opBr), ed.value)
		case editEnter:
			out = e.enter(out, scratch, ed.value)
		case editLeave:
			out = e.leave(out, scratch, ed.value)
		case editWrap:
			out = e.wrap(out, r.buf[ed.at+1:ed.at+1+int(ed.value)])
		case editHeader:
			out = e.header(out, scratch, ed.value)
		case editUnwrap:
			out = e.unwrap(out, scratch, ed.value)
		case editCharge:
			out = e.charge(out, scratch, ed.value)
		case editBulk:
			out = e.bulk(out, scratch, ed.value)
		case editRefused:
			out = e.setRefused(out, scratch)
		}
	}
	return append(out, r.buf[from:r.end]...)
}

// take takes cost from a global and leaves the remainder in the scratch local, which saves a load
// of the value just stored.
func (e *emitter) take(out []byte, global, scratch, cost uint32) []byte {
	out = appendU32(append(out, opGlobalGet), global)
	out = append(appendConst(out, cost), opI32Sub)
	out = appendU32(append(out, opLocalTee), scratch)
	return appendU32(append(out, opGlobalSet), global)
}

// refill calls the tick and adds cost, which is taken again when the code is repeated.
func (e *emitter) refill(out []byte, scratch, cost uint32) []byte {
	out = appendU32(append(out, opLocalGet), scratch)
	out = appendU32(append(out, opCall), e.tick)
	out = append(appendConst(out, cost), opI32Add)
	return appendU32(append(out, opGlobalSet), e.counter)
}

// charge takes cost units inline: counter -= cost; if counter < 0 { counter = tick(counter) }.
func (e *emitter) charge(out []byte, scratch, cost uint32) []byte {
	out = appendU32(append(out, opGlobalGet), e.counter)
	out = append(appendConst(out, cost), opI32Sub)
	return e.settle(out, scratch)
}

// settle stores the counter from the stack and calls the tick when it is negative.
func (e *emitter) settle(out []byte, scratch uint32) []byte {
	out = appendU32(append(out, opLocalTee), scratch)
	out = appendU32(append(out, opGlobalSet), e.counter)
	out = appendU32(append(out, opLocalGet), scratch)
	out = append(out, opI32Const, 0, opI32LtS, opIf, blockEmpty)
	out = appendU32(append(out, opLocalGet), scratch)
	out = appendU32(append(out, opCall), e.tick)
	out = appendU32(append(out, opGlobalSet), e.counter)
	return append(out, opEnd)
}

// bulk takes length >> shift units; the length is on the stack and stays there.
func (e *emitter) bulk(out []byte, scratch, shift uint32) []byte {
	out = appendU32(append(out, opLocalTee), scratch)
	out = appendU32(append(out, opLocalGet), scratch)
	out = append(appendConst(out, bulkMinimum), opI32GeU, opIf, blockEmpty)
	out = appendU32(append(out, opGlobalGet), e.counter)
	out = appendU32(append(out, opLocalGet), scratch)
	out = append(appendConst(out, shift), opI32ShrU, opI32Sub)
	out = e.settle(out, scratch)
	return append(out, opEnd)
}

// setRefused sets the flag when the result of memory.grow, which stays on the stack, is -1.
func (e *emitter) setRefused(out []byte, scratch uint32) []byte {
	out = appendU32(append(out, opLocalTee), scratch)
	out = appendU32(append(out, opLocalGet), scratch)
	out = append(out, opI32Const, 0x7f, opI32Eq, opIf, blockEmpty)
	out = appendU32(append(out, opI32Const, 1, opGlobalSet), e.refused)
	return append(out, opEnd)
}
