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
