package engine

import (
	"reflect"
	"slices"
	"strings"
)

// Option is one accepted value of a param, with its label in a form.
type Option struct{ Value, Label string }

// fieldForm describes how a form shows a param.
type fieldForm struct {
	section  string // part of the form
	widget   string // editor; "" derives it from the type
	options  []Option
	accept   []Option // values that mean an option: Value is the option, Label the other value
	show     string   // condition under which the form shows the param; see Condition
	unit     string   // after a number
	step     *float64 // between the values of a number
	zero     string   // label of 0
	ops      string   // set of operators
	of       string   // param whose type decides which operators fit
	hint     string   // short text below the editor
	examples []string
	hidden   bool   // kept in documents, but not shown
	alias    string // earlier name; a document has either of the two
	right    string // param with the operator that decides what stands on its right
	by       string // hidden param that is constant, variable or empty, as the value is
	enable   string // hidden boolean param which decides whether the value is used
	want     string // problem of an empty value
	output   string // the value names an output, whose type is in the param of this name next to it
	members  string // members of an object of a type that may hold anything, as in "status:integer:200:399=HTTP status"
	kind     string // of a model: chat, embed, rerank, speech or vision
}

// SectionMain is the section of params without the tag section.
const SectionMain = "main"

// Sections lists the parts of a form in their order.
func Sections() []Term {
	return []Term{
		{SectionMain, "what the component is for; it has no heading"},
		{"prompt", "texts and images for a model"},
		{"tools", "tools that a model may call"},
		{"output", "results and their form"},
		{"fail", "retries, and what follows an error"},
		{"advanced", "the rest"},
	}
}

// Widgets lists the editors of a form.
func Widgets() []Term {
	return []Term{
		{"text", "one line"},
		{"prompt", "a text with references"},
		{"ref", "a reference"},
		{"value", "a value of a chosen type, or a reference"},
		{"select", "a menu"},
		{"segment", "two to four options in a row"},
		{"operator", "an operator of a set"},
		{"number", "a number with its unit"},
		{"slider", "a number between two bounds"},
		{"duration", "seconds"},
		{"toggle", "yes or no"},
		{"words", "a list of short texts"},
		{"pairs", "names with values"},
		{"rows", "a list of objects with the same members"},
		{"references", "a list of references"},
		{"checks", "several of the options"},
		{"members", "an object with known members"},
		{"conditions", "rules with operators"},
		{"branches", "branches and the nodes that they lead to"},
		{"code", "a program"},
		{"schema", "members of JSON"},
		{"outputs", "declared outputs"},
		{"fields", "fields of a form that a person fills in"},
		{"messages", "messages for a model: one text, or several with roles"},
		{"variants", "one text, or several of which one is picked"},
		{"model", "a model"},
		{"datasets", "datasets of the host"},
		{"memories", "memories of the host"},
		{"tools", "tools of an agent"},
		{"servers", "MCP servers"},
		{"canvas", "another canvas"},
		{"secret", "a key or password"},
		{"files", "files, as references"},
		{"language", "a language"},
		{"country", "a country"},
		{"color", "a color"},
		{"date", "a date"},
		{"targets", "nodes"},
		{"request", "values to read from a web request"},
		{"webhook", "how senders of requests prove who they are"},
		{"address", "the address of a web request, which can be tried"},
		{"headers", "lines of headers"},
		{"request-headers", "lines of headers with references, and how a service knows the caller"},
		{"database", "a kind of database"},
		{"connection", "the database of a connection, which can be tested"},
		{"metadata", "a filter by metadata of documents"},
		{"parsers", "settings by kind of file"},
		{"json", "a value as JSON, where no other editor fits"},
	}
}

// Condition is one part of the tag show. It holds if the named param has one of the values; without
// values, if it is set; Not reverses it. The name @tool stands for a tool of an Agent.
type Condition struct {
	Param  string
	Values []string
	Not    bool
}

