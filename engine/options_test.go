package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func TestOptionsThatNameNoNodeAreRefused(t *testing.T) {
	tests := []struct {
		name string
		opt  engine.Options
	}{
		{"From", engine.Options{From: "gone"}},
		{"Until", engine.Options{Until: "gone"}},
		{"Pins", engine.Options{Pins: map[string]engine.Value{"gone": engine.Object("result", "x")}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := load(t, `begin Begin -> a`, `a Text {"script":"A"}`)
			st := c.State()
			got, err := story(t, c, st, engine.Input{Query: engine.String("q")}, tt.opt)
			require.ErrorIs(t, err, engine.ErrRef)
			require.ErrorContains(t, err, `option `+tt.name)
			require.ErrorContains(t, err, `"gone"`)
			require.Empty(t, flat(got), "no event is emitted")
			require.Empty(t, st.History(), "the conversation is as it was")
		})
	}
}

// A run that ended only inside a group would go on to its end.
func TestUntilInsideAGroupIsRefused(t *testing.T) {
	c := load(t, `begin Begin -> g`, `g Each {"items_ref":"sys.query"} -> b`, `ii Item -> i ^ g`,
		`i Text {"script":"I"} ^ g`, `b Text {"script":"B"}`)
	got, err := story(t, c, c.State(), engine.Input{Query: engine.String("q")}, engine.Options{Until: "i"})
	require.ErrorContains(t, err, `option Until: node "i" is inside a group`)
	require.Empty(t, flat(got), "no event is emitted")
}
