package meter

// A function counts on entry. A runtime's own stack is outside the guest's memory: endless
// recursion takes as much host memory as the runtime allows, and a guest that is suspended at some
// depth, waiting for the host, occupies that memory. So every function that calls takes its frame
// from a budget on entry and returns it on exit. One test covers both counters, and the rare path
// is placed after the body, as with loops (loop.go): fib costs 12 % more this way and 32 % more
// with an inline `if` for each.
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
// A function that does not call has only the counter. A trap does not return frames, so a host must
// never reuse an instance after one.

// stackBudget bounds the frames of one instance, in bytes as estimated by frameSize. The real
// frames of a runtime are mostly a quarter of that; none is much larger.
const stackBudget = 32 << 20

// Overflow is passed to the tick instead of the counter when the stack budget is exhausted. The
// guest traps after such a tick.
const Overflow int32 = -1 << 31

// frameSize estimates the native stack use of a function: its locals, and at most one value per two
// bytes of its body.
func frameSize(locals uint32, body int) uint32 {
	return 64 + 16*locals + 4*uint32(min(body, 1<<20))
}

// enter takes cost units and the frame, and opens the blocks around the body. The remaining stack
// budget stays in the second scratch local.
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

// leave closes the blocks, with the path to the tick and back, and releases the frame. Results of
// the body remain on the stack.
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

// release returns the frame to the budget.
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

// blockTypes finds a type without parameters for each list of two or more results. Missing types
// are added after the type of the tick.
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

// appendSigned writes a type index as a signed number, as block types require.
func appendSigned(b []byte, v uint32) []byte {
	for v >= 0x40 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}
