package offline

import (
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// Schemas may be recursive: bounds for the depth and for the number of values.
const (
	maxNesting = 8
	maxValues  = 10_000
)

// structured fills an answer from its JSON Schema with the content of the prompt: lines such as
// "name: value", numbers and dates near the word, an enum value that is mentioned, else the
// sentence that matches the field best.
func structured(req *engine.ModelRequest) string {
	f := filler{root: req.Schema, text: structuredText(req), ask: question(req), remaining: maxValues}
	return string(f.fill("", req.Schema, 0).AppendText(nil))
}

func structuredText(req *engine.ModelRequest) string {
	var b strings.Builder
	for _, chunk := range req.Chunks.Fields() {
		b.WriteString(chunk.Get("content").Text() + "\n")
	}
	b.WriteString(observations(req) + "\n" + lastMessage(req))
	return strings.TrimSpace(b.String())
}

// filler builds one value per schema.
type filler struct {
	root      engine.Value
	text      string
	ask       string
	remaining int // values that may still be built
}

// fill builds a value for the field name, described by schema.
func (f *filler) fill(name string, schema engine.Value, depth int) engine.Value {
	if f.remaining--; depth > maxNesting || f.remaining < 0 {
		return engine.Null
	}
	schema = f.resolve(schema)
	about := name + " " + schema.Get("description").Text()
	if v, ok := schema.Lookup("const"); ok {
		return v
	}
	if enum := schema.Get("enum"); enum.Len() > 0 {
		return mentioned(enum, f.field(name, about)+" "+f.ask)
	}
	if v, ok := schema.Lookup("default"); ok {
		return v
	}
	switch typeOf(schema) {
	case "object":
		return f.object(schema, depth)
	case "array":
		return f.array(name, schema, depth)
	case "number", "integer":
		return f.number(name, about, schema)
	case "boolean":
		return f.boolean(name, about)
	case "null":
		return engine.Null
	}
	return f.string(name, about, schema)
}

// resolve follows $ref and takes the first alternative of a choice.
func (f *filler) resolve(schema engine.Value) engine.Value {
	for range maxNesting {
		if ref, ok := strings.CutPrefix(schema.Get("$ref").Str(), "#"); ok {
			schema = f.root
			for part := range strings.FieldsFuncSeq(ref, func(r rune) bool { return r == '/' }) {
				schema = schema.Get(part)
			}
			continue
		}
		choice := engine.Null
		for _, key := range [...]string{"anyOf", "oneOf", "allOf"} {
			if c := schema.Get(key).At(0); !c.IsNull() && choice.IsNull() {
				choice = c
			}
		}
		if choice.IsNull() {
			return schema
		}
		schema = choice
	}
	return schema
}

// typeOf returns the first type in a schema; one with properties is an object.
func typeOf(schema engine.Value) string {
	t := schema.Get("type")
	for _, one := range t.Elements() {
		if one.Str() != "null" {
			return one.Str()
		}
	}
	switch {
	case t.Str() != "":
		return strings.ToLower(t.Str())
	case schema.Get("properties").Len() > 0:
		return "object"
	case !schema.Get("items").IsNull():
		return "array"
	}
	return "string"
}

func (f *filler) object(schema engine.Value, depth int) engine.Value {
	props := schema.Get("properties")
	b := engine.NewObject(props.Len())
	for name, p := range props.Fields() {
		b.Set(name, f.fill(name, p, depth+1))
	}
	return b.Value()
}

// array returns one element per part of the field's line, or a single element.
func (f *filler) array(name string, schema engine.Value, depth int) engine.Value {
	items := schema.Get("items")
	least, _ := schema.Get("minItems").Int()
	most, limited := schema.Get("maxItems").Int()
	var vals []engine.Value
	if t := typeOf(f.resolve(items)); t == "string" && f.resolve(items).Get("enum").IsNull() {
		for part := range strings.FieldsFuncSeq(f.line(name),
			func(r rune) bool { return strings.ContainsRune(",;，；、|", r) }) {
			vals = append(vals, engine.String(strings.TrimSpace(part)))
		}
	}
	for len(vals) == 0 || int64(len(vals)) < min(least, 100) {
		vals = append(vals, f.fill(name, items, depth+1))
	}
	if limited && int64(len(vals)) > most {
		vals = vals[:max(0, most)]
	}
	return engine.List(vals...)
}

func (f *filler) number(name, about string, schema engine.Value) engine.Value {
	v, ok := engine.ParseNumber(findNumber(f.field(name, about)))
	if !ok {
		v = engine.Int(0)
	}
	if low := schema.Get("minimum"); low.Kind() == engine.KindNumber && engine.CompareNumbers(v, low) < 0 {
		v = low
	}
	if high := schema.Get("maximum"); high.Kind() == engine.KindNumber && engine.CompareNumbers(v, high) > 0 {
		v = high
	}
	if n, ok := v.Int(); ok && typeOf(schema) == "integer" {
		return engine.Int(n)
	}
	return v
}

// boolean returns true if the field's line is true or the question contains the field's words.
func (f *filler) boolean(name, about string) engine.Value {
	switch line := strings.ToLower(f.line(name)); line {
	case "true", "yes", "1", "是":
		return engine.Bool(true)
	case "":
		return engine.Bool(overlap(wordSet(f.ask), about) > 1)
	}
	return engine.Bool(false)
}

func (f *filler) string(name, about string, schema engine.Value) engine.Value {
	text := f.field(name, about)
	hint := strings.ToLower(schema.Get("format").Text() + " " + name)
	for _, p := range patterns {
		if strings.Contains(hint, p.part) || p.part == "url" && strings.Contains(hint, "uri") {
			if found := p.find(text + "\n" + f.text); found != "" {
				text = found
			}
			break
		}
	}
	if most, ok := schema.Get("maxLength").Int(); ok {
		if r := []rune(text); int64(len(r)) > most {
			text = string(r[:max(0, most)])
		}
	}
	return engine.String(text)
}

// field returns the text about a field: its line, else the best sentence, else the question.
func (f *filler) field(name, about string) string {
	if line := f.line(name); line != "" {
		return line
	}
	if list := best(plainSentences(f.text), strings.ReplaceAll(about, "_", " "), 1); len(list) > 0 &&
		list[0].score > 0 {
		return list[0].text
	}
	return shorten(f.ask)
}

// line returns the value of a line "name: value", "name = value" or "name：value".
func (f *filler) line(name string) string {
	if name == "" {
		return ""
	}
	plain := strings.NewReplacer("_", "", " ", "", "*", "", "\"", "", "-", "")
	for line := range strings.Lines(f.text) {
		at := strings.IndexAny(line, ":=：")
		if at > 0 && strings.EqualFold(plain.Replace(line[:at]), plain.Replace(name)) {
			return strings.Trim(line[at:], " \t\r\n:=：\",*")
		}
	}
	return ""
}
