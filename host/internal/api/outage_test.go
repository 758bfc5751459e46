package api

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// An outage writes a line at its beginning, and one with a count for each interval.
func TestFailuresOfAnOutageAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&text, nil))
		var o outages
		first := 0
		for range 700 {
			if o.note(logger, "database") {
				first++
			}
			time.Sleep(outageInterval / 400)
		}
		time.Sleep(3 * outageInterval)
		synctest.Wait()
		require.Equal(t, 1, first)
		require.Equal(t, 2, strings.Count(text.String(), "requests failed"), text.String())
		require.Contains(t, text.String(), "reason=database count=")
		require.True(t, o.note(logger, "database"), "another outage")
		time.Sleep(2 * outageInterval)
	})
}
