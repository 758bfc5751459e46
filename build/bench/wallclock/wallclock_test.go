package wallclock

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The shapes run to their ends; how long they take depends on the machine.
func TestShapesRun(t *testing.T) {
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			for _, mode := range Modes {
				_, err := run(t.Context(), s.nodes, mode, time.Microsecond)
				require.NoError(t, err)
			}
		})
	}
}

func TestReportNamesEachShape(t *testing.T) {
	t.Setenv("EASEL_CANVASES", "")
	var b strings.Builder
	require.NoError(t, Report(t.Context(), &b, time.Microsecond, nil))
	for _, s := range shapes {
		require.Contains(t, b.String(), s.name)
	}
}
