package main

import (
	"encoding/binary"
	"slices"
)

// instr is one instruction of a function's body. The fields contain what shorten reads; other
// instructions are only bytes.
type instr struct {
	op  byte
	n   int64  // the constant, index, label or address operand
	off uint64 // of a load or store: the offset added to the address; n is the alignment
	// raw contains the encoded instruction; if it is nil, encode derives it from the fields above.
	raw []byte
}

// Instructions that shorten handles by name.
const (
	opNop       = 0x01
	opBlock     = 0x02
	opLoop      = 0x03
	opIf        = 0x04
	opElse      = 0x05
	opEnd       = 0x0b
	opBr        = 0x0c
	opBrIf      = 0x0d
	opBrTable   = 0x0e
	opReturn    = 0x0f
	opCall      = 0x10
	opIndirect  = 0x11
	opDrop      = 0x1a
	opSelect    = 0x1b
	opGet       = 0x20
	opSet       = 0x21
	opTee       = 0x22
	opGlobalGet = 0x23
	opGlobalSet = 0x24
	opLoad      = 0x28 // the first load, 32 bits
	opLoad64    = 0x29
	opStore     = 0x36 // the first store
	opStore64   = 0x37
	opLastStore = 0x3e
	opMemSize   = 0x3f
	opMemGrow   = 0x40
	opI32       = 0x41
	opI64       = 0x42
	opF32       = 0x43
	opF64       = 0x44
	opI32Eqz    = 0x45
	opI64Eqz    = 0x50
	opI32Add    = 0x6a
	opI32Sub    = 0x6b
	opI64Add    = 0x7c
	opWrap      = 0xa7 // i32.wrap_i64
	opExtend    = 0xad // i64.extend_i32_u
	opLastPlain = 0xc4
	opPrefix    = 0xfc

	emptyType = 0x40
)

// decode reads the instructions of a body.
func decode(b []byte) ([]instr, error) {
	list := make([]instr, 0, len(b)/2)
	for at := 0; at < len(b); {
		in, size := decodeOne(b[at:])
		if size <= 0 {
			return nil, errShape
		}
		list = append(list, in)
		at += size
	}
	return list, nil
}

// decodeOne reads an instruction; size is 0 for one that Go's compiler does not emit.
func decodeOne(b []byte) (in instr, size int) {
	in.op = b[0]
	size = 1
	unsigned := func() (v uint64) {
		if size > 0 {
			var n int
			if v, n = binary.Uvarint(b[size:]); n <= 0 {
				size = 0
			} else {
				size += n
			}
		}
		return v
	}
	skip := func(n int) {
		if size += n; size > len(b) {
			size = 0
		}
	}
	switch op := in.op; {
	case op == opBlock, op == opLoop, op == opIf:
		skip(1) // only one-byte types occur
		if size > 0 {
			in.n = int64(b[1])
		}
	case op == opBr, op == opBrIf, op == opCall, op == opGet, op == opSet, op == opTee, op == opGlobalGet,
		op == opGlobalSet:
		in.n = int64(unsigned())
	case op == opBrTable:
		for range unsigned() + 1 {
			unsigned()
		}
	case op == opIndirect:
		unsigned()
		unsigned()
	case op >= opLoad && op <= opLastStore:
		in.n, in.off = int64(unsigned()), unsigned()
	case op == opMemSize, op == opMemGrow:
		skip(1)
	case op == opI32, op == opI64:
		var n int
		if in.n, n = signed(b[1:]); n == 0 {
			return in, 0
		}
		size += n
	case op == opF32:
		skip(4)
	case op == opF64:
		skip(8)
	case op == opPrefix:
		switch kind := unsigned(); {
		case kind < 8: // saturating conversions
		case kind == 10: // memory.copy
			skip(2)
		case kind == 11: // memory.fill
			skip(1)
		default:
			return in, 0
		}
	case op <= opNop, op == opElse, op == opEnd, op == opReturn, op == opDrop, op == opSelect,
		op >= opI32Eqz && op <= opLastPlain:
	default:
		return in, 0
	}
	if size > 0 {
		in.raw = b[:size]
	}
	return in, size
}

// encode writes a list of instructions.
func encode(list []instr) []byte {
	var b []byte
	for _, in := range list {
		if in.raw != nil {
			b = append(b, in.raw...)
			continue
		}
		b = append(b, in.op)
		switch op := in.op; {
		case op == opI32, op == opI64:
			b = appendSigned(b, in.n)
		case op >= opLoad && op <= opLastStore:
			b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(in.n)), in.off)
		case op == opBr, op == opBrIf, op == opGet, op == opSet, op == opTee, op == opGlobalGet:
			b = binary.AppendUvarint(b, uint64(in.n))
		}
	}
	return b
}

// table returns the labels of a br_table, the default one last.
func (in *instr) table() []uint64 {
	count, at := binary.Uvarint(in.raw[1:])
	labels := make([]uint64, count+1)
	for i, at := 0, at+1; i < len(labels); i++ {
		v, n := binary.Uvarint(in.raw[at:])
		labels[i] = v
		at += n
	}
	return labels
}

// setTable replaces the labels of a br_table.
func (in *instr) setTable(labels []uint64) {
	b := binary.AppendUvarint([]byte{opBrTable}, uint64(len(labels)-1))
	for _, l := range labels {
		b = binary.AppendUvarint(b, l)
	}
	in.raw = b
}

// effect returns how many values an instruction pops from the stack and pushes onto it; ok is false
// for instructions with other effects.
func (in *instr) effect() (takes, leaves int, ok bool) {
	switch op := in.op; {
	case op == opNop:
		return 0, 0, true
	case op == opGet, op == opGlobalGet, op >= opI32 && op <= opF64:
		return 0, 1, true
	case op == opTee, op >= opLoad && op < opStore:
		return 1, 1, true
	case op == opI32Eqz, op == opI64Eqz, op >= 0x67 && op <= 0x69, op >= 0x79 && op <= 0x7b, op >= 0x8b && op <= 0x91,
		op >= 0x99 && op <= 0x9f, op >= opWrap && op <= opLastPlain:
		return 1, 1, true // tests, counts, signs and roots, conversions
	case op > opI32Eqz && op < opWrap:
		return 2, 1, true // comparisons and arithmetic
	}
	return 0, 0, false
}

// inverted maps each integer comparison to its negation.
var inverted = map[byte]byte{
	0x46: 0x47, 0x48: 0x4e, 0x49: 0x4f, 0x4a: 0x4c, 0x4b: 0x4d, // i32: eq ne, lt ge, gt le, signed and unsigned
	0x51: 0x52, 0x53: 0x59, 0x54: 0x5a, 0x55: 0x57, 0x56: 0x58, // i64
}

func init() {
	for a, b := range inverted {
		inverted[b] = a
	}
}

// ends reports whether a list ends with the given instructions.
func ends(list []instr, ops ...byte) bool {
	return len(list) >= len(ops) && slices.EqualFunc(list[len(list)-len(ops):], ops,
		func(in instr, op byte) bool { return in.op == op })
}
