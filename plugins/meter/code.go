package meter

// maxLocals is what every runtime accepts in one function.
const maxLocals = 50_000

// Weights of the region a unit of fuel pays for. A call weighs as much as the
// largest function that does not count itself.
const (
	callWeight  = 32
	freeWeight  = 32
	unitWeight  = 256
	growCost    = 1000 // memory.grow copies the memory
	bulkMinimum = 1024 // bulk instructions below it are free
)

type editKind byte

const (
	editNone    editKind = iota // replaces nothing: a region that turned out free
	editFunc                    // a function index that moved by one
	editCharge                  // takes value units
	editBulk                    // takes length >> value units before a bulk instruction
	editRefused                 // looks at the result of memory.grow
	editEnter                   // takes the frame of the function
	editReturn                  // branches value blocks outwards instead of returning
	editLeave                   // gives the frame back
)

// edit is one change: at source position at, skip bytes are replaced.
type edit struct {
	at    int
	skip  int
	kind  editKind
	value uint32
}

// frame is an open block; loops carry the region their header pays for.
type frame struct {
	loop   bool
	parent region
}

// region is a stretch of code that runs at most once per charge.
type region struct {
	edit   int // index of the charge
	weight uint32
}

// scanner finds the edits of one function body. It is reused from body to body.
type scanner struct {
	m      *module
	r      *reader
	edits  []edit
	frames []frame
	now    region
	calls  bool
	locals uint32 // parameters and locals of the function
}

// scan reads the instructions up to the end of the body.
func (s *scanner) scan(r *reader, locals uint32) {
	s.r, s.locals, s.calls = r, locals, false
	s.edits = append(s.edits[:0], edit{at: r.pos, kind: editCharge}, edit{at: r.pos, kind: editEnter})
	s.frames = append(s.frames[:0], frame{})
	s.now = region{}
	for len(s.frames) > 0 {
		if !r.more() {
			r.fail(malformed(r.pos, "function body ends inside a block"))
			return
		}
		s.instruction()
	}
	s.edits[0].value = 1 + s.now.weight/unitWeight
	if !s.calls && s.now.weight <= freeWeight {
		s.edits[0].kind = editNone
	}
	s.edits = append(s.edits, edit{at: r.pos - 1, kind: editLeave})
	if !s.calls {
		s.keepFrame()
	}
	if r.err == nil && r.pos != r.end {
		r.fail(malformed(r.pos, "function body goes on after its end"))
	}
}

// keepFrame takes the edits of the stack budget back: a function that calls nothing does not recurse.
func (s *scanner) keepFrame() {
	for i := range s.edits {
		if ed := &s.edits[i]; ed.kind >= editEnter {
			ed.kind, ed.skip = editNone, 0
		}
	}
}

func (s *scanner) instruction() {
	r := s.r
	at := r.pos
	op := r.byte()
	s.now.weight++
	switch core[op] {
	case immNone:
	case immIndex:
		r.u32()
	case immMemory:
		skipMemory(r)
	case immZero:
		if r.byte() != 0 {
			r.fail(unsupported(at, "memory index on instruction 0x%02x", op))
		}
	case immSpecial:
		s.special(at, op)
	default:
		r.fail(unsupported(at, "instruction 0x%02x", op))
	}
}

func (s *scanner) special(at int, op byte) {
	r := s.r
	switch op {
	case opBlock, opIf:
		s.blockType()
		s.frames = append(s.frames, frame{})
	case opLoop:
		s.blockType()
		s.frames = append(s.frames, frame{loop: true, parent: s.now})
		s.now = region{edit: len(s.edits)}
		s.edits = append(s.edits, edit{at: r.pos, kind: editCharge})
	case opElse:
	case opReturn:
		s.edits = append(s.edits, edit{at: at, skip: 1, kind: editReturn, value: uint32(len(s.frames) - 1)})
	case opEnd:
		s.end()
	case opBrTable:
		for n := r.count("branch targets") + 1; n > 0 && r.err == nil; n-- {
			r.u32()
			s.now.weight++
		}
	case opCall:
		s.callWeight()
		s.funcIndex()
	case opCallIndirect:
		s.callWeight()
		s.knownType(r.u32(), at)
		r.u32()
	case opSelectTyped:
		for n := r.count("select types"); n > 0 && r.err == nil; n-- {
			r.valType()
		}
	case opLocalGet, opLocalGet + 1, opLocalTee:
		if i := r.u32(); i >= s.locals {
			r.fail(malformed(at, "local %d of %d", i, s.locals))
		}
	case opGlobalGet, opGlobalSet:
		if i := r.u32(); i >= s.m.globals {
			r.fail(malformed(at, "global %d of %d", i, s.m.globals))
		}
	case opMemoryGrow:
		if r.byte() != 0 {
			r.fail(unsupported(at, "memory index on memory.grow"))
		}
		s.edits = append(s.edits, edit{at: at, kind: editCharge, value: growCost}, edit{at: r.pos, kind: editRefused})
	case opPrefixMisc:
		s.misc(at)
	case opPrefixSIMD:
		skipSIMD(r)
	case opRefFunc:
		s.funcIndex()
	default:
		skipConst(r, op)
	}
}

// skipConst moves past the operand of a constant.
func skipConst(r *reader, op byte) {
	switch op {
	case opI32Const:
		r.signed(32)
	case opI64Const:
		r.signed(64)
	case opF32Const:
		r.bytes(4)
	case opF64Const:
		r.bytes(8)
	case opRefNull:
		r.refType()
	}
}

func (s *scanner) end() {
	top := s.frames[len(s.frames)-1]
	s.frames = s.frames[:len(s.frames)-1]
	if top.loop {
		s.edits[s.now.edit].value = 1 + s.now.weight/unitWeight
		s.now = top.parent
	}
}

func (s *scanner) callWeight() {
	s.calls = true
	s.now.weight += callWeight
}

// funcIndex reads a function index and notes that it moves, when it is not an import.
func (s *scanner) funcIndex() {
	at := s.r.pos
	i := s.r.u32()
	if s.r.err == nil && i >= uint32(len(s.m.funcs)) {
		s.r.fail(malformed(at, "function %d of %d", i, len(s.m.funcs)))
		return
	}
	if i >= s.m.importedFuncs {
		s.edits = append(s.edits, edit{at: at, skip: s.r.pos - at, kind: editFunc, value: i + 1})
	}
}

func (s *scanner) blockType() {
	at := s.r.pos
	if at < s.r.end {
		if b := s.r.buf[at]; b == blockEmpty || isValType(b) {
			s.r.pos++
			return
		}
	}
	t := s.r.signed(33)
	if s.r.err == nil && t < 0 {
		s.r.fail(unsupported(at, "block type %d", t))
		return
	}
	s.knownType(uint32(t), at)
}

func (s *scanner) knownType(i uint32, at int) {
	if s.r.err == nil && i >= uint32(len(s.m.types)) {
		s.r.fail(malformed(at, "type %d of %d", i, len(s.m.types)))
	}
}

func (s *scanner) misc(at int) {
	n := s.r.u32()
	if n >= uint32(len(misc)) {
		s.r.fail(unsupported(at, "instruction 0xfc %d", n))
		return
	}
	for i := byte(0); i < misc[n].indices; i++ {
		s.r.u32()
	}
	if misc[n].shift != 0 {
		s.edits = append(s.edits, edit{at: at, kind: editBulk, value: uint32(misc[n].shift)})
	}
}
