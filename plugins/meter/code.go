package meter

// maxLocals is the number of locals per function that every runtime accepts.
const maxLocals = 50_000

// Weights of the region that one unit of fuel covers. A call weighs as much as the largest function
// that does not count itself.
const (
	callWeight  = 32
	freeWeight  = 32
	unitWeight  = 256
	growCost    = 1000 // memory.grow copies the memory
	bulkMinimum = 1024 // bulk instructions of less than this are free
)

type editKind byte

const (
	editNone    editKind = iota // no replacement: the edit turned out to be unnecessary
	editFunc                    // shifts a function index by one
	editLabel                   // adjusts a branch out of wrapped loops (loop.go)
	editReturn                  // branches out of the body instead of returning
	editEnter                   // takes value units, and the frame of a calling function (depth.go); first with a scratch local
	editLeave                   // releases the frame
	editWrap                    // opens the blocks around a loop whose type takes value bytes
	editHeader                  // takes value units at the header of a wrapped loop
	editUnwrap                  // closes the blocks; value is the charge of the header
	editCharge                  // takes value units inline
	editBulk                    // takes length >> value units before a bulk instruction
	editRefused                 // checks the result of memory.grow
)

// edit replaces skip bytes at source position at.
type edit struct {
	at    int
	skip  int
	kind  editKind
	value uint32
}

// frame is an open block. The frame of a loop stores the region that the header pays for.
type frame struct {
	loop    bool
	wrapped bool // blocks surround this loop
	wraps   int  // wrapped loops from the outermost frame to this one
	parent  region
}

// region is a stretch of code that runs at most once per charge.
type region struct {
	edit   int // index of the charge
	weight uint32
}

// scanner finds the edits of one function body. It is reused for all bodies.
type scanner struct {
	m       *module
	r       *reader
	edits   []edit
	frames  []frame
	now     region
	calls   bool
	entered bool   // the body is wrapped
	locals  uint32 // parameters and locals of the function
	costs   complexity
}

// scan reads the instructions up to the end of the body.
func (s *scanner) scan(r *reader, locals uint32) {
	s.r, s.locals, s.calls = r, locals, false
	s.edits = append(s.edits[:0], edit{at: r.pos, kind: editEnter})
	s.frames = append(s.frames[:0], frame{})
	s.now = region{}
	s.costs.begin(r)
	for len(s.frames) > 0 {
		if !r.more() {
			r.fail(malformed(r.pos, "function body ends inside a block"))
			return
		}
		s.instruction()
	}
	s.edits[0].value = 1 + s.now.weight/unitWeight
	s.entered = s.calls || s.now.weight > freeWeight
	if s.entered {
		s.edits = append(s.edits, edit{at: r.pos - 1, kind: editLeave, value: s.edits[0].value})
	} else {
		s.edits[0].kind = editNone
	}
	if !s.calls {
		s.removeReturns()
	}
	if r.err == nil && r.pos != r.end {
		r.fail(malformed(r.pos, "function body continues after its end"))
	}
}

// removeReturns removes the edits of returns: there is no frame to release.
func (s *scanner) removeReturns() {
	for i := range s.edits {
		if ed := &s.edits[i]; ed.kind == editReturn {
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
		if op == opBr || op == opBrIf {
			s.label()
		} else {
			r.u32()
		}
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
		s.open(frame{})
	case opLoop:
		s.loop(at)
	case opElse:
	case opReturn:
		s.edits = append(s.edits, edit{at: at, skip: 1, kind: editReturn, value: s.outwards(len(s.frames) - 1)})
	case opEnd:
		s.end()
	case opBrTable:
		n := r.count("branch targets") + 1
		for s.costs.branch(r, n); n > 0 && r.err == nil; n-- {
			s.label()
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

// skipConst skips the operand of a constant.
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

func (s *scanner) callWeight() {
	s.calls = true
	s.now.weight += callWeight
}

// funcIndex reads a function index and adds an edit that shifts it, unless it is an import.
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

// blockType reads the type of a block and reports whether it takes parameters.
func (s *scanner) blockType() (params bool) {
	at := s.r.pos
	if at < s.r.end {
		if b := s.r.buf[at]; b == blockEmpty || isValType(b) {
			s.r.pos++
			return false
		}
	}
	t := s.r.signed(33)
	if s.r.err == nil && t < 0 {
		s.r.fail(unsupported(at, "block type %d", t))
	}
	if s.r.err != nil {
		return false
	}
	s.knownType(uint32(t), at)
	return s.r.err == nil && len(s.m.types[t].Params) > 0
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
