package meter

import "bytes"

// Section ids of the binary format.
const (
	secCustom = iota
	secType
	secImport
	secFunction
	secTable
	secMemory
	secGlobal
	secExport
	secStart
	secElement
	secCode
	secData
	secDataCount
)

const (
	funcRef   = 0x70
	externRef = 0x6f
	maxPages  = 1 << 16
)

var (
	header    = []byte{0, 'a', 's', 'm', 1, 0, 0, 0}
	component = []byte{0, 'a', 's', 'm', 13, 0, 1, 0}
)

// order is the position of each section id in a file; custom sections may appear anywhere.
var order = [...]int{
	secType: 1, secImport: 2, secFunction: 3, secTable: 4, secMemory: 5, secGlobal: 6, secExport: 7,
	secStart: 8, secElement: 9, secDataCount: 10, secCode: 11, secData: 12,
}

// section is a section of the file; start and end delimit its payload.
type section struct {
	id         byte
	start, end int
	name       string // custom sections only; start is then after the name
}

// limit is the size and the maximum of a memory or table.
type limit struct {
	min, max uint32
	hasMax   bool
}

type export struct {
	name  string
	kind  Kind
	index uint32
}

// module contains the parts that the rewriter needs before it reads code.
type module struct {
	src           []byte
	sections      []section
	types         []FuncType
	imports       []Import
	importedFuncs uint32
	funcs         []uint32 // type index of every function, imported ones first
	tables        []limit
	tableTypes    []byte
	memories      []limit
	globals       uint32 // imported and defined
	exports       []export
	blocks        map[string]uint32 // type index of a block by its results, for two and more
	more          [][]byte          // results of the block types that the module lacks
}

func parse(wasm []byte) (*module, error) {
	if bytes.HasPrefix(wasm, component) {
		return nil, unsupported(0, "a component of the component model; core modules run here, such as Extism plugins")
	}
	if !bytes.HasPrefix(wasm, header) {
		return nil, malformed(0, "no WebAssembly header of version 1")
	}
	m := &module{src: wasm}
	if err := m.split(); err != nil {
		return nil, err
	}
	for _, part := range []struct {
		id   byte
		read func(*reader)
	}{
		{secType, m.readTypes},
		{secImport, m.readImports},
		{secFunction, m.readFuncs},
		{secTable, m.readTables},
		{secMemory, m.readMemories},
		{secGlobal, m.readGlobals},
		{secExport, m.readExports},
	} {
		sec := m.find(part.id)
		if sec == nil {
			continue
		}
		r := m.reader(sec)
		part.read(r)
		if r.err == nil && r.pos != r.end {
			r.fail(malformed(r.pos, "section %d has %d bytes too many", part.id, r.end-r.pos))
		}
		if r.err != nil {
			return nil, r.err
		}
	}
	return m, nil
}

func (m *module) split() error {
	r := &reader{buf: m.src, pos: len(header), end: len(m.src)}
	last := 0
	for r.more() {
		at := r.pos
		id := r.byte()
		size := r.u32()
		if uint64(size) > uint64(r.end-r.pos) {
			r.fail(malformed(at, "section %d wants %d bytes, has %d", id, size, r.end-r.pos))
			break
		}
		sec := section{id: id, start: r.pos, end: r.pos + int(size)}
		switch {
		case int(id) >= len(order):
			return unsupported(at, "section %d", id)
		case id == secCustom:
			in := &reader{buf: m.src, pos: sec.start, end: sec.end}
			sec.name = in.name()
			sec.start = in.pos
			if in.err != nil {
				return in.err
			}
		case order[id] <= last:
			return malformed(at, "section %d is out of order", id)
		default:
			last = order[id]
		}
		if m.sections = append(m.sections, sec); len(m.sections) > maxSections {
			return overLimit("more than %d sections", maxSections)
		}
		r.pos = sec.end
	}
	return r.err
}

func (m *module) find(id byte) *section {
	for i := range m.sections {
		if m.sections[i].id == id {
			return &m.sections[i]
		}
	}
	return nil
}

func (m *module) reader(s *section) *reader { return &reader{buf: m.src, pos: s.start, end: s.end} }