// Conditions reads the tag show: conditions joined by "&", all of which must hold.
func Conditions(show string) (list []Condition) {
	for part := range strings.SplitSeq(show, "&") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, values, compared := strings.Cut(part, "=")
		c := Condition{Param: strings.TrimPrefix(name, "!")}
		c.Not = c.Param != name
		if compared {
			c.Values = strings.Split(values, ",")
			c.Not = strings.HasSuffix(name, "!")
			c.Param = strings.TrimSuffix(name, "!")
		}
		list = append(list, c)
	}
	return list
}

// newFieldForm reads the tags about the form.
func newFieldForm(tag reflect.StructTag) fieldForm {
	f := fieldForm{
		section: tag.Get("section"), widget: tag.Get("widget"), show: tag.Get("show"), unit: tag.Get("unit"),
		step: bound(tag.Get("step")), zero: tag.Get("zero"), hint: tag.Get("hint"), hidden: tag.Get("hidden") == "true",
		alias: tag.Get("alias"), enable: tag.Get("enable"), want: tag.Get("want"), kind: tag.Get("kind"),
		right: tag.Get("right"), by: tag.Get("by"), output: tag.Get("output"), members: tag.Get("members"),
		accept: optionsOf(tag.Get("accept")),
	}
	if f.section == "" {
		f.section = SectionMain
	}
	f.options = optionsOf(tag.Get("options"))
	if offered := tag.Get("offer"); offered != "" {
		f.options = optionsOf(offered)
	}
	var of string
	f.ops, of, _ = strings.Cut(tag.Get("ops"), ",")
	f.of = strings.TrimPrefix(of, "of=")
	if text := tag.Get("example"); text != "" {
		f.examples = strings.Split(text, "|")
	}
	return f
}

// optionsOf reads options as in "asc=Rising|desc=Falling".
func optionsOf(tag string) (list []Option) {
	if tag == "" {
		return nil
	}
	for part := range strings.SplitSeq(tag, "|") {
		value, label, ok := strings.Cut(part, "=")
		if !ok {
			label = value
		}
		list = append(list, Option{Value: value, Label: label})
	}
	return list
}

// enumOf returns the values that the tag options accepts, with those that accept adds.
func enumOf(tag reflect.StructTag) (list []string) {
	for _, o := range optionsOf(tag.Get("options")) {
		list = append(list, o.Value)
	}
	if len(list) > 0 {
		for _, o := range optionsOf(tag.Get("accept")) {
			list = append(list, o.Label)
		}
	}
	return list
}

// maxSegments is the largest number of options shown in a row.
const maxSegments = 4

// editor returns the widget of a param: that of its tag, else the one of its type. It is "" for
// types that may hold anything.
func (f *paramField) editor() string {
	form := &f.form
	switch {
	case form.widget != "":
		return form.widget
	case form.ops != "":
		return "operator"
	case len(form.options) > maxSegments:
		return "select"
	case len(form.options) > 0:
		return "segment"
	case f.format == "code":
		return "code"
	}
	return editorOf(f.typ)
}

func editorOf(t reflect.Type) string {
	switch t {
	case typeValue:
		return ""
	case typeRef:
		return "ref"
	case typeText, typeExpr:
		return "prompt"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return editorOf(t.Elem())
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "toggle"
	case reflect.Int, reflect.Float64:
		return "number"
	case reflect.Slice:
		switch {
		case t.Elem() == typeNamedExpr:
			return "pairs"
		case t.Elem().Kind() == reflect.String:
			return "words"
		case t.Elem().Kind() == reflect.Struct && t.Elem() != typeRef && t.Elem() != typeText && t.Elem() != typeExpr &&
			t.Elem() != typeValue:
			return "rows"
		}
	}
	return ""
}

