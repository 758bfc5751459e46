package model

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// modelParam is the parameter by which steps and their tools name a model, and fallbackSetting the
// setting that lists more.
const (
	modelParam      = "llm_id"
	fallbackSetting = "fallback_models"
)

// mostNames bounds the models that are looked up for one document, and mostAround the containers
// around a step: documents with more around one do not load.
const (
	mostNames  = 1000
	mostAround = 100
)

// UnknownIn returns a diagnostic for each place where a document names a model, in its steps, their
// tools and its settings, that does not exist or is not one for chats. Steps that are switched off
// are left out, and so are references, because only a run knows them. Without any provider the
// offline model has every name. Of a document with more than 1,000 models the others are not looked
// up, which is a diagnostic too.
func (m *Models) UnknownIn(doc engine.Value) (list []engine.Diagnostic) {
	if !m.Configured() {
		return nil
	}
	checked, reported, full := map[string]error{}, map[string]string{}, false
	report := func(node, param, message string) {
		list = append(list, engine.Diagnostic{
			Severity: engine.SeverityError, Code: engine.CodeUnknownModel, Node: node, Param: param, Message: message,
		})
	}
	check := func(node, param, id string) {
		err, known := checked[id]
		switch {
		case known:
		case len(checked) < mostNames:
			err = m.Check(id)
			checked[id] = err
		case !full:
			full = true
			report(node, param, fmt.Sprintf("more than %d models are named; the others are not looked up", mostNames))
		}
		if err == nil {
			return
		}
		message := err.Error()
		if first, ok := reported[id]; ok {
			message = fmt.Sprintf("%s %q, see %s", ErrUnknownModel, id, first)
		} else {
			reported[id] = cmp.Or(node, param)
		}
		report(node, param, message)
	}
	NamedIn(doc.Get("settings"), func(id string) { check("", "settings."+fallbackSetting, id) })
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
	for range mostAround {
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
	name := func(v engine.Value) {
		if id := v.Str(); id != "" && !strings.Contains(id, "{") {
			found(id)
		}
	}
	for key, member := range v.Fields() {
		switch key {
		case modelParam:
			name(member)
		case fallbackSetting:
			for _, one := range member.Elements() {
				name(one)
			}
		}
		NamedIn(member, found)
	}
	for _, member := range v.Elements() {
		NamedIn(member, found)
	}
}

// Renamed returns a document with other ids of models, by their old ids, also in its graph.
func Renamed(v engine.Value, ids map[string]string) engine.Value {
	next := func(v engine.Value) engine.Value {
		if id, ok := ids[v.Str()]; ok && v.Kind() == engine.KindString {
			return engine.String(id)
		}
		return Renamed(v, ids)
	}
	switch v.Kind() {
	case engine.KindObject:
		b := engine.NewObject(v.Len())
		for key, member := range v.Fields() {
			switch {
			case key == modelParam:
				member = next(member)
			case key == fallbackSetting && member.Kind() == engine.KindList:
				list := member.Slice()
				for i := range list {
					list[i] = next(list[i])
				}
				member = engine.List(list...)
			default:
				member = Renamed(member, ids)
			}
			b.Set(key, member)
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
