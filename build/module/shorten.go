package main

import (
	"encoding/binary"
	"slices"
)

// Go's compiler writes WebAssembly plainly and leaves the rest to the engine's compiler, which
// makes fast code of it but cannot make the download smaller. shorten says the same in fewer bytes,
// function by function:
//
//   - the address of something on the stack is computed in 32 bits instead of in 64, and moves into the load or store
//     that wants it (a tenth of the code);
//   - a jump forward goes to its target instead of through the table at the head of the function;
//   - what is read in 64 bits and cut to 32 is read in 32, a test and its negation become the opposite test, a write
//     and a read of the same local one instruction;
//   - calls for a larger stack and for panics push the address to return to by calling one function.
//
// No call and no block is moved, left out or done in another order, so every address that the
// runtime knows stays what it was.
func shorten(body []byte, pusher uint64) ([]byte, error) {
	at := 0
	groups, n := binary.Uvarint(body)
	for at = n; groups > 0 && at < len(body); groups-- { // locals: count and type
		_, n := binary.Uvarint(body[at:])
		at += n + 1
	}
	if n <= 0 || at >= len(body) {
		return nil, errShape
	}
	list, err := decode(body[at:])
	if err != nil {
		return nil, err
	}
	list = jumpAhead(foldAddresses(pushRarely(simplify(list), pusher)))
	return append(slices.Clone(body[:at]), encode(list)...), nil
}

// shortenCode applies shorten to the code section.
func shortenCode(code []byte, pusher uint64) ([]byte, error) {
	count, n := binary.Uvarint(code)
	out := binary.AppendUvarint(nil, count)
	rest := code[n:]
	for range count {
		size, n := binary.Uvarint(rest)
		if n <= 0 || uint64(len(rest)-n) < size {
			return nil, errShape
		}
		body, err := shorten(rest[n:n+int(size)], pusher)
		if err != nil {
			return nil, err
		}
		out = append(binary.AppendUvarint(out, uint64(len(body))), body...)
		rest = rest[n+int(size):]
	}
	return out, nil
}

// simplify replaces short sequences by shorter ones, as soon as the last instruction of one is
// there.
func simplify(list []instr) []instr {
	out := make([]instr, 0, len(list))
	for _, in := range list {
		out = append(out, in)
		last := len(out) - 1
		switch in.op {
		case opNop:
			out = out[:last]
		case opWrap:
			out = narrow(out)
		case opI32Eqz:
			if last > 0 && inverted[out[last-1].op] != 0 {
				out = append(out[:last-1], bare(inverted[out[last-1].op]))
			}
		case opGet:
			if last > 0 && out[last-1].op == opSet && out[last-1].n == in.n {
				out = append(out[:last-1], instr{op: opTee, n: in.n})
			}
		case opSet:
			out = pushOnce(out)
		case opReturn:
			if ends(out, opTee, opGlobalSet, opI32, opReturn) { // nobody reads a local any more
				out = slices.Delete(out, last-3, last-2)
			}
		}
	}
	return out
}

// pushOnce leaves out a write to the local copy of the stack pointer before a call, which the read
// of the pointer after the call overwrites: what is pushed, the place to return to, goes where the
// pointer itself says.
func pushOnce(out []instr) []instr {
	const size = 9
	if !ends(out, opTee, opGlobalSet, opGet, opI64, opStore64, opI32, opCall, opGlobalGet, opSet) {
		return out
	}
	from := len(out) - size
	copied, pointer := out[from].n, out[from+1].n
	if out[from+2].n != copied || out[from+7].n != pointer || out[from+8].n != copied {
		return out
	}
	out[from+2] = instr{op: opGlobalGet, n: pointer}
	return slices.Delete(out, from, from+1)
}

// narrow does in 32 bits what is cut to 32 bits afterwards.
func narrow(out []instr) []instr {
	n := len(out)
	switch {
	case ends(out, opLoad64, opWrap):
		return append(out[:n-2], instr{op: opLoad, n: min(2, out[n-2].n), off: out[n-2].off})
	case ends(out, opExtend, opWrap):
		return out[:n-2]
	case ends(out, opExtend, opI64, opI64Add, opWrap):
		return append(out[:n-4], instr{op: opI32, n: int64(int32(out[n-3].n))}, bare(opI32Add))
	case ends(out, opI64, opI64Add, opWrap):
		c := out[n-3].n
		return append(out[:n-3], bare(opWrap), instr{op: opI32, n: int64(int32(c))}, bare(opI32Add))
	}
	return out
}

func bare(op byte) instr { return instr{op: op, raw: []byte{op}} }

// foldAddresses moves what is added to an address into the load or store that uses it. Adding there
// does not wrap around at 4 GB, but neither does any address that a program computes by adding a
// positive number.
func foldAddresses(list []instr) []instr {
	out := make([]instr, 0, len(list))
	for i := 0; i < len(list); i++ {
		if i+1 < len(list) && list[i].op == opI32 && list[i].n >= 0 && list[i+1].op == opI32Add {
			if user := userOf(list[i+2:]); user >= 0 {
				in := &list[i+2+user]
				*in = instr{op: in.op, n: in.n, off: in.off + uint64(list[i].n)}
				i++
				continue
			}
		}
		out = append(out, list[i])
	}
	return out
}

