//go:build soak

package failure_test

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestSchedulesInACluster sets schedules on three NATS servers and kills their leader twice, while
// one after the other is due. Each starts one run, whose work is done once.
func TestSchedulesInACluster(t *testing.T) {
	w := shared(t, buildPrograms(t), 3)
	h := w.start("a")
	w.start("b")
	canvas := w.canvas(w.outside.chain(1))
	const moments = 24
	first := time.Now().UTC().Truncate(time.Second).Add(15 * time.Second)
	for i := range moments {
		at := first.Add(time.Duration(i) * time.Second)
		body := fmt.Sprintf(`{"name":"moment %d","canvas":%q,"cron":"%d %d %d %d %d *","query":"moment-%d"}`,
			i, canvas, at.Second(), at.Minute(), at.Hour(), at.Day(), at.Month(), i)
		w.call("POST", h.url+"/api/v2/schedules", body, nil)
	}
	require.Less(t, time.Now(), first, "too slow to set them before they are due")
	times := func(i int) int { return w.outside.times(fmt.Sprintf("/moment-%d/1", i)) }
	wait := func(i int) {
		t.Helper()
		require.Eventually(t, func() bool { return times(i) > 0 }, patience, 10*time.Millisecond, "moment %d", i)
	}
	for _, kill := range []int{4, 14} {
		wait(kill)
		w.whole()
		leader := w.leaderOf("easel_RUNS")
		leader.Kill()
		wait(kill + 3) // the others continue
		require.NoError(t, leader.Restart())
	}
	for i := range moments {
		wait(i)
	}
	late := time.Since(first.Add((moments - 1) * time.Second))
	time.Sleep(5 * time.Second) // a second run of the same moment would come now
	for i := range moments {
		require.Equal(t, 1, times(i), "moment %d", i)
	}
	var runs struct {
		Total int
		Items []struct{ Status string }
	}
	w.call("GET", w.any()+"/api/v2/runs?page_size=100&canvas="+url.QueryEscape(canvas), "", &runs)
	require.Equal(t, moments, runs.Total, "one run each")
	for _, r := range runs.Items {
		require.Equal(t, "succeeded", r.Status)
	}
	t.Logf("the last one was done %v after its time", late.Round(time.Millisecond))
}
