package app_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/easel-canvas/easel/host/internal/app"
)

// Requests send any number of tags, which are cleaned before they are counted.
func TestCleanTagsIsLinear(t *testing.T) {
	took := func(n int) time.Duration {
		tags := make([]string, n)
		for i := range tags {
			tags[i] = strconv.Itoa(1_000_000 + i)
		}
		best := time.Hour
		for range 3 {
			start := time.Now()
			if got := app.CleanTags(append(tags, " 1000000 ", "")); len(got) != n {
				t.Fatalf("%d tags, want %d", len(got), n)
			}
			best = min(best, time.Since(start))
		}
		return best
	}
	const times = 32
	if ratio := took(times*1000).Seconds() / took(1000).Seconds(); ratio > 10*times {
		t.Errorf("%d times the tags took %.0f times as long", times, ratio)
	}
}
