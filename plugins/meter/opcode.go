package meter

// Instructions that the scanner handles by name.
const (
	opUnreachable  = 0x00
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opElse         = 0x05
	opEnd          = 0x0b
	opBr           = 0x0c
	opBrIf         = 0x0d
	opBrTable      = 0x0e
	opReturn       = 0x0f
	opCall         = 0x10
	opCallIndirect = 0x11
	opDrop         = 0x1a
	opSelectTyped  = 0x1c
	opLocalGet     = 0x20
	opLocalTee     = 0x22
	opGlobalGet    = 0x23
	opGlobalSet    = 0x24
	opMemoryGrow   = 0x40
	opI32Const     = 0x41
	opI64Const     = 0x42
	opF32Const     = 0x43
	opF64Const     = 0x44
	opI32Eq        = 0x46
	opI32LtS       = 0x48
	opI32GeU       = 0x4f
	opI32Add       = 0x6a
	opI32Sub       = 0x6b
	opI32Or        = 0x72
	opI32ShrU      = 0x76
	opRefNull      = 0xd0
	opRefFunc      = 0xd2
	opPrefixMisc   = 0xfc
	opPrefixSIMD   = 0xfd
	blockEmpty     = 0x40
	valI32         = 0x7f
)

// immediates is the format of an instruction's operands.
type immediates byte

const (
	immUnknown immediates = iota
	immNone
	immIndex   // one u32
	immMemory  // alignment and offset
	immZero    // one byte that must be 0
	immSpecial // handled by name in the scanner
)

// core lists the operands of each one-byte opcode of WebAssembly 2.0.
var core = func() (t [256]immediates) {
	set := func(kind immediates, from, to int) {
		for i := from; i <= to; i++ {
			t[i] = kind
		}
	}
	set(immNone, 0x00, 0x01)    // unreachable, nop
	set(immSpecial, 0x02, 0x05) // block, loop, if, else
	set(immSpecial, 0x0b, 0x0b) // end
	set(immIndex, 0x0c, 0x0d)   // br, br_if
	set(immSpecial, 0x0e, 0x0e) // br_table
	set(immSpecial, 0x0f, 0x0f) // return
	set(immSpecial, 0x10, 0x11) // call, call_indirect
	set(immNone, 0x1a, 0x1b)    // drop, select
	set(immSpecial, 0x1c, 0x1c) // select t
	set(immSpecial, 0x20, 0x24) // local.*, global.*
	set(immIndex, 0x25, 0x26)   // table.get, table.set
	set(immMemory, 0x28, 0x3e)  // loads and stores
	set(immZero, 0x3f, 0x3f)    // memory.size
	set(immSpecial, 0x40, 0x44) // memory.grow, constants
	set(immNone, 0x45, 0xc4)    // numeric
	set(immSpecial, 0xd0, 0xd0) // ref.null
	set(immNone, 0xd1, 0xd1)    // ref.is_null
	set(immSpecial, 0xd2, 0xd2) // ref.func
	set(immSpecial, 0xfc, 0xfd) // prefixes
	return t
}()

// misc lists the instructions with the 0xfc prefix: the number of u32 indices, and by how much the
// length on the stack is shifted right to give units of fuel (0: free).
var misc = [...]struct{ indices, shift byte }{
	0: {}, 1: {}, 2: {}, 3: {}, 4: {}, 5: {}, 6: {}, 7: {}, // saturating truncations
	8:  {2, perKiB}, // memory.init
	9:  {1, 0},      // data.drop
	10: {2, perKiB}, // memory.copy
	11: {1, perKiB}, // memory.fill
	12: {2, perRow}, // table.init
	13: {1, 0},      // elem.drop
	14: {2, perRow}, // table.copy
	15: {1, perRow}, // table.grow
	16: {1, 0},      // table.size
	17: {1, perRow}, // table.fill
}

const (
	perKiB = 10 // bytes to units
	perRow = 7  // table entries, 8 bytes each, to units
)

// simdGap lists the opcodes below 256 that are unassigned after the 0xfd prefix.
var simdGap = map[uint32]bool{
	154: true, 162: true, 165: true, 166: true, 175: true, 176: true, 178: true, 179: true, 180: true, 187: true,
	194: true, 197: true, 198: true, 207: true, 208: true, 210: true, 211: true, 212: true, 226: true, 238: true,
}

// skipSIMD skips one instruction after the 0xfd prefix.
func skipSIMD(r *reader) {
	at := r.pos
	switch n := r.u32(); {
	case n >= 256 || simdGap[n]:
		r.fail(unsupported(at, "vector instruction %d", n))
	case n <= 11 || n == 92 || n == 93:
		skipMemory(r)
	case n == 12 || n == 13:
		r.bytes(16)
	case n >= 84 && n <= 91:
		skipMemory(r)
		r.byte()
	case n >= 21 && n <= 34:
		r.byte()
	}
}

// skipMemory skips alignment and offset. Alignments of 32 and more denote the multi-memory
// extension.
func skipMemory(r *reader) {
	at := r.pos
	if r.u32() >= 32 {
		r.fail(unsupported(at, "memory index on an access"))
	}
	r.u32()
}
