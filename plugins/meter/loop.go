package meter

// A loop's header is where most of the counting happens, so its way to the tick must not stand in
// the way: compilers keep an inline `if` in the middle of the hot code, and forget there what they
// knew of memory and globals (16 % on a tight loop). Blocks around the loop take the tick out of
// it, and coming back from it passes the header once more:
//
//	block $out (type of the loop)
//	  loop $again (type of the loop)
//	    block $tick
//	      loop (type of the loop)
//	        counter -= cost; br_if $tick (counter < 0)
//	        the body
//	      end
//	      br $out
//	    end
//	    counter = tick(counter) + cost
//	    br $again
//	  end
//	end
//
// A branch out of such a loop passes three more labels. A loop that takes parameters has them on
// the stack at its header, where a branch would lose them: it is charged with an inline `if`.

// wrappers are the labels around a wrapped loop.
const wrappers = 3

// open enters a block.
func (s *scanner) open(f frame) {
	f.wraps = s.frames[len(s.frames)-1].wraps
	if f.wrapped {
		f.wraps++
	}
	s.frames = append(s.frames, f)
}

// loop reads the header of the loop at at.
func (s *scanner) loop(at int) {
	wrap, charge := len(s.edits), edit{kind: editHeader}
	s.edits = append(s.edits, edit{at: at, kind: editWrap})
	params := s.blockType()
	if params {
		s.edits[wrap].kind, charge.kind = editNone, editCharge
	}
	s.edits[wrap].value = uint32(s.r.pos - at - 1) // bytes of the type
	s.open(frame{loop: true, wrapped: !params, parent: s.now})
	s.now = region{edit: len(s.edits)}
	charge.at = s.r.pos
	s.edits = append(s.edits, charge)
}

// end reads the end of a block; a loop knows now what its header has to take.
func (s *scanner) end() {
	top := s.frames[len(s.frames)-1]
	s.frames = s.frames[:len(s.frames)-1]
	if !top.loop {
		return
	}
	cost := 1 + s.now.weight/unitWeight
	s.edits[s.now.edit].value = cost
	s.now = top.parent
	if top.wrapped {
		s.edits = append(s.edits, edit{at: s.r.pos, kind: editUnwrap, value: cost})
	}
}

// label reads the label of a branch, which moves outwards by the blocks around the loops it leaves.
func (s *scanner) label() {
	at := s.r.pos
	l := s.r.u32()
	if s.r.err != nil {
		return
	}
	if uint64(l) >= uint64(len(s.frames)) {
		s.r.fail(malformed(at, "branch to label %d of %d", l, len(s.frames)))
		return
	}
	if moved := s.outwards(int(l)); moved != l {
		s.edits = append(s.edits, edit{at: at, skip: s.r.pos - at, kind: editLabel, value: moved})
	}
}

// outwards is the label l in the rewritten code.
func (s *scanner) outwards(l int) uint32 {
	top := len(s.frames) - 1
	return uint32(l + wrappers*(s.frames[top].wraps-s.frames[top-l].wraps))
}

// wrap opens the blocks around a loop of the type typ.
func (e *emitter) wrap(out, typ []byte) []byte {
	out = append(append(out, opBlock), typ...)
	out = append(append(out, opLoop), typ...)
	return append(out, opBlock, blockEmpty)
}

// header takes cost units, and leaves for the tick when there are none left.
func (e *emitter) header(out []byte, scratch, cost uint32) []byte {
	out = e.take(out, e.counter, scratch, cost)
	out = appendU32(append(out, opLocalGet), scratch)
	return append(out, opI32Const, 0, opI32LtS, opBrIf, 1)
}

// unwrap closes the blocks around a loop, with the way to the tick and back.
func (e *emitter) unwrap(out []byte, scratch, cost uint32) []byte {
	out = e.refill(append(out, opBr, 2, opEnd), scratch, cost)
	return append(out, opBr, 0, opEnd, opEnd)
}