func (m *module) readTypes(r *reader) {
	for n := r.count("types"); n > 0 && r.err == nil; n-- {
		at := r.pos
		if form := r.byte(); r.err == nil && form != 0x60 {
			r.fail(unsupported(at, "type form 0x%02x", form))
		}
		m.types = append(m.types, FuncType{Params: readVals(r), Results: readVals(r)})
	}
}

func readVals(r *reader) []byte {
	start := r.pos
	n := r.count("value types")
	from := r.pos
	for i := 0; i < n && r.err == nil; i++ {
		r.valType()
	}
	if r.err != nil || from > r.pos || start == r.pos {
		return nil
	}
	return r.buf[from:r.pos]
}

func (m *module) readImports(r *reader) {
	for n := r.count("imports"); n > 0 && r.err == nil; n-- {
		imp := Import{Module: r.name(), Name: r.name()}
		at := r.pos
		imp.Kind = Kind(r.byte())
		switch imp.Kind {
		case KindFunc:
			imp.Type = m.typeAt(r, m.typeIndex(r))
			m.importedFuncs++
		case KindTable:
			m.readTable(r)
		case KindMemory:
			m.memories = append(m.memories, readLimit(r))
		case KindGlobal:
			r.valType()
			r.byte()
			m.globals++
		default:
			r.fail(unsupported(at, "import kind %d", imp.Kind))
		}
		m.imports = append(m.imports, imp)
	}
}

// typeIndex reads the type of a function and records the function.
func (m *module) typeIndex(r *reader) uint32 {
	at := r.pos
	i := r.u32()
	if r.err == nil && i >= uint32(len(m.types)) {
		r.fail(malformed(at, "type %d of %d", i, len(m.types)))
		return 0
	}
	m.funcs = append(m.funcs, i)
	return i
}

func (m *module) typeAt(r *reader, i uint32) FuncType {
	if r.err != nil {
		return FuncType{}
	}
	return m.types[i]
}

func (m *module) readFuncs(r *reader) {
	for n := r.count("functions"); n > 0 && r.err == nil; n-- {
		m.typeIndex(r)
	}
}

func (m *module) readTables(r *reader) {
	for n := r.count("tables"); n > 0 && r.err == nil; n-- {
		m.readTable(r)
	}
}

func (m *module) readTable(r *reader) {
	m.tableTypes = append(m.tableTypes, r.refType())
	m.tables = append(m.tables, readLimit(r))
}

func (m *module) readMemories(r *reader) {
	for n := r.count("memories"); n > 0 && r.err == nil; n-- {
		at := r.pos
		l := readLimit(r)
		if l.min > maxPages || l.max > maxPages {
			r.fail(malformed(at, "memory of %d to %d pages", l.min, l.max))
		}
		m.memories = append(m.memories, l)
	}
}

func readLimit(r *reader) limit {
	at := r.pos
	flag := r.byte()
	if r.err == nil && flag > 1 {
		r.fail(unsupported(at, "limits flag %d", flag))
	}
	l := limit{min: r.u32(), hasMax: flag == 1}
	if l.hasMax {
		l.max = r.u32()
	}
	return l
}

func (m *module) readGlobals(r *reader) {
	for n := r.count("globals"); n > 0 && r.err == nil; n-- {
		r.valType()
		r.byte()
		m.copyExpr(nil, r)
		m.globals++
	}
}

func (m *module) readExports(r *reader) {
	for n := r.count("exports"); n > 0 && r.err == nil; n-- {
		e := export{name: r.name()}
		at := r.pos
		e.kind = Kind(r.byte())
		e.index = r.u32()
		if r.err != nil {
			return
		}
		known := uint32(0)
		switch e.kind {
		case KindFunc:
			known = uint32(len(m.funcs))
		case KindTable:
			known = uint32(len(m.tables))
		case KindMemory:
			known = uint32(len(m.memories))
		case KindGlobal:
			known = m.globals
		default:
			r.fail(unsupported(at, "export kind %d", e.kind))
			return
		}
		if e.index >= known {
			r.fail(malformed(at, "export %q names %s %d of %d", e.name, e.kind, e.index, known))
		}
		m.exports = append(m.exports, e)
	}
}
