package model

import (
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// modelParam is the parameter by which steps and their tools name a model.
const modelParam = "llm_id"

// Named is the id of a model in the params of a step.
type Named struct {
	ID    string
	Param string // the param of the step that has it: llm_id, or the one around it, such as tools
}

// NamedIn lists the models that the params of a step and of its tools name. References are left
// out, because only a run knows them.
func NamedIn(params engine.Value) (list []Named) {
	for name, v := range params.Fields() {
		eachModel(engine.Object(name, v), func(id string) { list = append(list, Named{ID: id, Param: name}) })
	}
	return list
}

func eachModel(v engine.Value, found func(id string)) {
	for name, member := range v.Fields() {
		if id := member.Str(); name == modelParam && id != "" && !strings.Contains(id, "{") {
			found(id)
		}
		eachModel(member, found)
	}
	for _, member := range v.Elements() {
		eachModel(member, found)
	}
}

// Renamed returns a document with other ids of models, by their old ids, also in its graph, and how
// many were replaced.
func Renamed(v engine.Value, ids map[string]string) (engine.Value, int) {
	count := 0
	switch v.Kind() {
	case engine.KindObject:
		out := v
		for name, member := range v.Fields() {
			next, n := Renamed(member, ids)
			if id, ok := ids[member.Str()]; ok && name == modelParam {
				next, n = engine.String(id), 1
			}
			if n > 0 {
				out, count = out.With(name, next), count+n
			}
		}
		return out, count
	case engine.KindList:
		list := v.Slice()
		for i, member := range list {
			next, n := Renamed(member, ids)
			list[i], count = next, count+n
		}
		if count > 0 {
			return engine.List(list...), count
		}
	}
	return v, 0
}
