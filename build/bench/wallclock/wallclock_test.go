package wallclock

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The shapes run to their ends; their durations depend on the machine.
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
	require.NoError(t, Report(t.Context(), &b, time.Microsecond, 0, nil))
	for _, s := range shapes {
		require.Contains(t, b.String(), s.name)
	}
}

// Two branches of 1+3 and 3+2 units end in a join; other nodes do not count.
func TestCriticalIsTheLongestChain(t *testing.T) {
	components := ofTasks("", 0, []Task{
		{"a1", 1, nil}, {"a2", 3, []string{"a1"}}, {"b1", 3, nil}, {"b2", 2, []string{"b1"}}, {"c", 1, nil},
	}).nodes
	at := func(n float64) time.Time { return time.Unix(0, 0).Add(time.Duration(n * float64(time.Second))) }
	calls := []made{
		{"LLM:a1", 1, at(0), at(1)},
		{"LLM:c", 1, at(2), at(3)},
		{"LLM:b1", 3, at(0), at(3)},
		{"LLM:a2", 3, at(1), at(4)},
		{"LLM:b2", 2, at(3), at(5)},
	}
	require.InDelta(t, 5, critical(components, calls), 0)
	require.InDelta(t, 4, critical(components, calls[:4]), 0)
}
