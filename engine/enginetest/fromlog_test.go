package enginetest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
)

// Each run of the conformance cases becomes a case by its log alone, and passes with the answers of
// the log.
func TestRunsBecomeCases(t *testing.T) {
	made := 0
	for _, text := range cases(t) {
		c, err := enginetest.ReadCase(text)
		require.NoError(t, err)
		logs := map[int][]*engine.Event{}
		player := &enginetest.Player{
			Registry: registry(t), Concurrency: 1,
			Log: func(run int, e *engine.Event) { logs[run] = append(logs[run], e) },
		}
		observed, err := player.Play(t.Context(), c)
		require.NoError(t, err)
		dsl := c.DSL
		for i, seen := range observed.Get("runs").Elements() {
			r := c.Runs[i]
			before := dsl
			if after := seen.Get("dsl_after"); !after.IsNull() {
				dsl = after
			}
			if r.Cancel != nil || r.Debug != nil || r.Reset != enginetest.ResetNothing || r.Fresh || len(logs[i]) == 0 {
				continue
			}
			one, err := (&enginetest.Player{Registry: registry(t)}).FromLog(t.Context(), c.Name, "", before, logs[i])
			if err != nil {
				t.Errorf("%s, run %d: %v", c.Name, i+1, err)
				continue
			}
			made++
			require.NotEmpty(t, one.Runs[0].Want.Get("events").Elements(), c.Name)
		}
	}
	require.Greater(t, made, 250)
}
