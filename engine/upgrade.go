package engine

import (
	"strings"

	"github.com/easel-canvas/easel/engine/stable"
)

// renamed are component names that later versions of the format changed, ids and references
// included.
var renamed = map[string]string{
	"Splitter":           "TokenChunker",
	"HierarchicalMerger": "TitleChunker",
	"PDFGenerator":       "DocGenerator",
}

// upgrade brings an older document to the names in use now; a document without old names is
// returned as it is.
func upgrade(doc Value) Value {
	var pairs []string
	for id, entry := range doc.Get("components").Fields() {
		old := entry.Get("obj").Get("component_name").Str()
		to, ok := renamed[old]
		if !ok {
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
	u := upgrader{ids: idReplacer(pairs)}
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

type upgrader struct{ ids *strings.Replacer }

// value rewrites ids in every text and name, component names where they are one, and the type of
// graph nodes.
func (u *upgrader) value(key string, v Value) Value {
	switch v.Kind() {
	case KindString:
		s := v.Str()
		if to, ok := renamed[s]; ok && (key == "component_name" || key == "label") {
			return String(to)
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
		b := NewObject(v.Len())
		for k, e := range v.Fields() {
			b.Set(u.ids.Replace(k), u.value(k, e))
		}
		return b.Value()
	}
	return v
}
