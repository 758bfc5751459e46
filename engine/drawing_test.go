package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// unequalHalves are params of real canvases whose components differ from their own graph, since
// one of the two was edited by hand.
var unequalHalves = map[string]string{
	"advanced_ingestion_pipeline Extractor:CuteBusesBet prompts":             "the components name another node",
	"later_compiler TokenChunker:LovelyPillowsOpen delimiters":               "the form has a line feed, the components nothing",
	"customer_review_analysis begin inputs":                                  "a value was removed from the graph",
	"later_data_analysis_beginner_assistant Agent:SillyStatesRun sys_prompt": "the prompt of the graph is newer",
}

// TestCanvasesFromTheirGraph removes the components of every real canvas and makes them again.
func TestCanvasesFromTheirGraph(t *testing.T) {
	reg := builtins(t)
	paths, err := filepath.Glob(filepath.Join(canvasFolder(t), "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			stored, err := engine.Load(reg, data)
			require.NoError(t, err)
			doc := stored.Document()
			if doc.Get("graph").Get("nodes").Len() == 0 {
				t.Skip("the file has no graph")
			}
			drawn, err := engine.LoadValue(reg, doc.Without("components"))
			require.NoError(t, err)
			for _, d := range halves(reg, doc, drawn.Document()) {
				if _, ok := unequalHalves[name+" "+strings.SplitN(d, ":: ", 2)[0]]; !ok {
					t.Error(d)
				}
			}
		})
	}
}

// halves lists the differences between the components of two documents, after defaults.
func halves(reg *engine.Registry, stored, drawn engine.Value) (out []string) {
	a, b := stored.Get("components"), drawn.Get("components")
	for id := range b.Fields() {
		if _, ok := a.Lookup(id); !ok {
			out = append(out, id+":: is only drawn")
		}
	}
	for id, x := range a.Fields() {
		y, ok := b.Lookup(id)
		if !ok {
			out = append(out, id+":: is not drawn")
			continue
		}
		differ := func(what string, v, w engine.Value) {
			if !engine.Equal(v, w) {
				out = append(out, fmt.Sprintf("%s %s:: stored %.300s, drawn %.300s", id, what, v.JSON(), w.JSON()))
			}
		}
		kind := x.Get("obj").Get("component_name")
		differ("component_name", kind, y.Get("obj").Get("component_name"))
		differ("parent_id", x.Get("parent_id"), y.Get("parent_id"))
		differ("downstream", sorted(x.Get("downstream")), sorted(y.Get("downstream")))
		if setups := y.Get("obj").Get("params").Get("setups"); setups.Truthy() && !x.Get("obj").Get("params").Get("setups").Truthy() {
			for kind, setup := range setups.Fields() { // the newest editor has them beside each other
				differ(kind, settled(x.Get("obj").Get("params").Get(kind), engine.Null), settled(setup, engine.Null))
			}
			continue
		}
		spec, err := reg.Lookup(kind.Str())
		if err != nil {
			out = append(out, err.Error())
			continue
		}
		for param, schema := range spec.Schema().Get("properties").Fields() {
			v, w := x.Get("obj").Get("params").Get(param), y.Get("obj").Get("params").Get(param)
			differ(param, settled(v, schema), settled(w, schema))
		}
	}
	return out
}

// settled returns the value that a component sees of a param: without a value its default. Ids of
// tools, which name nothing, positions and lists of extensions are left out.
func settled(v, schema engine.Value) engine.Value {
	if !v.Truthy() {
		v = schema.Get("default")
	}
	if !v.Truthy() {
		return engine.Null
	}
	return withoutNames(v)
}

func withoutNames(v engine.Value) engine.Value {
	switch v.Kind() {
	case engine.KindObject:
		out := engine.NewObject(v.Len())
		for k, e := range v.Fields() {
			if e.Truthy() && !slices.Contains([]string{"id", "index", "order_index", "suffix"}, k) {
				out.Set(k, withoutNames(e))
			}
		}
		return out.Value()
	case engine.KindList:
		var list []engine.Value
		for _, e := range v.Elements() {
			list = append(list, withoutNames(e))
		}
		return engine.List(list...)
	}
	return v
}

func sorted(list engine.Value) engine.Value {
	var ids []string
	for _, id := range list.Elements() {
		ids = append(ids, id.Str())
	}
	slices.Sort(ids)
	return engine.Strings(slices.Compact(ids)...)
}
