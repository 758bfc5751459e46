package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// attached collects the members of an answer's message except text and calls: reasoning
// in all its forms, signatures, encrypted content. Some servers refuse the results of calls unless
// the message comes back with these members.
type attached struct {
	names []string
	texts map[string]*strings.Builder // members that are strings, which arrive in pieces
	lists map[string]*blocks
	rest  engine.Value
	parts blocks // parts of the content that are not plain text
}

// plainMembers are the members of a message that are not attached.
var plainMembers = []string{
	"role", "content", "tool_calls", "function_call", "refusal", "annotations", "audio", "name", "index",
}

// add adds the members of a delta, or of a whole message. Errors: [ErrTooLarge].
func (a *attached) add(message engine.Value) error {
	for name, v := range message.Fields() {
		if !v.Truthy() || slices.Contains(plainMembers, name) {
			continue
		}
		switch v.Kind() {
		case engine.KindString:
			if a.texts == nil {
				a.texts = map[string]*strings.Builder{}
			}
			if a.texts[name] == nil {
				a.names, a.texts[name] = append(a.names, name), &strings.Builder{}
			}
			a.texts[name].WriteString(v.Str())
		case engine.KindList:
			if a.lists == nil {
				a.lists = map[string]*blocks{}
			}
			if a.lists[name] == nil {
				a.names, a.lists[name] = append(a.names, name), &blocks{}
			}
			a.lists[name].add(v)
		default:
			a.rest = merged(a.rest, engine.Object(name, v))
		}
		if len(a.names)+a.rest.Len() > mostMembers {
			return fmt.Errorf("%w: a message of more than %d members", ErrTooLarge, mostMembers)
		}
	}
	for _, part := range message.Get("content").Elements() {
		if t := part.Get("type").Str(); t != "text" && t != "output_text" && t != "" {
			a.parts.add(engine.List(part))
		}
	}
	return nil
}

// value returns the members; null without any. Parts of the content are kept if they are signed.
func (a *attached) value() engine.Value {
	b := engine.NewObject(4)
	for _, name := range a.names {
		if t := a.texts[name]; t != nil {
			b.Set(name, engine.String(t.String()))
		} else {
			b.Set(name, a.lists[name].value())
		}
	}
	for name, v := range a.rest.Fields() {
		b.Set(name, v)
	}
	if a.parts.signed() {
		b.Set("content", a.parts.value())
	}
	if b.Len() == 0 {
		return engine.Null
	}
	return b.Value()
}

// blocks is a list of objects that arrive in pieces, such as reasoning_details.
type blocks struct {
	list []*block
	at   map[string]*block // those with an index, by it and their type
}

type block struct {
	members engine.Value
	texts   map[string]*strings.Builder
}

// growing are the members of blocks whose pieces are joined; others are replaced.
var growing = []string{"text", "thinking", "summary", "data", "content"}

func (l *blocks) add(list engine.Value) {
	for _, v := range list.Elements() {
		if v.Kind() != engine.KindObject || v.Len() > mostMembers {
			l.list = append(l.list, &block{members: v})
			continue
		}
		b := l.find(v)
		if b == nil {
			b = &block{members: engine.Object(), texts: map[string]*strings.Builder{}}
			l.list = append(l.list, b)
			if index := v.Get("index"); !index.IsNull() {
				if l.at == nil {
					l.at = map[string]*block{}
				}
				l.at[placeOf(v)] = b
			}
		}
		for name, x := range v.Fields() {
			switch {
			case x.Kind() == engine.KindString && slices.Contains(growing, name):
				if b.texts[name] == nil {
					b.texts[name] = &strings.Builder{}
					b.members = b.members.With(name, x) // keeps its place
				}
				b.texts[name].WriteString(x.Str())
			case !x.IsNull() && x.Str() != "" || !b.members.Get(name).Truthy():
				b.members = b.members.With(name, x)
			}
		}
	}
}

// find returns the block that a piece continues: the one with its index, or the last one of its
// type that is not signed.
func (l *blocks) find(v engine.Value) *block {
	kind, index := v.Get("type").Str(), v.Get("index")
	if index.IsNull() {
		if n := len(l.list); n > 0 {
			last := l.list[n-1]
			whole := last.members.Get("signature").Truthy() || last.texts["data"] != nil
			if !whole && last.texts != nil && last.members.Get("type").Str() == kind {
				return last
			}
		}
		return nil
	}
	return l.at[placeOf(v)]
}

// placeOf returns the type and the index of a piece.
func placeOf(v engine.Value) string { return v.Get("type").Str() + "\n" + v.Get("index").Text() }

func (l *blocks) signed() bool {
	return slices.ContainsFunc(l.list, func(b *block) bool {
		return b.members.Get("signature").Truthy() || b.members.Get("data").Truthy() ||
			b.members.Get("encrypted_content").Truthy()
	})
}

func (l *blocks) value() engine.Value {
	list := make([]engine.Value, len(l.list))
	for i, b := range l.list {
		list[i] = b.members
		for name, t := range b.texts {
			list[i] = list[i].With(name, engine.String(t.String()))
		}
	}
	return engine.List(list...)
}
