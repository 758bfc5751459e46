package model

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/model/loose"
)

// openCall is a function call that arrives in parts.
type openCall struct {
	index     int // as the server numbers it; -1 without a number
	id, name  string
	arguments strings.Builder
	nesting   nesting
	extra     engine.Value // what the server attached to the call
	function  engine.Value // and to its function
}

// complete reports whether the arguments are a whole JSON object.
func (c *openCall) complete() bool {
	return c.arguments.Len() > 0 && c.nesting.depth <= 0 && !c.nesting.inside
}

// openCalls collects the function calls of an answer. Servers number the parts of parallel calls,
// name them by id, do both, or neither; some repeat the name and the id in each part, some change
// them. A new number, a new id with a name, another name, or an object after a complete one begins
// a call.
type openCalls struct {
	list     []*openCall
	nameless bool // calls left one out, because nothing names its function
}

// mostCalls bounds the calls of an answer.
const mostCalls = 1000

// tooMany returns [ErrTooLarge] for an answer of more calls.
func (o *openCalls) tooMany() error {
	if len(o.list) > mostCalls {
		return fmt.Errorf("%w: more than %d tool calls", ErrTooLarge, mostCalls)
	}
	return nil
}

// add adds the parts of one event, a list or a single one.
func (o *openCalls) add(parts engine.Value, whole bool) {
	if parts.Kind() == engine.KindObject {
		parts = engine.List(parts)
	}
	for i, p := range parts.Elements() {
		if p.Kind() == engine.KindObject && len(o.list) <= mostCalls {
			o.part(p, whole, i)
		}
	}
}

// callPart is one part of a call.
type callPart struct {
	index           int
	id, name, args  string
	place           int
	extra, function engine.Value
}

func (o *openCalls) part(v engine.Value, whole bool, place int) {
	f, flat := v.Get("function"), v.Get("function").Kind() != engine.KindObject && v.Get("name").Str() != ""
	if flat { // name and arguments without a function around them
		f = v
	}
	p := callPart{
		index: -1, id: v.Get("id").Text(), name: f.Get("name").Str(), args: argumentsIn(f), place: place,
		extra: without(v, append(callMembers, functionMembers...)...),
	}
	if !flat {
		p.extra, p.function = without(v, callMembers...), without(f, functionMembers...)
	}
	if n, ok := loose.Number(v.Get("index")); ok && !whole {
		p.index = int(n)
	}
	c := o.find(&p)
	if c != nil && !whole {
		known := c.arguments.String()
		switch {
		case c.complete() && p.name == "" && p.args == known:
			return // some servers repeat the arguments at the end
		case len(known) < maxPlaceholder && c.complete() && strings.TrimSpace(known) == "{}" &&
			p.name == "" && p.id == "" && p.args != "",
			len(known) > 1 && p.name == c.name && p.id == c.id && p.id != "" && strings.HasPrefix(p.args, known):
			// An empty object holds the place of the arguments, or each part has all so far.
			c.arguments.Reset()
			c.nesting = nesting{}
		}
	}
	if whole || c == nil || c.begins(&p) {
		next := &openCall{index: p.index}
		if c != nil && p.name == "" {
			next.name = c.name // another call of the same function
		}
		c = next
		o.list = append(o.list, c)
	}
	if c.id == "" {
		c.id = p.id
	}
	if p.name != c.name && (c.name == "" || c.arguments.Len() == 0) {
		c.name += p.name // some servers send the name in parts
	}
	c.arguments.WriteString(p.args)
	c.nesting.add([]byte(p.args))
	c.extra, c.function = merged(c.extra, p.extra), merged(c.function, p.function)
}

// maxPlaceholder bounds an empty object in the place of arguments, in bytes.
const maxPlaceholder = 16

// callMembers and functionMembers are the members of calls that are not attached to them.
var (
	callMembers     = []string{"index", "id", "type", "function"}
	functionMembers = []string{"name", "arguments", "parameters", "input"}
)

// argumentsIn returns the arguments of a function as JSON text, by each of their names.
func argumentsIn(f engine.Value) string {
	for _, name := range functionMembers[1:] {
		if v, ok := f.Lookup(name); ok {
			return argumentsOf(v)
		}
	}
	return ""
}

// find returns the open call that a part continues, nil if it begins one.
func (o *openCalls) find(p *callPart) *openCall {
	if len(o.list) == 0 {
		return nil
	}
	c := o.list[len(o.list)-1]
	if p.index >= 0 {
		i := len(o.list) - 1
		for i >= 0 && o.list[i].index != p.index {
			i--
		}
		if i < 0 {
			return nil
		}
		c = o.list[i]
	} else if i := slices.IndexFunc(o.list, func(c *openCall) bool { return p.id != "" && c.id == p.id }); i >= 0 {
		c = o.list[i]
	} else if p.place > 0 && p.name != "" {
		return nil
	}
	return c
}

// begins reports whether a part begins another call than c, although its number and its place say
// that it continues c.
func (c *openCall) begins(p *callPart) bool {
	newID := p.id != "" && p.id != c.id && c.id != ""
	object := strings.HasPrefix(strings.TrimSpace(p.args), "{")
	var own nesting
	wholeArgs := object && own.add([]byte(p.args))
	switch {
	case c.complete():
		return object || p.name != "" && (newID || p.name != c.name)
	case c.arguments.Len() > 0: // arguments that are not complete continue
		return false
	case newID && p.name != "":
		return p.name != c.name || p.args == "" || wholeArgs
	case p.id == "" && p.name != "" && p.name != c.name && p.index < 0:
		return true
	}
	return false
}

