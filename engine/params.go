package engine

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// NamedExpr is one member of an object whose values are literals or references, such as CodeExec's
// arguments.
type NamedExpr struct {
	Name string
	Expr Expr
}

var (
	typeValue     = reflect.TypeFor[Value]()
	typeRef       = reflect.TypeFor[Ref]()
	typeText      = reflect.TypeFor[Text]()
	typeExpr      = reflect.TypeFor[Expr]()
	typeNamedExpr = reflect.TypeFor[NamedExpr]()
)

// decoder fills the exported fields of a component from params and records the references in them.
type decoder struct {
	setup    *Setup
	refs     []*Ref  // pointers into the component, to be bound to the plan
	problems []error // what is wrong with the params
}

// fail records an error, if there is one.
func (d *decoder) fail(err error) {
	if err != nil {
		d.problems = append(d.problems, err)
	}
}

// decode fills target, a pointer to a struct; any other component has no params. Unknown params are
// ignored and stay in the document.
func (d *decoder) decode(target any, params Value) {
	v := reflect.ValueOf(target)
	if v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.Struct {
		d.fields(v.Elem(), params, "")
	}
}

func (d *decoder) fields(dst reflect.Value, params Value, path string) {
	for _, f := range paramFields(dst.Type()) {
		d.field(&f, dst.FieldByIndex(f.index), params, path+f.name)
	}
}

// settings checks the settings of a component, and passes those of type expr to its Setup.
func (d *decoder) settings(spec *Spec, params Value) {
	fields := spec.settings()
	exprs := make([]NamedExpr, 0, len(fields)) // never grown: references are bound in place
	for i := range fields {
		f := &fields[i]
		dst := reflect.New(f.typ).Elem()
		if f.typ == typeExpr {
			exprs = append(exprs, NamedExpr{Name: f.name})
			dst = reflect.ValueOf(&exprs[len(exprs)-1].Expr).Elem()
		}
		d.field(f, dst, params, f.name)
	}
	d.setup.Exprs = exprs
}

// field stores the param f in dst.
func (d *decoder) field(f *paramField, dst reflect.Value, params Value, at string) {
	v, given := params.Lookup(f.name)
	if !given || v.IsNull() {
		if f.def.IsNull() {
			if f.nonempty {
				d.fail(d.setup.Fail(at, Null, "is missing; expected a value"))
			}
			return
		}
		v = f.def
	}
	err := d.value(dst, v, at)
	if err == nil {
		err = d.check(f, v, at)
	}
	d.fail(err)
}

func (d *decoder) check(f *paramField, v Value, at string) error {
	if f.nonempty && !v.Truthy() {
		return d.setup.Fail(at, v, "is empty; expected a value")
	}
	if len(f.enum) > 0 && v.Kind() == KindString && !slices.Contains(f.enum, v.Str()) {
		return d.setup.Fail(at, v, "is not supported; it should be one of "+strings.Join(f.enum, ", "))
	}
	n, isNumber := number(v)
	if isNumber && f.min != nil && n < *f.min {
		return d.setup.Fail(at, v, "is too small; expected at least "+formatBound(*f.min))
	}
	if isNumber && f.max != nil && n > *f.max {
		return d.setup.Fail(at, v, "is too large; at most "+formatBound(*f.max)+" is accepted")
	}
	return nil
}

