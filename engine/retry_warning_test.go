package engine_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func TestRetriesAreReportedWhileTheyHappen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := load(t, `begin Begin -> a`, `a Odd {"mode":"fail","max_retries":2,"delay_after_error":0.01}`)
		var got []string
		for e, err := range c.Run(t.Context(), c.State(), engine.Input{}, engine.Options{Internal: true}) {
			if err != nil {
				break
			}
			if d := e.Data(); e.Type == engine.EventWarning {
				got = append(got, d.Get("text").Str()+" | "+d.Get("component_id").Str()+" "+
					d.Get("attempt").Text()+" of "+d.Get("attempts").Text())
			}
		}
		require.Equal(t, []string{
			"a: attempt 1 of 3 failed: it broke | a 2 of 3",
			"a: attempt 2 of 3 failed: it broke | a 3 of 3",
		}, got)
	})
}
