package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
)

const editable = `{"components":{
 "begin":{"obj":{"component_name":"Begin","params":{}},"downstream":["Switch:A"]},
 "Switch:A":{"obj":{"component_name":"Switch","params":{"conditions":[{"logical_operator":"and",` +
	`"items":[{"cpn_id":"sys.query","operator":"=","value":"x"}],"to":["Message:A"]}],"end_cpn_ids":["Message:B"]}},` +
	`"downstream":["Message:A","Message:B"]},
 "Message:A":{"obj":{"component_name":"Message","params":{"content":["first"]}}},
 "Message:B":{"obj":{"component_name":"Message","params":{"content":["second {sys.query}"]}}}
},"globals":{"sys.query":"","env.city":"Oslo"},"unknown":{"kept":1e3}}`

func said(t *testing.T, c *engine.Canvas, st *engine.State, query string) string {
	t.Helper()
	var text strings.Builder
	opt := engine.Options{Ports: engine.Ports{Clock: &enginetest.Clock{}, IDs: &enginetest.IDs{}}, Seed: 1}
	for e, err := range c.Run(t.Context(), st, engine.Input{Query: engine.String(query)}, opt) {
		require.NoError(t, err)
		if e.Type == engine.EventMessage {
			text.WriteString(e.Data().Get("content").Str())
		}
	}
	return text.String()
}

func TestPatchCompilesOneNode(t *testing.T) {
	old, err := engine.Load(builtins(t), []byte(editable))
	require.NoError(t, err)
	patched, err := old.Patch("Message:B", engine.Object("content", engine.Strings("third {env.city}")))
	require.NoError(t, err)

	for _, id := range old.Nodes() {
		before, _ := old.Component(id)
		after, _ := patched.Component(id)
		if id == "Message:B" {
			require.NotSame(t, before, after)
		} else {
			require.Same(t, before, after, id)
		}
	}
	require.Equal(t, "third Oslo", said(t, patched, patched.State(), "y"))
	require.Equal(t, "second y", said(t, old, old.State(), "y"), "the canvas it came from stays as it is")
}

// TestPatchEqualsLoad checks that a patched canvas equals the canvas loaded from its text.
func TestPatchEqualsLoad(t *testing.T) {
	reg := builtins(t)
	old, err := engine.Load(reg, []byte(editable))
	require.NoError(t, err)
	swapped := engine.Object("end_cpn_ids", engine.Strings("Message:A"))
	patched, err := old.Patch("Switch:A", swapped)
	require.NoError(t, err)
	text := patched.Save(patched.State())
	require.Contains(t, string(text), `"unknown":{"kept":1e3}`)
	loaded, err := engine.Load(reg, text)
	require.NoError(t, err)
	for _, query := range []string{"x", "y"} {
		a, b := patched.State(), loaded.State()
		require.Equal(t, said(t, loaded, b, query), said(t, patched, a, query))
		require.JSONEq(t, string(loaded.Save(b)), string(patched.Save(a)))
	}
	require.Equal(t, "first", said(t, patched, patched.State(), "y"))
}

func TestPatchRefuses(t *testing.T) {
	c, err := engine.Load(builtins(t), []byte(editable))
	require.NoError(t, err)
	tests := []struct {
		name, node string
		params     engine.Value
		want       string
	}{
		{"a node that does not exist", "Nope:A", engine.Object(), `no node "Nope:A"`},
		{"params that are not an object", "begin", engine.List(), "expected an object"},
		{"params that Load refuses", "Message:A", engine.Object("max_retries", -1), "max_retries"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := c.Patch(tt.node, tt.params)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestAdoptKeepsTheConversation(t *testing.T) {
	reg := builtins(t)
	c, err := engine.Load(reg, []byte(editable))
	require.NoError(t, err)
	st := c.State()
	said(t, c, st, "y")
	st.SetGlobal("env.city", engine.String("Bergen"))
	outputs := engine.Object("note", engine.Object("type", "string", "value", "new"))
	patched, err := c.Patch("Message:B", engine.Object("content", engine.Strings("in {env.city}"), "outputs", outputs))
	require.NoError(t, err)
	own, err := patched.Adopt(st)
	require.NoError(t, err)
	require.Len(t, own.History(), 2)
	note, _ := own.Output("Message:B", "note")
	require.Equal(t, "new", note.Str())
	require.Equal(t, "in Bergen", said(t, patched, own, "y"))
	require.Len(t, st.History(), 2, "the state it came from stays as it is")

	other, err := engine.Load(reg, []byte(`{"components":{"begin":{"obj":{"component_name":"Begin","params":{}}}}}`))
	require.NoError(t, err)
	_, err = other.Adopt(st)
	require.ErrorIs(t, err, engine.ErrState)
}

func TestGlobalsInOrder(t *testing.T) {
	c, err := engine.Load(builtins(t), []byte(editable))
	require.NoError(t, err)
	var names []string
	for name := range c.State().Globals() {
		names = append(names, name)
	}
	require.Equal(t, []string{
		"sys.query", "env.city", "sys.user_id", "sys.conversation_turns", "sys.files",
		"sys.history",
	}, names)
	for name, v := range c.State().Globals() {
		require.Equal(t, "sys.query", name)
		require.Equal(t, "", v.Str())
		break
	}
}

// TestPatchKeepsSettings checks that limits of the canvas hold after a change of a node.
func TestPatchKeepsSettings(t *testing.T) {
	doc := strings.Replace(editable, `"unknown"`, `"settings":{"limits":{"events":3}},"unknown"`, 1)
	old, err := engine.Load(builtins(t), []byte(doc))
	require.NoError(t, err)
	patched, err := old.Patch("Message:B", engine.Object("content", engine.Strings("third")))
	require.NoError(t, err)
	for _, c := range []*engine.Canvas{old, patched} {
		var failed error
		for _, err := range c.Run(t.Context(), c.State(), engine.Input{}, engine.Options{}) {
			failed = err
		}
		require.ErrorIs(t, failed, engine.ErrLimit)
	}
}
