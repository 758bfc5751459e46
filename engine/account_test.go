package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// growing writes a longer text in each execution, under another name in every third one, and then
// fails.
type growing struct{ runs int }

func (g *growing) Run(_ context.Context, call *Call) error {
	g.runs++
	call.Out("result", String(strings.Repeat("x", 40*g.runs)))
	if g.runs%3 == 0 {
		call.Out("_private", Int(int64(g.runs)))
		call.Out("late", List(Int(1)))
		return errors.New("third execution")
	}
	return nil
}

func growingCanvas(t *testing.T) *Canvas {
	t.Helper()
	reg, err := NewRegistry(Spec{Name: "Begin", Inline: true, New: func() Component { return &growing{} }},
		Spec{Name: "Grow", Inline: true, New: func() Component { return &growing{} }})
	require.NoError(t, err)
	c, err := Load(reg, []byte(`{"components": {
		"begin": {"obj": {"component_name": "Begin", "params": {"exception_method": "comment",
			"exception_default_value": "none"}}, "downstream": ["a"]},
		"a": {"obj": {"component_name": "Grow", "params": {"exception_method": "comment",
			"exception_default_value": "none", "outputs": {"result": {"type": "string", "value": "as saved"}}}},
			"downstream": []}}}`))
	require.NoError(t, err)
	return c
}

// Limits.State counts the outputs of nodes as they change; a state that has run is not added up
// again.
func TestSizeOfOutputsIsCurrent(t *testing.T) {
	c := growingCanvas(t)
	st := c.State()
	check := func() {
		t.Helper()
		size := int64(0)
		for i := range st.nodes {
			size += st.outSize(nodeIndex(i))
		}
		require.Equal(t, size, st.outBytes)
	}
	for turn := range 9 {
		for e, err := range c.Run(t.Context(), st, Input{}, Options{}) {
			require.NoError(t, err)
			require.NotEmpty(t, e.JSON)
			check()
		}
		switch turn {
		case 3:
			st.Reset(false)
		case 5:
			st = st.Clone()
		case 6:
			require.NoError(t, st.SetOutput("a", "result", String("edited")))
		case 7:
			saved, err := c.Restore(c.Save(st))
			require.NoError(t, err)
			st = saved
		}
	}
	require.Positive(t, st.outBytes)
}

// The events of a small run are far below the default limits, so they are not measured.
func TestSmallEventsAreNotMeasured(t *testing.T) {
	c := growingCanvas(t)
	yield := func(*Event, error) bool { return true }
	r := newRun(t.Context(), c, c.State(), Input{}, Options{}, yield)
	defer r.close()
	require.True(t, r.small(&Call{}))
	tight := newRun(t.Context(), c, c.State(), Input{}, Options{Limits: Limits{Event: 1 << 10}}, yield)
	defer tight.close()
	require.False(t, tight.small(&Call{}))
}
