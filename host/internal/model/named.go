package model

import (
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// modelParam is the parameter by which steps and their tools name a model.
const modelParam = "llm_id"

// UnknownIn returns a diagnostic for each model that a document names, in its steps, their tools
// and its settings, and that does not exist or is not one for chats. Steps that are switched off
// are left out, and so are references, because only a run knows them. Without any provider the
// offline model has every name.
func (m *Models) UnknownIn(doc engine.Value) (list []engine.Diagnostic) {
	if !m.Configured() {
		return nil
	}
	check := func(node, param, id string) {
		if err := m.Check(id); err != nil {
			list = append(list, engine.Diagnostic{
				Severity: engine.SeverityError, Code: engine.CodeUnknownModel, Node: node, Param: param,
				Message: err.Error(),
			})
		}
	}
	for _, id := range doc.Get("settings").Get("fallback_models").Elements() {
		check("", "settings.fallback_models", id.Str())
	}
	components := doc.Get("components")
	for node, entry := range components.Fields() {
		if switchedOff(components, node) {
			continue
		}
		for param, v := range entry.Get("obj").Get("params").Fields() {
			NamedIn(engine.Object(param, v), func(id string) { check(node, param, id) })
		}
	}
	return list
}

// switchedOff reports whether a step or a container around it is switched off.
func switchedOff(components engine.Value, id string) bool {
	for range components.Len() {
		node := components.Get(id)
		if node.Get("disabled").True() {
			return true
		}
		if id = node.Get("parent_id").Str(); id == "" {
			return false
		}
	}
	return false
}

// NamedIn passes on the models that a part of a document names.
func NamedIn(v engine.Value, found func(id string)) {
	for name, member := range v.Fields() {
		if id := member.Str(); name == modelParam && id != "" && !strings.Contains(id, "{") {
			found(id)
		}
		NamedIn(member, found)
	}
	for _, member := range v.Elements() {
		NamedIn(member, found)
	}
}

// Renamed returns a document with other ids of models, by their old ids, also in its graph.
func Renamed(v engine.Value, ids map[string]string) engine.Value {
	switch v.Kind() {
	case engine.KindObject:
		b := engine.NewObject(v.Len())
		for name, member := range v.Fields() {
			if id, ok := ids[member.Str()]; ok && name == modelParam {
				b.Set(name, engine.String(id))
			} else {
				b.Set(name, Renamed(member, ids))
			}
		}
		return b.Value()
	case engine.KindList:
		list := v.Slice()
		for i := range list {
			list[i] = Renamed(list[i], ids)
		}
		return engine.List(list...)
	}
	return v
}
