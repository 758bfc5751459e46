package component_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// Lists that grow turn by turn, collected ones and variables, are in the log once, and a run that
// is continued from any checkpoint has them whole.
func TestGrowingListsAreLoggedOnce(t *testing.T) {
	const turns, size = 400, 300
	said := strings.Repeat("x", size)
	doc := sketch.Bytes(`begin Begin {"inputs": {"l": {}}} -> X`,
		`X Iteration {"items_ref": "begin@l", "outputs": {"all": {"ref": "S@result"}}} -> M`,
		`II IterationItem -> S ^ X`,
		`S StringTransform {"method": "merge", "script": "{item} `+said+`"} -> V ^ X`,
		`V VariableAssigner {"variables": [{"variable": "env.kept", "operator": "append", `+
			`"parameter": "S@result"}]} ^ X`,
		`M Message {"content": ["{X@all}{env.kept}"]}`)
	parsed, err := engine.ParseJSON(doc)
	require.NoError(t, err)
	globals := parsed.Get("globals").With("env.kept", engine.List())
	parsed = parsed.With("globals", globals).With("variables", value(t, `{"kept": {"type": "array"}}`))
	c, err := engine.Load(registry(t), []byte(parsed.JSON()))
	require.NoError(t, err)
	items := engine.List()
	for i := range turns {
		items = items.Append(engine.Int(int64(i)))
	}
	var log []*engine.Event
	events, kept := 0, 0
	opt := engine.Options{Checkpoints: true, Seed: 1}
	for e, err := range c.Run(t.Context(), c.State(), engine.Input{Inputs: engine.Object("l", items)}, opt) {
		require.NoError(t, err)
		switch log = append(log, e.Clone()); e.Type {
		case engine.EventCheckpoint, engine.EventSnapshot:
			kept += len(e.JSON)
		default:
			events += len(e.JSON)
		}
	}
	require.Less(t, kept, 2*events, "checkpoints and snapshots for %d events", len(log))
	answer := func(log []*engine.Event) string {
		said := ""
		for _, e := range log {
			if e.Type == engine.EventMessage {
				said += e.Data().Get("content").Str()
			}
		}
		return said
	}
	want := answer(log)
	require.Equal(t, 2*turns, strings.Count(want, said))
	for i := 0; i < len(log); i += 97 {
		for log[i].Type != engine.EventCheckpoint {
			i++
		}
		st, err := c.StateAt(log[:i+1], 0)
		require.NoError(t, err)
		var rest []*engine.Event
		for e, err := range c.Continue(t.Context(), st, opt) {
			require.NoError(t, err)
			rest = append(rest, e.Clone())
		}
		require.Equal(t, want, answer(rest), "continued from entry %d", i)
	}
	// A log with a gap is refused.
	var whole []*engine.Event
	for _, e := range log {
		if e.Type != engine.EventCheckpoint || len(whole) < 60 || len(whole) > 120 {
			whole = append(whole, e)
		}
	}
	_, err = c.StateAt(whole[:130], 0)
	require.ErrorIs(t, err, engine.ErrState)
}