// describe returns the member x-easel of the property.
func (f *paramField) describe() Value {
	form := &f.form
	b := NewObject(8).Set("section", String(form.section))
	texts := func(name, text string) {
		if text != "" {
			b.Set(name, String(text))
		}
	}
	texts("widget", f.editor())
	if len(form.options) > 0 {
		b.Set("options", describeOptions(form.options, "label"))
	}
	if len(form.accept) > 0 {
		b.Set("accept", describeOptions(form.accept, "other"))
	}
	for _, each := range [...]Option{
		{"show", form.show},
		{"unit", form.unit},
		{"zero", form.zero},
		{"ops", form.ops},
		{"of", form.of},
		{"hint", form.hint},
		{"right", form.right},
		{"by", form.by},
		{"output", form.output},
		{"alias", form.alias},
		{"enable", form.enable},
		{"want", form.want},
		{"kind", form.kind},
	} {
		texts(each.Value, each.Label)
	}
	if form.step != nil {
		b.Set("step", Float(*form.step))
	}
	if len(form.examples) > 0 {
		b.Set("examples", Strings(form.examples...))
	}
	if form.hidden {
		b.Set("hidden", Bool(true))
	}
	return b.Value()
}

func describeOptions(list []Option, second string) Value {
	vals := make([]Value, len(list))
	for i, o := range list {
		vals[i] = Object("value", o.Value, second, o.Label)
	}
	return listOf(vals)
}

// commonFields returns the params that every component has. Those without an effect on this one are
// hidden.
func (s *Spec) commonFields() []paramField {
	list := slices.Clone(paramFields(reflect.TypeFor[Common]()))
	asks := slices.ContainsFunc(s.paramFields(s.New()), func(f paramField) bool { return f.name == "llm_id" })
	_, exit := s.New().(Exit)
	role := s.role()
	passive := s.Pipeline || exit || role == RoleStart || role == RoleItem
	for i := range list {
		f := &list[i]
		switch f.name {
		case "max_retries", "delay_after_error":
			f.form.hidden = !s.Retries
		case "message_history_window_size":
			f.form.hidden = !asks || s.Pipeline
		case "expires", "on_expiry":
			if _, form := s.New().(Form); form {
				f.form.show = ""
			}
			f.form.hidden = passive
		case "description":
			// A model sees it only of its tools.
		default:
			f.form.hidden = passive
		}
	}
	return list
}

// memberSchemas returns the schemas of the members of an object by the tag members.
func (f *paramField) memberSchemas() Value {
	props := NewObject(4)
	for _, o := range optionsOf(f.form.members) {
		name, kind, _ := strings.Cut(o.Value, ":")
		kind, bounds, _ := strings.Cut(kind, ":")
		least, most, _ := strings.Cut(bounds, ":")
		p := NewObject(6).Set("title", String(o.Label))
		widget := "number"
		if kind == "text" {
			p.Set("type", String("string")).Set("format", String("text"))
			widget = "prompt"
		} else {
			p.Set("type", String(kind))
		}
		if n := bound(least); n != nil {
			p.Set("minimum", Float(*n))
		}
		if n := bound(most); n != nil {
			p.Set("maximum", Float(*n))
		}
		props.Set(name, p.Set("x-easel", Object("section", SectionMain, "widget", widget)).Value())
	}
	return props.Value()
}

// schema describes the declared outputs, as a param.
func (d Declares) schema() Value {
	title, doc, shape, widget := "Results", "what the script returns, by name", "{name: {type}}", "outputs"
	switch d {
	case DeclaresCollected:
		title, doc = "Results to collect", "values of steps inside, as lists with one element per turn"
		shape = "{name: {type, ref}}"
	case DeclaresSchema:
		title, doc = "Structured answer", "members of the answer; without any it is text"
		shape, widget = "{structured: JSON Schema}", "schema"
	}
	form := Object("section", "output", "widget", widget, "kind", string(d))
	return Object("type", "object", "title", title, "description", doc, "$comment", shape, "x-easel", form)
}
