package mcp

import (
	"maps"
	"slices"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/egress/reach"
)

// Kept as the value of a header, an environment variable or a variable of a [Change] means the
// value that is stored.
const Kept = "********"

// Change is an update of a stored server. Nil members keep what is stored; maps and lists replace
// all of theirs.
type Change struct {
	Type, URL, Description, Command *string
	Args                            []string
	Headers, Env                    map[string]string
	Variables                       engine.Value // an object, or null; may hold [ToolsVariable]
}

// Apply returns the server after a change. What is kept of headers, arguments, environment and
// variables may be credentials of the server that they were entered for: all of it is dropped if
// the change leads to another address, or changes the command, its arguments or its environment.
// Addresses are compared after variables are filled in; see [reach.SameAddress].
func (d Doc) Apply(c Change) Doc {
	next := d.apply(c, d)
	if sameTarget(d, next) {
		return next
	}
	tools := engine.Object()
	if v, ok := d.Variables.Lookup(ToolsVariable); ok {
		tools = tools.With(ToolsVariable, v)
	}
	return d.apply(c, Doc{Variables: tools})
}

// apply is Apply with what is kept taken from another server.
func (d Doc) apply(c Change, kept Doc) Doc {
	for _, member := range []struct{ to, from *string }{
		{&d.Type, c.Type}, {&d.URL, c.URL}, {&d.Description, c.Description}, {&d.Command, c.Command},
	} {
		if member.from != nil {
			*member.to = *member.from
		}
	}
	if d.Args = kept.Args; c.Args != nil {
		d.Args = c.Args
	}
	d.Headers, d.Env = overlaid(kept.Headers, c.Headers), overlaid(kept.Env, c.Env)
	if d.Variables = kept.Variables; !c.Variables.IsNull() {
		d.Variables = engine.Object()
		for name, v := range c.Variables.Fields() {
			known := true
			if v.Kind() == engine.KindString && v.Str() == Kept {
				v, known = kept.Variables.Lookup(name)
			}
			if known {
				d.Variables = d.Variables.With(name, v)
			}
		}
	}
	if d.Variables.IsNull() {
		d.Variables = engine.Object()
	}
	return d
}

// overlaid returns the given texts, with kept ones where they are [Kept], or all kept ones if none
// are given.
func overlaid(kept, given map[string]string) map[string]string {
	if given == nil {
		return kept
	}
	out := make(map[string]string, len(given))
	for name, text := range given {
		known := true
		if text == Kept {
			text, known = kept[name]
		}
		if known {
			out[name] = text
		}
	}
	return out
}

// sameTarget reports whether two servers receive what is sent to them at the same place.
func sameTarget(a, b Doc) bool {
	one, other := a.Server("", ""), b.Server("", "")
	one, other = one.resolved(), other.resolved()
	return reach.SameAddress(one.URL, other.URL) && (one.Type == TypeStdio) == (other.Type == TypeStdio) &&
		one.Command == other.Command && slices.Equal(one.Args, other.Args) && maps.Equal(one.Env, other.Env)
}