// userOf finds the load or store that takes the value on top of the stack as its address; -1 if
// something else does, or if that cannot be seen.
func userOf(list []instr) int {
	const far = 40
	above := 0 // values on top of it
	for i := range list[:min(far, len(list))] {
		in := &list[i]
		if in.op >= opStore && in.op <= opLastStore {
			if above == 1 {
				return i
			}
			if above -= 2; above < 0 {
				return -1
			}
			continue
		}
		takes, leaves, ok := in.effect()
		if !ok {
			return -1
		}
		if takes > above {
			if in.op >= opLoad && in.op < opStore && above == 0 {
				return i
			}
			return -1
		}
		above += leaves - takes
	}
	return -1
}

// place is the local in which Go's functions keep the number of the block they go on with.
const place = 0

// jumpAhead finds the head of a function, a table of blocks inside a loop: a jump writes a number
// to place and goes there. Where the block of that number ends further on, one can go there at
// once.
func jumpAhead(list []instr) []instr {
	head := -1
	for i := range list {
		if in := &list[i]; in.n == place && (in.op == opGet || in.op == opTee) {
			if head >= 0 || in.op == opTee || i+1 >= len(list) || list[i+1].op != opBrTable {
				return list // somebody else reads it
			}
			head = i + 1
		}
	}
	if head < 0 {
		return list
	}
	var open []int // the instructions that opened what is open, innermost last
	var targets []int
	loop := -1
	out := make([]instr, 0, len(list))
	for i := 0; i < len(list); i++ {
		in := list[i]
		switch {
		case in.op == opBlock, in.op == opLoop, in.op == opIf:
			if in.op == opLoop && i < head {
				loop = i
			}
			open = append(open, i)
		case in.op == opEnd:
			open = open[:max(0, len(open)-1)] // the last end closes the function itself
		case i == head:
			labels := in.table()
			for _, label := range labels {
				targets = append(targets, at(open, label))
			}
			in.setTable(trim(labels))
		case targets != nil && in.op == opI32 && i+2 < len(list) && list[i+1].op == opSet && list[i+1].n == place &&
			list[i+2].op == opBr && at(open, uint64(list[i+2].n)) == loop:
			target := targets[min(int(uint32(in.n)), len(targets)-1)]
			depth := slices.Index(open, target)
			if depth < 0 || list[target].n != emptyType {
				break // it lies behind
			}
			jump := instr{op: opBr, n: int64(len(open) - 1 - depth)}
			if i+3 < len(list) && list[i+3].op == opEnd && ends(out, opIf) && out[len(out)-1].n == emptyType {
				jump = instr{op: opBrIf, n: jump.n - 1}
				out, open = out[:len(out)-1], open[:len(open)-1]
				i++
			}
			i += 2
			in = jump
		}
		out = append(out, in)
	}
	return out
}

// at is the instruction that opened a label.
func at(open []int, label uint64) int {
	if label >= uint64(len(open)) {
		return -1
	}
	return open[len(open)-1-int(label)]
}

// trim leaves out entries that say what the default, which is the last, says anyway.
func trim(labels []uint64) []uint64 {
	last := len(labels) - 1
	n := last
	for n > 0 && labels[n-1] == labels[last] {
		n--
	}
	return append(labels[:n:n], labels[last])
}

// pushRarely pushes return addresses of rare calls, which are the first instruction inside of an if
// (the stack must grow, a pointer is nil), by a call of the function pusher: 7 bytes less each, and
// no time while they do not happen.
func pushRarely(list []instr, pusher uint64) []instr {
	out := make([]instr, 0, len(list))
	for _, in := range list {
		out = append(out, in)
		if in.op != opStore64 || !ends(out, opIf, opGet, opI32, opI32Sub, opGlobalSet, opGlobalGet, opI64, opStore64) {
			continue
		}
		p := out[len(out)-7:] // behind the if
		if p[1].n != pushed || p[3].n != stackPointer || p[4].n != stackPointer || in.off != 0 {
			continue
		}
		address := p[5]
		out = append(out[:len(out)-6], address, instr{op: opCall, raw: binary.AppendUvarint([]byte{opCall}, pusher)})
	}
	return out
}

const (
	stackPointer = 0 // the global that holds it
	pushed       = 8 // bytes of a return address
)

// pusher is the body of a function of a stack pointer and a return address, which it pushes.
var pusher = []byte{
	0,                                                                      // no locals
	opGet, 0, opI32, pushed, opI32Sub, opTee, 0, opGlobalSet, stackPointer, // the pointer moves
	opGet, 0, opGet, 1, opStore64, 3, 0, opEnd,
}

// pusherType is the type of pusher: i32 and i64, no result.
var pusherType = []byte{0x60, 2, 0x7f, 0x7e, 0}
