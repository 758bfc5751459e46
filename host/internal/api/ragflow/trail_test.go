package ragflow

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// TestTraceOfANodeThatRanTwice has an entry for each time.
func TestTraceOfANodeThatRanTwice(t *testing.T) {
	tr := &trail{}
	e := engine.Object("event", "node_finished", "data", engine.Object("component_id", "A"))
	tr.add(e)
	require.Equal(t, 2, tr.add(e).Get("data").Get("trace").Len())
}
