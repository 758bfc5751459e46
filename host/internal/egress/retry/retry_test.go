package retry

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestBackoffDoublesUpToTheLongest(t *testing.T) {
	for try, most := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		require.Greater(t, Backoff(try), most/2)
		require.LessOrEqual(t, Backoff(try), most)
	}
	require.LessOrEqual(t, Backoff(1000), Longest)
}

func TestAfterReadsTheHeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		date := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }
		for header, want := range map[string]time.Duration{
			"0": 0, "1.5": 1500 * time.Millisecond, "60": time.Minute,
			date(20 * time.Second): 20 * time.Second, date(-time.Hour): 0,
		} {
			wait, again := After(http.Header{"Retry-After": {header}}, 5)
			require.True(t, again, header)
			require.Equal(t, want, wait, header)
		}
		for _, header := range []string{"61", "1e300", date(2 * time.Minute)} {
			_, again := After(http.Header{"Retry-After": {header}}, 0)
			require.False(t, again, header)
		}
		for _, header := range []string{"", "soon", "-1", "NaN"} {
			wait, again := After(http.Header{"Retry-After": {header}}, 0)
			require.True(t, again, header)
			require.Greater(t, wait, time.Second/2, header)
		}
	})
}
