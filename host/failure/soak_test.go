//go:build soak

package failure_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestSoak puts a mixed load on three hosts that share NATS and PostgreSQL, for the duration
// EASEL_SOAK (10m by default). One host after the other is killed, NATS now and then. Every client
// checks what it gets: each event once and in order, each step once, each turn once in its session.
// A fourth host is never killed: its memory and its goroutines stay flat.
func TestSoak(t *testing.T) {
	long := 10 * time.Minute
	if text := os.Getenv("EASEL_SOAK"); text != "" {
		var err error
		long, err = time.ParseDuration(text)
		require.NoError(t, err)
	}
	w := shared(t, buildPrograms(t), 1)
	keeper := w.start("keeper")
	for _, name := range []string{"a", "b", "c"} {
		w.start(name)
	}
	s := &soak{w: w, keeper: keeper, done: map[string]*atomic.Int64{}, began: time.Now()}
	for _, c := range s.clients() {
		s.done[c.name] = &atomic.Int64{}
	}
	s.chain, s.talk = w.canvas(w.outside.chain(steps)), w.canvas(talk)
	idle := metric(keeper.url, "go_goroutines")

	ctx, stop := context.WithTimeout(t.Context(), long)
	defer stop()
	var wg sync.WaitGroup
	for worker := range 6 {
		for _, c := range s.clients() {
			wg.Go(func() {
				for i := 0; ctx.Err() == nil && !t.Failed(); i++ {
					c.do(fmt.Sprintf("%s-%d-%d", c.name, worker, i))
					s.done[c.name].Add(1)
				}
			})
		}
	}
	wg.Go(func() { s.killHosts(ctx) })
	wg.Go(func() { s.killNATS(ctx) })
	wg.Go(func() { s.sample(ctx) })
	wg.Wait()

	s.summary()
	require.False(t, t.Failed())
	s.requireFlat(func(m sample) float64 { return float64(m.memory >> 20) }, 48, "MiB of memory")
	s.requireFlat(func(m sample) float64 { return m.routines }, 100, "goroutines")
	require.Eventually(t, func() bool {
		now := metric(keeper.url, "go_goroutines")
		return now >= 0 && now <= idle+20
	}, patience, 100*time.Millisecond, "goroutines stay: %v when idle before, %v now",
		idle, metric(keeper.url, "go_goroutines"))
}

// TestSoakIngestion kills hosts at 30 random moments of an ingestion, on both kinds of storage.
func TestSoakIngestion(t *testing.T) {
	bin := buildPrograms(t)
	t.Run("embedded", func(t *testing.T) { killIngest(embedded(t, bin), 30) })
	t.Run("shared", func(t *testing.T) { killIngest(shared(t, bin, 1), 30) })
}

// soak is the state of one long test.
type soak struct {
	w           *world
	keeper      *hostProcess
	chain, talk string
	began       time.Time

	done                 map[string]*atomic.Int64 // by client
	kills, natsKills     atomic.Int64
	connections, retries atomic.Int64
	replaced             atomic.Int64

	mu      sync.Mutex
	gap     time.Duration
	samples []sample
}

type sample struct {
	memory   int
	routines float64
}

type soakClient struct {
	name string
	do   func(query string)
}

func (s *soak) clients() []soakClient {
	return []soakClient{{"steps", s.steps}, {"words", s.words}, {"turns", s.turns}, {"cancel", s.cancel}}
}

// steps follows a chain over connections that end after a few events.
func (s *soak) steps(query string) {
	requireSteps(s.w.t, s.read(s.start(s.chain, "", query), 1+rand.IntN(10)), steps)
}

// words follows the answer of a model.
func (s *soak) words(string) {
	n := 20 + rand.IntN(300)
	var want strings.Builder
	for i := range n {
		fmt.Fprintf(&want, "word%d ", i)
	}
	got := answer(s.w.t, s.read(s.start(s.talk, "", fmt.Sprint("words:", n)), 1+rand.IntN(100)))
	require.Equal(s.w.t, strings.TrimSpace(want.String()), strings.TrimSpace(got))
}

// turns talks in one session. Each turn that was accepted is in it once.
func (s *soak) turns(query string) {
	var session struct{ ID string }
	s.ask("POST", "/api/v2/canvases/"+s.chain+"/sessions", `{}`, &session)
	const turns = 3
	for i := range turns {
		requireSteps(s.w.t, s.read(s.start(s.chain, session.ID, fmt.Sprintf("%s-turn%d", query, i)), 0), steps)
	}
	var list struct {
		Data []struct {
			Messages []struct{ Content, Role string }
		}
	}
	s.ask("GET", "/api/v1/agents/"+s.chain+"/sessions?id="+session.ID, "", &list)
	require.Len(s.w.t, list.Data, 1)
	said := map[string]int{}
	for _, m := range list.Data[0].Messages {
		if m.Role == "user" {
			said[m.Content]++
		}
	}
	for i := range turns {
		// A turn whose answer got lost with its host was repeated with the same text, and may be
		// there twice.
		require.Positive(s.w.t, said[fmt.Sprintf("%s-turn%d", query, i)], "turn %d of %v", i, said)
	}
}

