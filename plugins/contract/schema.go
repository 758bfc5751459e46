package contract

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/stable"
)

// Schema is the part of JSON Schema that manifests use for params, arguments and outputs: type,
// properties, required, additionalProperties, items, enum, const, anyOf, the size limits and
// default. Unknown keywords are ignored and references are not followed, so that no untrusted
// schema can loop. A nil Schema allows everything.
type Schema struct {
	plain      engine.Value // known keywords only, properties sorted by name
	types      []string     // empty allows every type
	names      []string     // of properties, sorted
	properties map[string]*Schema
	required   []string
	rest       *Schema // of members that are not declared
	closed     bool    // no other members are allowed
	items      *Schema
	enum       []engine.Value
	constant   engine.Value
	constrains bool // constant is set
	anyOf      []*Schema
	sizes      sizes
	branch     bool // x-easel-branch
	reference  bool
}

// sizes are the limits of a schema; null is unlimited.
type sizes struct{ minimum, maximum, minLength, maxLength, minItems, maxItems engine.Value }

// Limits of schemas, which are untrusted and with which every output is compared.
const (
	maxSchemas     = 2_000 // in one manifest
	maxSchemaDepth = 50    // of one in another
)

var typeNames = []string{"string", "number", "integer", "boolean", "array", "object", "null"}

// Value returns the schema in its plain form: known keywords only, properties sorted by name, so
// that every host derives the same component from a manifest. A nil Schema is null.
func (s *Schema) Value() engine.Value {
	if s == nil {
		return engine.Null
	}
	return s.plain
}

// Property returns the schema of a member, and whether the member is declared.
func (s *Schema) Property(name string) (*Schema, bool) {
	if s == nil {
		return nil, false
	}
	p, ok := s.properties[name]
	return p, ok
}

// Names returns the declared members, sorted.
func (s *Schema) Names() []string {
	if s == nil {
		return nil
	}
	return s.names
}

// Types returns the allowed types; an empty list means any.
func (s *Schema) Types() []string {
	if s == nil {
		return nil
	}
	return s.types
}

// Enum returns the allowed values; an empty list means any.
func (s *Schema) Enum() []engine.Value {
	if s == nil {
		return nil
	}
	return s.enum
}

// Required returns the members that must be present, in the order of the manifest.
func (s *Schema) Required() []string {
	if s == nil {
		return nil
	}
	return s.required
}

// Description returns the text for users.
func (s *Schema) Description() string { return s.Value().Get("description").Str() }

// Default returns the value of a missing member; null without a default.
func (s *Schema) Default() engine.Value { return s.Value().Get("default") }

// Branches returns the properties that are branches of a node (x-easel-branch): each contains the
// ids of the next nodes.
func (s *Schema) Branches() (names []string) {
	for _, name := range s.Names() {
		if p, _ := s.Property(name); p.branch {
			names = append(names, name)
		}
	}
	return names
}

// Reference reports whether a form offers references to outputs of other nodes (x-easel-ref).
func (s *Schema) Reference() bool { return s != nil && s.reference }

// MarshalJSON writes the plain form.
func (s *Schema) MarshalJSON() ([]byte, error) { return s.Value().AppendJSON(nil), nil }

// ReadSchema reads a schema; path is its position in error messages. Null is the nil Schema.
func ReadSchema(path string, v engine.Value) (*Schema, error) {
	return (&schemaReader{left: maxSchemas}).read(path, v, 0)
}

// schemaReader reads the schemas of one manifest.
type schemaReader struct{ left int }

func (r *schemaReader) read(path string, v engine.Value, depth int) (*Schema, error) {
	if v.IsNull() {
		return nil, nil
	}
	if r.left--; r.left < 0 {
		return nil, fmt.Errorf("%s: more than %d schemas", path, maxSchemas)
	}
	if depth > maxSchemaDepth {
		return nil, fmt.Errorf("%s: nested more than %d deep", path, maxSchemaDepth)
	}
	var err error
	b := &schemaBuilder{object: readObject(path, v, &err), reader: r, depth: depth, plain: newWriter()}
	return b.build(), err
}

