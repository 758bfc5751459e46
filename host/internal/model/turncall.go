package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/loose"
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
	f := v.Get("function")
	p := callPart{
		index: -1, id: v.Get("id").Text(), name: f.Get("name").Str(), args: argumentsOf(f.Get("arguments")),
		place: place,
		extra: without(v, "index", "id", "type", "function"), function: without(f, "name", "arguments"),
	}
	if n, ok := loose.Number(v.Get("index")); ok && !whole {
		p.index = int(n)
	}
	c := o.find(&p)
	if c != nil && !whole && c.complete() && p.name == "" && p.args == c.arguments.String() {
		return // some servers repeat the arguments at the end
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
			ID: c.id, Name: c.name,
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

// plainArguments returns arguments that are encoded twice as they are encoded once.
func plainArguments(args string) string {
	var inner string
	if strings.HasPrefix(strings.TrimSpace(args), `"`) && json.Unmarshal([]byte(args), &inner) == nil {
		return inner
	}
	return args
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