func formatBound(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// value stores v in a field.
func (d *decoder) value(dst reflect.Value, v Value, at string) error {
	switch dst.Type() {
	case typeValue:
		dst.Set(reflect.ValueOf(v))
		return nil
	case typeRef, typeText:
		if v.Kind() != KindString {
			return d.setup.Fail(at, v, "is a "+v.Kind().String()+"; expected a string")
		}
		if dst.Type() == typeRef {
			dst.Set(reflect.ValueOf(ParseRef(v.Str())))
			d.bindRef(dst.Addr().Interface().(*Ref))
			return nil
		}
		dst.Set(reflect.ValueOf(d.setup.Text(v.Str())))
		d.bindText(dst.Addr().Interface().(*Text))
		return nil
	case typeExpr:
		dst.Set(reflect.ValueOf(d.setup.Expr(v)))
		d.bindExpr(dst.Addr().Interface().(*Expr))
		return nil
	}
	return d.plain(dst, v, at)
}

func (d *decoder) bindRef(r *Ref) {
	if !r.IsZero() {
		d.refs = append(d.refs, r)
	}
}

func (d *decoder) bindText(t *Text) {
	for i := range t.refs {
		d.refs = append(d.refs, &t.refs[i])
	}
}

func (d *decoder) bindExpr(e *Expr) {
	d.bindText(&e.text)
	d.bindRef(&e.ref)
}

func (d *decoder) plain(dst reflect.Value, v Value, at string) error {
	wrong := func(want string) error {
		return d.setup.Fail(at, v, "is a "+v.Kind().String()+"; expected "+want)
	}
	switch dst.Kind() {
	case reflect.Pointer: // nil without a value
		dst.Set(reflect.New(dst.Type().Elem()))
		return d.plain(dst.Elem(), v, at)
	case reflect.String:
		if v.Kind() != KindString {
			return wrong("a string")
		}
		dst.SetString(v.Str())
	case reflect.Bool:
		yes, ok := boolean(v)
		if !ok {
			return wrong("true or false")
		}
		dst.SetBool(yes)
	case reflect.Int:
		n, ok := number(v)
		if !ok || n != float64(int64(n)) {
			return wrong("a whole number")
		}
		dst.SetInt(int64(n))
	case reflect.Float64:
		n, ok := number(v)
		if !ok {
			return wrong("a number")
		}
		dst.SetFloat(n)
	case reflect.Slice:
		return d.slice(dst, v, at)
	case reflect.Struct:
		if v.Kind() != KindObject {
			return wrong("an object")
		}
		d.fields(dst, v, at+".")
	default:
		return fmt.Errorf("params of type %s cannot be read", dst.Type())
	}
	return nil
}

// slice reads a list; an object for NamedExprs; a single element for a list.
func (d *decoder) slice(dst reflect.Value, v Value, at string) error {
	elem := dst.Type().Elem()
	if elem == typeNamedExpr {
		if v.Kind() != KindObject {
			return d.setup.Fail(at, v, "is a "+v.Kind().String()+"; expected an object")
		}
		list := make([]NamedExpr, 0, v.Len())
		for k, x := range v.Fields() {
			list = append(list, NamedExpr{Name: k, Expr: d.setup.Expr(x)})
		}
		for i := range list {
			d.bindExpr(&list[i].Expr)
		}
		dst.Set(reflect.ValueOf(list))
		return nil
	}
	if v.Kind() != KindList {
		if elem.Kind() != reflect.String && elem != typeText && elem != typeRef && elem != typeExpr ||
			v.Kind() == KindObject {
			return d.setup.Fail(at, v, "is a "+v.Kind().String()+"; expected a list")
		}
		v = List(v)
	}
	list := reflect.MakeSlice(dst.Type(), v.Len(), v.Len())
	for i, x := range v.Elements() {
		if x.IsNull() && elem != typeValue {
			continue
		}
		if err := d.value(list.Index(i), x, at+"["+strconv.Itoa(i)+"]"); err != nil {
			return err
		}
	}
	dst.Set(list)
	return nil
}

// boolean reads a boolean, also from a string.
func boolean(v Value) (yes, ok bool) {
	if v.Kind() == KindString {
		word := strings.ToLower(strings.TrimSpace(v.Str()))
		return word == "true", word == "true" || word == "false"
	}
	return v.True(), v.Kind() == KindBool
}

// number reads a number, also from a string.
func number(v Value) (float64, bool) {
	if v.Kind() == KindString {
		parsed, ok := ParseNumber(strings.TrimSpace(v.Str()))
		if !ok {
			return 0, false
		}
		v = parsed
	}
	return v.Float()
}

// paramField is one param, described by its struct field.
type paramField struct {
	name     string
	index    []int
	typ      reflect.Type
	doc      string
	label    string // "" derives it from the name
	shape    string // form of the JSON, for readers of documents
	format   string // overrides that of the type
	form     fieldForm
	def      Value
	enum     []string
	min, max *float64
	nonempty bool
}

// fieldCache caches the results of paramFields.
var fieldCache sync.Map // reflect.Type -> []paramField

// paramFields lists the params of a struct, including those of embedded structs.
func paramFields(t reflect.Type) []paramField {
	if cached, ok := fieldCache.Load(t); ok {
		return cached.([]paramField)
	}
	var list []paramField
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" || !f.IsExported() {
			continue
		}
		p := newParamField(name, f.Type, f.Tag)
		p.index = f.Index
		list = append(list, p)
	}
	fieldCache.Store(t, list)
	return list
}