// schemaBuilder builds one Schema from its document.
type schemaBuilder struct {
	*object
	reader *schemaReader
	depth  int
	plain  writer
}

func (b *schemaBuilder) build() *Schema {
	s := &Schema{types: b.types()}
	b.plain.text("description", b.text("description"))
	b.members(s)
	s.required = b.texts("required")
	b.plain.texts("required", s.required)
	b.additional(s)
	s.items = b.inner("items")
	s.enum = b.enum()
	if s.constant, s.constrains = b.v.Lookup("const"); s.constrains {
		b.plain.b.Set("const", s.constant)
	}
	b.alternatives(s)
	b.plain.value("default", b.v.Get("default"))
	s.sizes = sizes{
		minimum: b.limit("minimum"), maximum: b.limit("maximum"),
		minLength: b.count("minLength"), maxLength: b.count("maxLength"),
		minItems: b.count("minItems"), maxItems: b.count("maxItems"),
	}
	s.reference = b.flag("x-easel-ref")
	b.plain.flag("x-easel-ref", s.reference)
	s.branch = b.flag("x-easel-branch")
	b.plain.flag("x-easel-branch", s.branch)
	s.plain = b.plain.b.Value()
	return s
}

func (b *schemaBuilder) types() []string {
	var out []string
	if t := b.v.Get("type"); t.Kind() == engine.KindString {
		out = []string{t.Str()}
	} else {
		out = b.texts("type")
	}
	for _, t := range out {
		if !slices.Contains(typeNames, t) {
			b.fail("", "type %q: want %s", short(t), strings.Join(typeNames, ", "))
		}
	}
	if len(out) == 1 {
		b.plain.text("type", out[0])
	} else {
		b.plain.texts("type", out)
	}
	return out
}

func (b *schemaBuilder) enum() []engine.Value {
	v := b.member("enum", engine.KindList)
	if v.Len() == 0 {
		return nil
	}
	b.plain.value("enum", v)
	return v.Slice()
}

func (b *schemaBuilder) limit(name string) engine.Value {
	v := b.member(name, engine.KindNumber)
	b.plain.value(name, v)
	return v
}

func (b *schemaBuilder) count(name string) engine.Value {
	if b.whole(name) < 0 {
		b.fail(name, "want a whole number from 0")
	}
	return b.limit(name)
}

// read reads a schema inside this one.
func (b *schemaBuilder) read(place string, v engine.Value) *Schema {
	if *b.err != nil {
		return nil
	}
	s, err := b.reader.read(b.at(place), v, b.depth+1)
	if err != nil {
		*b.err = err
	}
	return s
}

func (b *schemaBuilder) members(s *Schema) {
	from := b.member("properties", engine.KindObject)
	if from.Len() == 0 {
		return
	}
	for i := range from.Len() {
		s.names = append(s.names, from.Key(i))
	}
	s.names = stable.Strings(s.names)
	s.properties = make(map[string]*Schema, from.Len())
	plain := engine.NewObject(from.Len())
	for _, name := range s.names {
		p := b.read(name, from.Get(name))
		s.properties[name] = p
		plain.Set(name, p.Value())
	}
	b.plain.object("properties", plain.Value())
}

func (b *schemaBuilder) inner(name string) *Schema {
	s := b.read(name, b.v.Get(name))
	b.plain.value(name, s.Value())
	return s
}

func (b *schemaBuilder) additional(s *Schema) {
	const name = "additionalProperties"
	if v := b.v.Get(name); v.Kind() == engine.KindBool {
		s.closed = !v.True()
		b.plain.value(name, v)
		return
	}
	s.rest = b.inner(name)
}

func (b *schemaBuilder) alternatives(s *Schema) {
	from := b.member("anyOf", engine.KindList)
	if from.Len() == 0 {
		return
	}
	plain := make([]engine.Value, 0, from.Len())
	for i := range from.Len() {
		one := b.read("anyOf["+strconv.Itoa(i)+"]", from.At(i))
		s.anyOf = append(s.anyOf, one)
		plain = append(plain, one.Value())
	}
	b.plain.value("anyOf", engine.List(plain...))
}
