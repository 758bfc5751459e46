package runlog

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A flood of cancels of unknown names takes no more memory, and the last ones count.
func TestEarlyCancelsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c earlyCancels
		for i := range 5 * earlyMost {
			c.add(fmt.Sprint(i))
		}
		require.LessOrEqual(t, len(c.names)+len(c.older), 2*earlyMost)
		require.True(t, c.has(fmt.Sprint(4*earlyMost)))
		require.False(t, c.has("0"))
		time.Sleep(earlyKept)
		c.add("next")
		require.True(t, c.has("next"))
		time.Sleep(earlyKept)
		c.add("last")
		require.True(t, c.has("next"), "a minute later")
		time.Sleep(earlyKept)
		c.add("end")
		require.False(t, c.has("next"))
	})
}