// cancel stops a run whose model never ends.
func (s *soak) cancel(string) {
	run := s.start(s.talk, "", "endless")
	time.AfterFunc(time.Duration(rand.IntN(500))*time.Millisecond, func() {
		var answer struct{}
		s.ask("POST", "/api/v2/runs/"+run+"/cancel", "", &answer)
	})
	all := s.read(run, 1+rand.IntN(50))
	require.Contains(s.w.t, all[len(all)-1].data, "canceled")
}

// ask repeats a request until a host answers it. Requests that a killed host accepted may be done
// twice.
func (s *soak) ask(method, path, body string, into any) {
	for late := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		status, err := s.w.try(s.w.t.Context(), method, s.w.any()+path, body, into)
		if err == nil {
			return
		}
		if status != 0 && status != 503 {
			require.NoError(s.w.t, err)
		}
		if errors.Is(err, context.Canceled) {
			return
		}
		s.retries.Add(1)
		require.True(s.w.t, time.Now().Before(late), "no host answers: %v", err)
	}
}

func (s *soak) start(canvas, session, query string) string {
	var r struct{ ID string }
	body := fmt.Sprintf(`{"query":%q}`, query)
	if session != "" {
		body = fmt.Sprintf(`{"query":%q,"session":%q}`, query, session)
	}
	s.ask("POST", "/api/v2/canvases/"+canvas+"/runs", body, &r)
	return r.ID
}

// read follows a run to its end and compares with the log.
func (s *soak) read(run string, hop int) []event {
	r := s.w.follow(run, hop, nil)
	<-r.done
	require.NoError(s.w.t, r.err, "run %s", run)
	all := s.w.events(run)
	requireSame(s.w.t, all, r.events)
	s.connections.Add(int64(r.connections))
	s.replaced.Add(int64(r.replaced))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gap = max(s.gap, r.gap)
	return all
}

// killHosts kills one host every few seconds and starts it again.
func (s *soak) killHosts(ctx context.Context) {
	for pause(ctx, 3*time.Second+rand.N(3*time.Second)) {
		name := []string{"a", "b", "c"}[rand.IntN(3)]
		s.w.mu.Lock()
		h := s.w.hosts[name]
		s.w.mu.Unlock()
		s.w.kill(h)
		s.kills.Add(1)
		pause(ctx, rand.N(2*time.Second))
		s.w.start(name)
	}
}

// killNATS kills the server of the run log about once a minute.
func (s *soak) killNATS(ctx context.Context) {
	for pause(ctx, 45*time.Second+rand.N(30*time.Second)) {
		s.w.nats[0].Kill()
		s.natsKills.Add(1)
		pause(ctx, rand.N(time.Second))
		require.NoError(s.w.t, s.w.nats[0].Restart())
	}
}

// sample records the metrics of the host that is never killed.
func (s *soak) sample(ctx context.Context) {
	for pause(ctx, 5*time.Second) {
		m := sample{memory(s.w.t, s.keeper), metric(s.keeper.url, "go_goroutines")}
		s.mu.Lock()
		s.samples = append(s.samples, m)
		s.mu.Unlock()
		if len(s.samples)%12 == 0 {
			s.summary()
		}
	}
}

func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

func (s *soak) summary() {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "after %v:", time.Since(s.began).Round(time.Second))
	for _, c := range s.clients() {
		fmt.Fprintf(&b, " %s %d,", c.name, s.done[c.name].Load())
	}
	fmt.Fprintf(
		&b,
		" connections %d, events replaced after a take-over %d, requests repeated %d,"+
			" hosts killed %d, NATS killed %d, longest silence %v;",
		s.connections.Load(),
		s.replaced.Load(),
		s.retries.Load(),
		s.kills.Load(),
		s.natsKills.Load(),
		s.gap.Round(time.Millisecond),
	)
	if n := len(s.samples); n > 0 {
		fmt.Fprintf(&b, " the host that lives: %d MiB and %v goroutines at first, %d MiB and %v now",
			s.samples[0].memory>>20, s.samples[0].routines, s.samples[n-1].memory>>20, s.samples[n-1].routines)
	}
	fmt.Println(b.String()) // as it goes, not at the end
}

// requireFlat compares the medians of the second and of the last quarter.
func (s *soak) requireFlat(of func(sample) float64, slack float64, what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.samples)
	require.GreaterOrEqual(s.w.t, n, 8, "too short to tell")
	median := func(part []sample) float64 {
		var values []float64
		for _, m := range part {
			values = append(values, of(m))
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	early, late := median(s.samples[n/4:n/2]), median(s.samples[3*n/4:])
	s.w.t.Logf("%s: %v in the second quarter, %v in the last", what, early, late)
	require.LessOrEqual(s.w.t, late, 1.3*early+slack, what)
}

// memory returns the resident memory of a host, in bytes.
func memory(t testing.TB, h *hostProcess) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", h.PID()))
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, err := strconv.Atoi(strings.Fields(rest)[0])
			require.NoError(t, err)
			return n << 10
		}
	}
	require.FailNow(t, "no VmRSS")
	return 0
}
