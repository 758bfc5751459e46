//go:build soak

package runner

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// soakTime is how long the long tests last; EASEL_SOAK overrides it ("30s").
func soakTime(t *testing.T) time.Duration {
	text := os.Getenv("EASEL_SOAK")
	if text == "" {
		return 10 * time.Minute
	}
	d, err := time.ParseDuration(text)
	require.NoError(t, err)
	return d
}

// leaderOf is the server that leads the run log.
func leaderOf(t *testing.T, l *Log) string {
	var leader string
	require.Eventually(t, func() bool {
		info, err := l.log.Info(t.Context())
		if err == nil && info.Cluster != nil {
			leader = info.Cluster.Leader
		}
		return leader != ""
	}, 30*time.Second, 100*time.Millisecond)
	return leader
}

// TestClusterLosesNothing kills and freezes hosts and the leading server of a
// cluster of three.
func TestClusterLosesNothing(t *testing.T) {
	urls, servers, restart := cluster(t)
	cfg := hostConfig{URLs: urls, Replicas: 3, Lease: 2 * time.Second}
	l := openTest(t, cfg.config())
	c := childConfig{Role: "host", Config: cfg, Steps: 60, Step: 50 * time.Millisecond}
	start(t, c)
	var healed sync.WaitGroup // what a fault broke is whole again
	faults := map[string]func(owner *child, leader int){
		"the owner is killed": func(owner *child, _ int) { owner.kill() },
		"the owner is frozen": func(owner *child, _ int) { owner.signal(syscall.SIGSTOP) },
		"the leader is killed": func(_ *child, leader int) {
			servers[leader].kill()
			healed.Go(func() {
				sleep(t.Context(), 2*time.Second)
				servers[leader] = restart(leader)
			})
		},
		"the leader is frozen for 15 s": func(_ *child, leader int) {
			server := servers[leader]
			server.signal(syscall.SIGSTOP)
			healed.Go(func() {
				sleep(t.Context(), 15*time.Second)
				server.signal(syscall.SIGCONT)
			})
		},
	}
	for name, fault := range faults {
		for round := range 2 {
			t.Run(fmt.Sprint(name, " ", round), func(t *testing.T) {
				c.Claim = fmt.Sprint("run ", name, round)
				owner := start(t, c)
				w := watch(t, l, c.Claim, 10)
				<-w.at
				defer healed.Wait()
				fault(owner, int(strings.TrimPrefix(leaderOf(t, l), "n")[0]-'0'))
				require.NoError(t, <-w.done)
				requireSteps(t, w.records, c.Steps)
				requireSteps(t, read(t, l, c.Claim, Pos{}), c.Steps)
				t.Logf("gap %v", w.gap)
				require.Less(t, w.gap, 20*time.Second)
			})
		}
	}
}

// TestMixedLoad runs many short runs on hosts of which one is killed at random
// now and then; every run is checked, and memory and goroutines stay flat.
func TestMixedLoad(t *testing.T) {
	port := freePort(t)
	natsChild(t, t.TempDir(), port)
	cfg := hostConfig{URLs: []string{url(port)}, Lease: time.Second}
	full := cfg.config()
	full.KeepEnded = 2 * time.Second
	l := openTest(t, full)
	c := childConfig{Role: "host", Config: cfg, Steps: 6, Step: 5 * time.Millisecond}
	hosts := []*child{start(t, c), start(t, c), start(t, c)}

	ctx, stop := context.WithTimeout(t.Context(), soakTime(t))
	defer stop()
	var runs, local atomic.Int64
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				id := fmt.Sprintf("%d-%d", worker, i)
				if i%2 == 0 {
					require.NoError(t, l.Submit(t.Context(), Run{ID: id}))
					requireSteps(t, read(t, l, id, Pos{}), c.Steps)
				} else {
					e, err := l.Claim(t.Context(), Run{ID: id})
					require.NoError(t, err)
					require.NoError(t, childConfig{Steps: 6}.toy(e.Context(), e))
					local.Add(1)
				}
				runs.Add(1)
			}
		})
	}
	var heap, routines []int
	for ctx.Err() == nil {
		sleep(ctx, 3*time.Second+rand.N(2*time.Second))
		i := rand.IntN(len(hosts))
		hosts[i].kill()
		hosts[i] = start(t, c)
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		heap, routines = append(heap, int(m.HeapAlloc>>10)), append(routines, runtime.NumGoroutine())
	}
	wg.Wait()
	t.Logf("%d runs, %d of them local; heap KiB %v; goroutines %v", runs.Load(), local.Load(), heap, routines)
	n := len(heap)
	require.Less(t, heap[n-1], 2*heap[n/4]+8<<10)
	require.Less(t, routines[n-1], routines[n/4]+50)
}
