package main

import (
	"encoding/binary"
	"slices"
)

// Go's compiler emits straightforward WebAssembly and relies on the compiler in the browser, which
// makes it fast but cannot reduce the download. shorten encodes the same code in fewer bytes,
// function by function:
//
//   - the address of a value on the stack is computed in 32 instead of 64 bits, and moves into the
//     load or store that uses it (a tenth of the code);
//   - a forward jump goes to its target instead of through the table at the head of the function;
//   - a value read in 64 bits and truncated to 32 is read in 32, a comparison and its negation
//     become the opposite comparison, a write and a read of a local become one instruction;
//   - calls for stack growth and for panics push the return address by calling one function.
//
// Calls and blocks are neither moved, removed nor reordered, so every address that the runtime
// knows remains valid.
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

// shortenCode applies shorten to the code section, and removes the bodies of unused functions.
func shortenCode(code []byte, pusher uint64, unused map[int]bool) ([]byte, error) {
	count, n := binary.Uvarint(code)
	out := binary.AppendUvarint(nil, count)
	rest := code[n:]
	for i := range int(count) {
		size, n := binary.Uvarint(rest)
		if n <= 0 || uint64(len(rest)-n) < size {
			return nil, errShape
		}
		body := unreachable
		if !unused[i] {
			var err error
			if body, err = shorten(rest[n:n+int(size)], pusher); err != nil {
				return nil, err
			}
		}
		out = append(binary.AppendUvarint(out, uint64(len(body))), body...)
		rest = rest[n+int(size):]
	}
	return out, nil
}

// simplify replaces short sequences by shorter ones, as soon as their last instruction is read.
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
			if ends(out, opTee, opGlobalSet, opI32, opReturn) { // locals are no longer read
				out = slices.Delete(out, last-3, last-2)
			}
		}
	}
	return out
}

// pushOnce removes a write to the local copy of the stack pointer before a call, which the read of
// the pointer after the call overwrites. The return address is stored via the global instead.
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

// narrow performs operations in 32 bits whose result is truncated to 32 bits.
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

// foldAddresses moves the constant added to an address into the load or store that uses it. That
// addition does not wrap around at 4 GB, but neither does any address that a program computes by
// adding a positive number.
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

// userOf finds the load or store that takes the value on top of the stack as its address. It
// returns -1 if another instruction uses it or the user is unknown.
func userOf(list []instr) int {
	const far = 40
	above := 0 // values above it on the stack
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

// place is the local in which Go's functions store the number of the next block.
const place = 0

// jumpAhead finds the head of a function, a table of blocks inside a loop: a jump writes a number
// to place and branches to the head. If the block of that number ends further on, the jump can
// branch to it directly.
func jumpAhead(list []instr) []instr {
	head := -1
	for i := range list {
		if in := &list[i]; in.n == place && (in.op == opGet || in.op == opTee) {
			if head >= 0 || in.op == opTee || i+1 >= len(list) || list[i+1].op != opBrTable {
				return list // another instruction reads it
			}
			head = i + 1
		}
	}
	if head < 0 {
		return list
	}
	var open []int // the instructions that opened the open blocks, innermost last
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
				break // a backward jump
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

// at returns the instruction that opened a label.
func at(open []int, label uint64) int {
	if label >= uint64(len(open)) {
		return -1
	}
	return open[len(open)-1-int(label)]
}

// trim removes trailing entries that equal the default, which is the last.
func trim(labels []uint64) []uint64 {
	last := len(labels) - 1
	n := last
	for n > 0 && labels[n-1] == labels[last] {
		n--
	}
	return append(labels[:n:n], labels[last])
}

// pushRarely replaces the push of return addresses for rare calls, which are the first instruction
// inside an if (stack growth, nil pointers), by a call of the function pusher: 7 bytes less each,
// and no cost unless they happen.
func pushRarely(list []instr, pusher uint64) []instr {
	out := make([]instr, 0, len(list))
	for _, in := range list {
		out = append(out, in)
		if in.op != opStore64 || !ends(out, opIf, opGet, opI32, opI32Sub, opGlobalSet, opGlobalGet, opI64, opStore64) {
			continue
		}
		p := out[len(out)-7:] // after the if
		if p[1].n != pushed || p[3].n != stackPointer || p[4].n != stackPointer || in.off != 0 {
			continue
		}
		address := p[5]
		out = append(out[:len(out)-6], address, instr{op: opCall, raw: binary.AppendUvarint([]byte{opCall}, pusher)})
	}
	return out
}

const (
	stackPointer = 0 // the global with the stack pointer
	pushed       = 8 // size of a return address
)

// pusher is the body of a function that pushes a return address: parameters stack pointer, address.
var pusher = []byte{
	0,                                                                      // no locals
	opGet, 0, opI32, pushed, opI32Sub, opTee, 0, opGlobalSet, stackPointer, // the pointer moves
	opGet, 0, opGet, 1, opStore64, 3, 0, opEnd,
}

// pusherType is the type of pusher: i32 and i64, no result.
var pusherType = []byte{0x60, 2, 0x7f, 0x7e, 0}
