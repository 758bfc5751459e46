package meter

// Shape is what a module says about itself without running: what it needs and
// what it offers. A host checks it before it compiles anything.
type Shape struct {
	Imports []Import
	Exports []Export
	// Memory is the module's own memory; nil when it has none.
	Memory *Bounds
	// Start says that the module runs code while it is instantiated.
	Start bool
	// Custom holds the names of the custom sections in file order.
	Custom []string
}

// Kind is the kind of an import or export, as the binary format numbers it.
type Kind byte

// The kinds of imports and exports.
const (
	KindFunc   Kind = 0
	KindTable  Kind = 1
	KindMemory Kind = 2
	KindGlobal Kind = 3
)

// String returns the word the text format uses.
func (k Kind) String() string {
	switch k {
	case KindFunc:
		return "func"
	case KindTable:
		return "table"
	case KindMemory:
		return "memory"
	case KindGlobal:
		return "global"
	}
	return "unknown kind"
}

// FuncType is a signature. Params and Results hold one byte per value, as the
// binary format writes them: 0x7f i32, 0x7e i64, 0x7d f32, 0x7c f64.
type FuncType struct{ Params, Results []byte }

// Import is one thing a module needs. Type is set for functions.
type Import struct {
	Module, Name string
	Kind         Kind
	Type         FuncType
}

// Export is one thing a module offers. Type is set for functions.
type Export struct {
	Name string
	Kind Kind
	Type FuncType
}

// Bounds are the limits of a memory, in pages of 64 KiB. Max is 0 when the
// module names none.
type Bounds struct{ Min, Max uint32 }

// Func returns the signature of the exported function name, and whether there is one.
func (s Shape) Func(name string) (FuncType, bool) {
	for _, e := range s.Exports {
		if e.Name == name && e.Kind == KindFunc {
			return e.Type, true
		}
	}
	return FuncType{}, false
}

// Inspect reads the shape of a module. Errors are those of Rewrite.
func Inspect(wasm []byte) (Shape, error) {
	m, err := parse(wasm)
	if err != nil {
		return Shape{}, err
	}
	s := Shape{Imports: m.imports, Start: m.find(secStart) != nil}
	for _, e := range m.exports {
		out := Export{Name: e.name, Kind: e.kind}
		if e.kind == KindFunc {
			out.Type = m.types[m.funcs[e.index]]
		}
		s.Exports = append(s.Exports, out)
	}
	if len(m.memories) > 0 {
		s.Memory = &Bounds{Min: m.memories[0].min, Max: m.memories[0].max}
	}
	for _, sec := range m.sections {
		if sec.id == secCustom {
			s.Custom = append(s.Custom, sec.name)
		}
	}
	return s, nil
}
