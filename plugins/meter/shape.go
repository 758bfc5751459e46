package meter

// Shape describes the imports, exports and sizes of a module without running it. A host checks it
// before it compiles the module.
type Shape struct {
	Imports []Import
	Exports []Export
	// Memory is the memory that the module defines, or nil.
	Memory *Bounds
	// Start reports whether the module runs code during instantiation.
	Start bool
	// Custom lists the names of the custom sections in file order.
	Custom []string
}

// Kind is the kind of an import or export, numbered as in the binary format.
type Kind byte

// Kinds of imports and exports.
const (
	KindFunc   Kind = 0
	KindTable  Kind = 1
	KindMemory Kind = 2
	KindGlobal Kind = 3
)

// String returns the keyword of the text format.
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

// FuncType is a signature. Params and Results have one byte per value, as in the binary format:
// 0x7f i32, 0x7e i64, 0x7d f32, 0x7c f64.
type FuncType struct{ Params, Results []byte }

// Import is an import of a module. Type is set for functions.
type Import struct {
	Module, Name string
	Kind         Kind
	Type         FuncType
}

// Export is an export of a module. Type is set for functions.
type Export struct {
	Name string
	Kind Kind
	Type FuncType
}

// Bounds are the limits of a memory, in pages of 64 KiB. Max is 0 if the module has no maximum.
type Bounds struct{ Min, Max uint32 }

// Func returns the signature of the exported function name; it reports false if missing.
func (s Shape) Func(name string) (FuncType, bool) {
	for _, e := range s.Exports {
		if e.Name == name && e.Kind == KindFunc {
			return e.Type, true
		}
	}
	return FuncType{}, false
}

// Inspect returns the shape of a module. It fails with the errors of Rewrite.
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
