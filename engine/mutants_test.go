package engine_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// mutant is a canvas with one change that a person, a program or a merge could make.
type mutant struct {
	what string
	dsl  engine.Value
}

// mutants returns all mutants of a canvas.
func mutants(dsl engine.Value) (list []mutant) {
	m := mutator{dsl: dsl, components: dsl.Get("components")}
	for id := range m.components.Fields() {
		m.ids = append(m.ids, id)
	}
	for i, id := range m.ids {
		entry := m.components.Get(id)
		next := m.ids[(i+1)%len(m.ids)]
		m.add(m.without(id), "delete %s", id)
		m.add(m.renamed(id, id+"x"), "rename %s", id)
		m.add(m.components.With(id+"2", entry), "duplicate %s", id)
		m.edges(id, entry)
		m.parents(id, entry, next)
		m.params(id, entry)
		swapped := m.components.With(id, entry.With("downstream", m.components.Get(next).Get("downstream")))
		m.add(swapped.With(next, m.components.Get(next).With("downstream", entry.Get("downstream"))),
			"swap edges of %s and %s", id, next)
	}
	for _, member := range []string{
		"path", "waiting", "run", "history", "retrieval", "globals", "variables", "memory",
		"graph",
	} {
		for _, v := range unlikely {
			m.list = append(m.list, mutant{fmt.Sprintf("%s: %s", member, v.JSON()), m.dsl.With(member, v)})
		}
	}
	return m.list
}

// unlikely are values that most places do not expect.
var unlikely = []engine.Value{
	engine.Null, engine.Int(5), engine.Bool(true), engine.String(""), engine.String("Missing:X"),
	engine.List(), engine.List(engine.Int(5)), engine.Strings("Missing:X"), engine.Object(), engine.Object("value", 5),
}

type mutator struct {
	dsl, components engine.Value
	ids             []string
	list            []mutant
}

func (m *mutator) add(components engine.Value, what string, args ...any) {
	m.list = append(m.list, mutant{fmt.Sprintf(what, args...), m.dsl.With("components", components)})
}

func (m *mutator) without(id string) engine.Value { return m.renamed(id, "") }

// renamed returns the components with another id for one of them; "" leaves it out.
func (m *mutator) renamed(id, to string) engine.Value {
	b := engine.NewObject(len(m.ids))
	for name, entry := range m.components.Fields() {
		if name == id {
			name = to
		}
		if name != "" {
			b.Set(name, entry)
		}
	}
	return b.Value()
}

func (m *mutator) edges(id string, entry engine.Value) {
	for _, v := range unlikely {
		m.add(m.components.With(id, entry.With("downstream", v)), "downstream of %s: %s", id, v.JSON())
	}
	for _, to := range m.ids {
		m.add(m.components.With(id, entry.With("downstream", entry.Get("downstream").Append(engine.String(to)))),
			"edge from %s to %s", id, to)
	}
}

func (m *mutator) parents(id string, entry engine.Value, next string) {
	m.add(m.components.With(id, without(entry, "parent_id")), "no parent_id of %s", id)
	for _, parent := range m.ids {
		m.add(m.components.With(id, entry.With("parent_id", engine.String(parent))), "%s is the parent of %s", parent,
			id)
	}
	cycle := m.components.With(id, entry.With("parent_id", engine.String(next)))
	m.add(cycle.With(next, cycle.Get(next).With("parent_id", engine.String(id))), "%s and %s are parents of each other",
		id, next)
	for _, v := range unlikely {
		m.add(m.components.With(id, entry.With("parent_id", v)), "parent_id of %s: %s", id, v.JSON())
	}
}

func (m *mutator) params(id string, entry engine.Value) {
	obj := entry.Get("obj")
	params := obj.Get("params")
	for _, v := range unlikely {
		m.add(m.components.With(id, entry.With("obj", v)), "obj of %s: %s", id, v.JSON())
		m.add(m.components.With(id, entry.With("obj", obj.With("component_name", v))), "component_name of %s: %s", id,
			v.JSON())
		m.add(m.components.With(id, entry.With("obj", obj.With("params", v))), "params of %s: %s", id, v.JSON())
	}
	with := func(params engine.Value) engine.Value {
		return m.components.With(id, entry.With("obj", obj.With("params", params)))
	}
	for name := range params.Fields() {
		m.add(with(without(params, name)), "no %s of %s", name, id)
		for _, v := range unlikely {
			m.add(with(params.With(name, v)), "%s of %s: %s", name, id, v.JSON())
		}
	}
}

func without(v engine.Value, key string) engine.Value {
	b := engine.NewObject(v.Len())
	for k, x := range v.Fields() {
		if k != key {
			b.Set(k, x)
		}
	}
	return b.Value()
}

// failsWhenReached are the errors of Validate in canvases that load: a run fails, or does not
// finish, when it comes to the node.
var failsWhenReached = []string{
	"does not run here", "no such variable", "in this canvas", "has no start node inside", "stands outside",
	"cannot open the body of", "opens the body of", "in the body of this node", "so that the run never finishes",
	"is not supported; use", "cannot be used as a tool",
	"an error leads nowhere",
}

// TestValidateAgreesWithLoad compares Validate with Load for mutants of all canvases: a canvas
// without errors loads, and a problem that Load refuses is an error.
func TestValidateAgreesWithLoad(t *testing.T) {
	t.Parallel()
	const each = 25 // mutants of a canvas
	reg := builtins(t)
	for i, dsl := range manyCanvases(t) {
		all := mutants(dsl)
		rng := rand.New(rand.NewPCG(1, uint64(i)))
		for range each {
			m := all[rng.IntN(len(all))]
			text := m.dsl.AppendJSON(nil)
			problems := slices.DeleteFunc(engine.Validate(reg, text),
				func(p engine.Diagnostic) bool { return p.Severity != engine.SeverityError })
			if _, err := engine.Load(reg, text); err != nil {
				require.NotEmpty(t, problems, "canvas %d, %s: load: %v", i, m.what, err)
				continue
			}
			for _, p := range problems {
				known := func(text string) bool { return strings.Contains(p.Message, text) }
				require.True(t, slices.ContainsFunc(failsWhenReached, known), "canvas %d, %s: it loads, but: %s", i,
					m.what, p)
			}
		}
	}
}

// manyCanvases returns the canvases of all cases, and real ones where there are some.
func manyCanvases(t *testing.T) (list []engine.Value) {
	paths, err := filepath.Glob("testdata/cases/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	if folder := os.Getenv("EASEL_CANVASES"); folder != "" {
		more, err := filepath.Glob(filepath.Join(folder, "*.json"))
		require.NoError(t, err)
		paths = append(paths, more...)
	}
	for _, path := range paths {
		doc := readJSON(t, path)
		if dsl := doc.Get("dsl"); dsl.Kind() == engine.KindObject {
			doc = dsl
		}
		list = append(list, doc)
	}
	return list
}
