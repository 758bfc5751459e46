package meter

// A function counts when it is entered. And a runtime's own stack lies outside the guest's memory:
// an endless recursion takes as much of the host as the runtime lets it, and a guest that stops
// half way down, to wait for the host, keeps it. So every function that calls takes its frame from
// a budget when it is entered and gives it back when it returns. Both are looked at with one test,
// and what happens rarely stands behind the body, as with loops (loop.go): fib costs 12 % more this
// way and 32 % with an inline `if` for each.
//
//	block $body (results)
//	  loop $again
//	    block $rare
//	      counter -= cost; stack -= frame; br_if $rare (counter < 0 or stack < 0)
//	      block (results)
//	        the body, in which return is a branch to the end of this block
//	      end
//	      br $body
//	    end
//	    if stack < 0 { tick(Overflow); unreachable }
//	    stack += frame; counter = tick(counter) + cost
//	    br $again
//	  end
//	  unreachable
//	end
//	stack += frame
//
// A function that does not call has the counter only. A trap gives nothing back, which is why a
// host never uses an instance again after one.

// stackBudget bounds the frames of one instance, in bytes as frameSize guesses them. A runtime's
// real frames are mostly a quarter of that; none is much larger.
const stackBudget = 32 << 20

// Overflow is what a tick receives, in place of the counter, when the stack budget is used up. It
// never comes back from such a tick.
const Overflow int32 = -1 << 31

// frameSize guesses what a function takes of the native stack: its locals, and at most one value
// kept for each two bytes of its body.
func frameSize(locals uint32, body int) uint32 {
	return 64 + 16*locals + 4*uint32(min(body, 1<<20))
}

// enter takes cost units and the frame, and opens the blocks around the body. The frame that is
// left stays in the second scratch local.
func (e *emitter) enter(out []byte, scratch, cost uint32) []byte {
	out = append(e.blockType(append(out, opBlock)), opLoop, blockEmpty, opBlock, blockEmpty)
	out = e.take(out, e.counter, scratch, cost)
	if e.scan.calls {
		out = e.take(out, e.stack, scratch+1, e.frame)
	}
	out = appendU32(append(out, opLocalGet), scratch)
	if e.scan.calls {
		out = append(appendU32(append(out, opLocalGet), scratch+1), opI32Or)
	}
	return e.blockType(append(out, opI32Const, 0, opI32LtS, opBrIf, 0, opBlock))
}

// leave closes the blocks, with the way to the tick and back, and gives the frame back. What the
// body left on the stack stays there.
func (e *emitter) leave(out []byte, scratch, cost uint32) []byte {
	out = append(out, opEnd, opBr, 2, opEnd)
	if e.scan.calls {
		out = appendU32(append(out, opLocalGet), scratch+1)
		out = append(out, opI32Const, 0, opI32LtS, opIf, blockEmpty)
		out = append(out, opI32Const, 0x80, 0x80, 0x80, 0x80, 0x78) // Overflow
		out = appendU32(append(out, opCall), e.tick)
		out = append(out, opDrop, opUnreachable, opEnd)
		out = e.release(out)
	}
	out = append(e.refill(out, scratch, cost), opBr, 0, opEnd, opUnreachable, opEnd)
	if e.scan.calls {
		out = e.release(out)
	}
	return out
}

// release gives the frame back.
func (e *emitter) release(out []byte) []byte {
	out = appendU32(append(out, opGlobalGet), e.stack)
	out = append(appendConst(out, e.frame), opI32Add)
	return appendU32(append(out, opGlobalSet), e.stack)
}

// blockType writes the type of a block with the results of the function.
func (e *emitter) blockType(out []byte) []byte {
	switch results := e.results; len(results) {
	case 0:
		return append(out, blockEmpty)
	case 1:
		return append(out, results[0])
	default:
		return appendSigned(out, e.m.blocks[string(results)])
	}
}

// blockTypes finds a type without parameters for each list of two or more results. Those the module
// does not have are added behind the type of the tick.
func (m *module) blockTypes() {
	m.blocks = map[string]uint32{}
	for i, t := range m.types {
		if _, known := m.blocks[string(t.Results)]; len(t.Params) == 0 && len(t.Results) > 1 && !known {
			m.blocks[string(t.Results)] = uint32(i)
		}
	}
	for _, t := range m.types {
		if _, known := m.blocks[string(t.Results)]; len(t.Results) > 1 && !known {
			m.blocks[string(t.Results)] = uint32(len(m.types)+1) + uint32(len(m.more))
			m.more = append(m.more, t.Results)
		}
	}
}

// appendSigned writes a type index as the signed number a block type is.
func appendSigned(b []byte, v uint32) []byte {
	for v >= 0x40 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}
