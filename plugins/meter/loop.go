package meter

// Most counting happens at loop headers, so the path to the tick must be outside the loop:
// compilers place an inline `if` in the middle of the hot code and lose there their assumptions
// about memory and globals (16 % on a tight loop). Blocks around the loop move the tick out of it;
// the return from the tick passes the header again:
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
// A branch out of such a loop crosses three more labels. A loop with parameters has them on the
// stack at its header, where a branch would lose them: it is charged with an inline `if`.

// wrappers is the number of labels around a wrapped loop.
const wrappers = 3

// open enters a block.
func (s *scanner) open(f frame) {
	s.costs.open(s.r, f.loop, len(s.frames), s.locals)
	f.wraps = s.frames[len(s.frames)-1].wraps
	if f.wrapped {
		f.wraps++
	}
	s.frames = append(s.frames, f)
}

// loop reads the header of the loop at position at.
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

// end reads the end of a block; for a loop it sets the charge of the header.
func (s *scanner) end() {
	top := s.frames[len(s.frames)-1]
	s.frames = s.frames[:len(s.frames)-1]
	if !top.loop {
		return
	}
	s.costs.closeLoop()
	cost := 1 + s.now.weight/unitWeight
	s.edits[s.now.edit].value = cost
	s.now = top.parent
	if top.wrapped {
		s.edits = append(s.edits, edit{at: s.r.pos, kind: editUnwrap, value: cost})
	}
}

// label reads the label of a branch. It grows by the blocks around the loops that the branch
// leaves.
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

// outwards returns label l as a label of the rewritten code.
func (s *scanner) outwards(l int) uint32 {
	top := len(s.frames) - 1
	return uint32(l + wrappers*(s.frames[top].wraps-s.frames[top-l].wraps))
}

// wrap opens the blocks around a loop of type typ.
func (e *emitter) wrap(out, typ []byte) []byte {
	out = append(append(out, opBlock), typ...)
	out = append(append(out, opLoop), typ...)
	return append(out, opBlock, blockEmpty)
}

// header takes cost units and branches to the tick when none are left.
func (e *emitter) header(out []byte, scratch, cost uint32) []byte {
	out = e.take(out, e.counter, scratch, cost)
	out = appendU32(append(out, opLocalGet), scratch)
	return append(out, opI32Const, 0, opI32LtS, opBrIf, 1)
}

// unwrap closes the blocks around a loop, with the path to the tick and back.
func (e *emitter) unwrap(out []byte, scratch, cost uint32) []byte {
	out = e.refill(append(out, opBr, 2, opEnd), scratch, cost)
	return append(out, opBr, 0, opEnd, opEnd)
}