// argumentsOf returns arguments as JSON text; some servers send the object itself.
func argumentsOf(v engine.Value) string {
	switch v.Kind() {
	case engine.KindNull:
		return ""
	case engine.KindString:
		return v.Str()
	}
	return v.JSON()
}

// calls returns the calls that have a name, with distinct ids, and the members that servers
// attached to them: per call {call, function}, null if nothing is attached to any.
func (o *openCalls) calls(offered []engine.ToolDef) (calls []engine.ToolCall, extras engine.Value) {
	taken := map[string]bool{}
	list := make([]engine.Value, 0, len(o.list))
	attached := false
	for _, c := range o.list {
		if c.name == "" && len(offered) == 1 {
			c.name = offered[0].Name
		}
		if c.name == "" {
			o.nameless = o.nameless || c.arguments.Len() > 0
			continue
		}
		for i := len(calls); c.id == "" || taken[c.id]; i++ {
			c.id = "call_" + strconv.Itoa(i)
		}
		taken[c.id] = true
		calls = append(calls, engine.ToolCall{
			ID: c.id, Name: offeredName(c.name, offered),
			Arguments: plainArguments(c.arguments.String()),
		})
		b := engine.NewObject(2)
		if c.extra.Len() > 0 {
			b.Set("call", c.extra)
		}
		if c.function.Len() > 0 {
			b.Set("function", c.function)
		}
		attached = attached || b.Len() > 0
		list = append(list, b.Value())
	}
	if !attached {
		return calls, engine.Null
	}
	return calls, engine.List(list...)
}

// namespaces are put before the names of functions by templates of models.
var namespaces = []string{"functions.", "function.", "default_api.", "tools."}

// offeredName returns the name of the offered function that a model means: some write it in a
// namespace, with the number of the call, or with a mark of their template.
func offeredName(name string, offered []engine.ToolDef) string {
	isOffered := func(name string) bool {
		return slices.ContainsFunc(offered, func(d engine.ToolDef) bool { return d.Name == name })
	}
	plain := name
	for !isOffered(plain) {
		next := strings.TrimSpace(plain)
		next, _, _ = strings.Cut(next, "<|")
		for _, space := range namespaces {
			next = strings.TrimPrefix(next, space)
		}
		if head, number, ok := strings.Cut(next, ":"); ok && digitsOnly.MatchString(number) {
			next = head
		}
		if next == plain {
			return name
		}
		plain = next
	}
	return plain
}

var digitsOnly = regexp.MustCompile(`^\d+$`)

// plainArguments returns arguments as the text of an object where they are one in another form:
// encoded twice, an object in a list, nothing in a word or an empty list, an object in code of
// Markdown, with control characters in its strings, or before a mark of a template.
func plainArguments(args string) string {
	text := strings.TrimSpace(args)
	var inner string
	if strings.HasPrefix(text, `"`) && json.Unmarshal([]byte(text), &inner) == nil {
		return plainArguments(inner)
	}
	if text == "None" {
		return "{}"
	}
	if code, ok := strings.CutPrefix(text, "```"); ok {
		text = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(code, "json"), "```"))
	}
	v, ok := looseObject(text)
	if !ok && strings.HasPrefix(text, "{") {
		var n nesting
		for i := range len(text) {
			if n.add([]byte(text[i : i+1])) {
				v, ok = looseObject(text[:i+1])
				break
			}
		}
	}
	switch {
	case ok && v.Kind() == engine.KindList && v.Len() == 1 && v.At(0).Kind() == engine.KindObject:
		v = v.At(0)
	case ok && (v.IsNull() || v.Kind() == engine.KindList && v.Len() == 0):
		return "{}"
	case !ok || v.Kind() != engine.KindObject:
		return args
	}
	if _, err := engine.ParseJSONText(args); err == nil && strings.HasPrefix(strings.TrimSpace(args), "{") {
		return args // as the model wrote it
	}
	return v.JSON()
}

// without returns the members of an object that are not empty, except some.
func without(v engine.Value, names ...string) engine.Value {
	var b *engine.ObjectBuilder
	for name, x := range v.Fields() {
		if !x.Truthy() || slices.Contains(names, name) {
			continue
		}
		if b == nil {
			b = engine.NewObject(2)
		}
		b.Set(name, x)
	}
	if b == nil {
		return engine.Null
	}
	return b.Value()
}

// mostMembers bounds the members of an object that is put together from parts.
const mostMembers = 128

// merged returns an object with the members of another; objects inside are merged. Merging takes
// quadratic time: if the two have too many members together, b replaces a.
func merged(a, b engine.Value) engine.Value {
	if a.Kind() != engine.KindObject || b.Kind() != engine.KindObject || a.Len()+b.Len() > 2*mostMembers {
		if b.Truthy() {
			return b
		}
		return a
	}
	for name, x := range b.Fields() {
		a = a.With(name, merged(a.Get(name), x))
	}
	return a
}
