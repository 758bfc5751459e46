package engine_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// Two steps of a batch that cite and read earlier citations must not share memory that they write.
func TestConcurrentCitations(t *testing.T) {
	reg := toys(t)
	require.NoError(t, reg.Add(engine.Spec{Name: "Cite", New: func() engine.Component {
		return worker(func(_ context.Context, call *engine.Call) error {
			for i := range 200 {
				id := fmt.Sprintf("%s-%d", call.NodeID(), i)
				call.Cite([]engine.Value{engine.Object("chunk_id", id, "content", "text")}, nil)
				call.Chunks()
			}
			return nil
		})
	}}))
	c, err := engine.Load(reg, sketch.Bytes(`begin Begin -> f`, `f Cite {} -> a b`, `a Cite {}`, `b Cite {}`))
	require.NoError(t, err)
	st := c.State()
	_, err = story(t, c, st, engine.Input{}, engine.Options{})
	require.NoError(t, err)
	require.Equal(t, "f", st.CitedBy(engine.CitationNumber("f-0")), "who found a passage is known by its number")
}