// newParamField reads the tags of a param.
func newParamField(name string, typ reflect.Type, tag reflect.StructTag) paramField {
	p := paramField{name: name, typ: typ, doc: tag.Get("doc"), def: defaultOf(typ, tag)}
	p.enum = enumOf(tag)
	p.min, p.max = bound(tag.Get("min")), bound(tag.Get("max"))
	p.nonempty = tag.Get("check") == "nonempty"
	p.label, p.shape, p.format = tag.Get("label"), tag.Get("shape"), tag.Get("format")
	p.form = newFieldForm(tag)
	return p
}

// title returns the label of a param, or else its name in words: top_n is "Top n".
func (f *paramField) title() string {
	if f.label != "" {
		return f.label
	}
	words := strings.ReplaceAll(f.name, "_", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

func bound(s string) *float64 {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil
	}
	return &f
}

// defaultOf reads the default tag: as JSON where that works, else as text.
func defaultOf(typ reflect.Type, tag reflect.StructTag) Value {
	s, ok := tag.Lookup("default")
	if !ok {
		return Null
	}
	if v, err := ParseJSONText(s); err == nil && (v.Kind() != KindNumber || typ.Kind() != reflect.String) {
		return v
	}
	return String(s)
}

// commonIgnores are members of params that every node may have and that are not settings here.
var commonIgnores = []string{"outputs", "inputs", "debug_inputs", "exception_comment"}

// paramFields returns the params of a component: the fields of its struct, and its settings.
func (s *Spec) paramFields(c Component) (list []paramField) {
	if t := reflect.TypeOf(c); t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct {
		list = paramFields(t.Elem())
	}
	return append(list[:len(list):len(list)], s.settings()...)
}

// settings returns the params that only a port reads.
func (s *Spec) settings() (list []paramField) {
	for _, text := range s.Settings {
		tag := reflect.StructTag(text)
		typ := reflect.TypeFor[string]()
		switch tag.Get("type") {
		case "integer":
			typ = reflect.TypeFor[int]()
		case "boolean":
			typ = reflect.TypeFor[bool]()
		case "any":
			typ = typeValue
		case "expr":
			typ = typeExpr
		}
		list = append(list, newParamField(tag.Get("json"), typ, tag))
	}
	return list
}

// unknownParams returns the params in the document that the component does not read, and the ones
// it does.
func (n *node) unknownParams() (names, known []string) {
	if n.comp == nil || n.spec.Pipeline || strings.HasPrefix(n.spec.Name, PluginPrefix) {
		return nil, nil // plugins check their params themselves
	}
	fields := n.spec.paramFields(n.comp)
	if len(fields) == 0 {
		return nil, nil // it does not say which params it reads
	}
	for _, f := range append(fields, paramFields(reflect.TypeFor[Common]())...) {
		known = append(known, f.name)
	}
	for name := range n.params.Fields() {
		if !slices.Contains(known, name) && !slices.Contains(n.spec.Ignores, name) &&
			!slices.Contains(commonIgnores, name) && !strings.HasPrefix(name, "_") {
			names = append(names, name)
		}
	}
	return names, known
}
