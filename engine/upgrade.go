package engine

import (
	"strings"

	"github.com/easel-canvas/easel/engine/stable"
)

// upgrade converts an older document to the current component names, ids and references included; a
// document without old names is returned as it is.
func upgrade(reg *Registry, doc Value) Value {
	var pairs []string
	for id, entry := range doc.Get("components").Fields() {
		old := entry.Get("obj").Get("component_name").Str()
		to := reg.renamed(old)
		if to == "" {
			continue
		}
		if rest, ok := strings.CutPrefix(id, old+":"); ok {
			pairs = append(pairs, id+"\x00"+to+":"+rest)
		}
		pairs = append(pairs, old)
	}
	if len(pairs) == 0 {
		return doc
	}
	stable.Sort(pairs, func(a, b string) int { return len(b) - len(a) }) // longer ids first
	u := upgrader{registry: reg, ids: idReplacer(pairs)}
	return u.value("", doc)
}

func idReplacer(pairs []string) *strings.Replacer {
	var args []string
	for _, p := range pairs {
		if from, to, ok := strings.Cut(p, "\x00"); ok {
			args = append(args, from, to)
		}
	}
	return strings.NewReplacer(args...)
}

type upgrader struct {
	registry *Registry
	ids      *strings.Replacer
}

// value rewrites ids in every text and name, component names where they are one, and the type of
// graph nodes.
func (u *upgrader) value(key string, v Value) Value {
	switch v.Kind() {
	case KindString:
		s := v.Str()
		if key == "component_name" || key == "label" {
			if to := u.registry.renamed(s); to != "" {
				return String(to)
			}
		}
		if key == "type" && s == "splitterNode" {
			return String("chunkerNode")
		}
		return String(u.ids.Replace(s))
	case KindList:
		vals := make([]Value, v.Len())
		for i, e := range v.Elements() {
			vals[i] = u.value("", e)
		}
		return listOf(vals)
	case KindObject:
		v = u.registry.upgradeParams(v)
		b := NewObject(v.Len())
		for k, e := range v.Fields() {
			b.Set(u.ids.Replace(k), u.value(k, e))
		}
		return b.Value()
	}
	return v
}
