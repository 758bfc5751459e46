package failure_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// echo is a canvas whose turns take almost no time, so that a kill hits the work of the host around
// them.
var echo = sketch.Canvas("begin Begin -> Message:A", `Message:A Message {"content":["echo of {sys.query}"]}`)

// freeWithin bounds the time until a session is free after a kill, far above measured values: the
// lease, or the 5 s after which a waiting turn searches for lost runs. A turn itself would wait for
// 5 minutes.
const freeWithin = time.Minute

// turnsEmbedded kills a host while clients take turns in a few sessions.
func turnsEmbedded(t *testing.T, bin programs) {
	w := embedded(t, bin)
	w.start("a")
	w.killBetweenClaimAndRun(w.slowInserts)
	w.turnsUnderKills(6)
}

func turnsShared(t *testing.T, bin programs) {
	w := shared(t, bin, 1)
	w.start("a")
	w.start("b")
	w.killBetweenClaimAndRun(w.lockedInserts)
	w.turnsUnderKills(6)
}

// turnClients are clients that take turns in the same few sessions.
type turnClients struct {
	w        *world
	canvas   string
	sessions []string

	acknowledged, refused, broken atomic.Int64

	mu    sync.Mutex
	wait  time.Duration              // the longest of a turn that was acknowledged
	turns map[string]map[string]bool // by session and query: whether it was acknowledged
}

// turnsUnderKills lets six clients take turns in eight sessions and kills hosts, which start again
// at once. Then each session is free and has every acknowledged turn once, and no other turn twice.
func (w *world) turnsUnderKills(kills int) {
	t := w.t
	c := &turnClients{w: w, canvas: w.canvas(echo), turns: map[string]map[string]bool{}}
	for range 8 {
		session := w.session(c.canvas)
		c.sessions = append(c.sessions, session)
		c.turns[session] = map[string]bool{}
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var clients sync.WaitGroup
	for client := range 6 {
		clients.Go(func() {
			for i := 0; ctx.Err() == nil && !t.Failed(); i++ {
				c.take(c.sessions[rand.IntN(len(c.sessions))], fmt.Sprintf("query-%d-%d", client, i))
			}
		})
	}
	for range kills {
		before := c.acknowledged.Load()
		require.Eventually(t, func() bool {
			return c.acknowledged.Load() >= before+10
		}, patience, time.Millisecond, "clients are served")
		time.Sleep(rand.N(100 * time.Millisecond)) // the kill comes at any moment of a turn
		w.mu.Lock()
		var victim *hostProcess
		for _, victim = range w.hosts { // in no order
			break
		}
		w.mu.Unlock()
		w.kill(victim)
		w.start(victim.name)
	}
	stop()
	clients.Wait()
	var slowest time.Duration
	for _, session := range c.sessions {
		slowest = max(slowest, w.requireFree(c.canvas, session))
		c.requireTurns(session)
	}
	t.Logf(
		"%d kills: %d turns acknowledged, within %v under kills and %v after them; %d requests refused, %d broken off",
		kills,
		c.acknowledged.Load(),
		c.wait,
		slowest,
		c.refused.Load(),
		c.broken.Load(),
	)
}

// take requests one turn once. An unacknowledged turn may be executed or not.
func (c *turnClients) take(session, query string) {
	urls := c.w.urls()
	if len(urls) == 0 {
		time.Sleep(5 * time.Millisecond)
		return
	}
	c.note(session, query, false, 0)
	began := time.Now()
	ctx, stop := context.WithTimeout(c.w.t.Context(), patience)
	defer stop()
	url := urls[rand.IntN(len(urls))] + "/api/v2/canvases/" + c.canvas + "/runs"
	status, err := c.w.try(ctx, "POST", url, fmt.Sprintf(`{"query":%q,"session":%q}`, query, session), nil)
	switch {
	case err == nil:
		c.note(session, query, true, time.Since(began))
		c.acknowledged.Add(1)
	case ctx.Err() != nil:
		c.w.t.Errorf("session %s is stuck: no answer to a turn within %v", session, patience)
	case status == http.StatusServiceUnavailable:
		c.refused.Add(1)
	case status == 0 || status < 300:
		c.broken.Add(1) // with its host
	default:
		c.w.t.Errorf("turn in session %s: %v", session, err)
	}
}

func (c *turnClients) note(session, query string, acknowledged bool, wait time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wait = max(c.wait, wait)
	c.turns[session][query] = acknowledged
}

// requireFree takes a turn in a session and returns how long it was until the turn was accepted.
func (w *world) requireFree(canvas, session string) time.Duration {
	t := w.t
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), freeWithin)
	defer stop()
	began := time.Now()
	var r struct{ ID string }
	url := w.any() + "/api/v2/canvases/" + canvas + "/runs"
	err := w.insist(ctx, url, fmt.Sprintf(`{"query":"the last one","session":%q}`, session), &r)
	require.NoError(t, err, "session %s is stuck", session)
	took := time.Since(began)
	w.follow(r.ID, 0, nil).wait()
	status, problem := w.status(r.ID)
	require.Equal(t, "succeeded", status, problem)
	return took
}

// requireTurns checks the transcript of a session that is free: it holds everything that was
// acknowledged.
func (c *turnClients) requireTurns(session string) {
	t := c.w.t
	t.Helper()
	messages, rounds := c.w.turns(c.canvas, session)
	require.Len(t, messages, 1+2*rounds, "a greeting and pairs")
	times := map[string]int{}
	for i := 1; i < len(messages); i += 2 {
		times[messages[i]]++
		require.Equal(t, "echo of "+messages[i], messages[i+1])
	}
	for query, acknowledged := range c.turns[session] {
		if acknowledged {
			require.Equal(t, 1, times[query], "acknowledged turn %s of session %s", query, session)
		}
		require.LessOrEqual(t, times[query], 1, "turn %s of session %s", query, session)
		delete(times, query)
	}
	require.Equal(t, map[string]int{"the last one": 1}, times, "turns that no client asked for")
}

// killBetweenClaimAndRun kills a host at the worst moment of a turn's start: when the row of its
// run is being written. hold keeps the database from finishing that write in a session until dead
// is called, after the kill.
//
// A session that an earlier version left assigned to a run that does not exist is free as well.
func (w *world) killBetweenClaimAndRun(hold func(session string) (writing func(), dead func())) {
	t := w.t
	canvas := w.canvas(echo)
	session, old := w.session(canvas), w.session(canvas)
	db := w.database()
	_, err := db.Exec(`UPDATE sessions SET run_id = 'nowhere' WHERE id = $1`, old)
	require.NoError(t, err)

	writing, dead := hold(session)
	w.mu.Lock()
	h := w.hosts["a"]
	w.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		body := fmt.Sprintf(`{"query":"x","session":%q}`, session)
		if _, err := w.try(t.Context(), "POST", h.url+"/api/v2/canvases/"+canvas+"/runs", body, nil); err == nil {
			t.Error("the turn was acknowledged before it was written")
		}
	}()
	writing()
	w.kill(h)
	dead()
	<-ended
	require.NoError(t, db.Close())
	w.start("a")
	took, tookOld := w.requireFree(canvas, session), w.requireFree(canvas, old)
	t.Logf("free %v after the restart, and %v where a former version left a claim", took, tookOld)
	if w.postgres != nil {
		require.Greater(t, tookOld, 4*time.Second, "a host of that version may be about to write the run")
	}
}

// database returns a connection to the records of the world's hosts.
func (w *world) database() *sql.DB {
	driver, address := "sqlite", "file:"+filepath.Join(w.dir, "data", "easel.db")+"?_pragma=busy_timeout(10000)"
	if w.postgres != nil {
		driver, address = "pgx", w.postgres.URL
	}
	db, err := sql.Open(driver, address)
	require.NoError(w.t, err)
	return db
}

// slowInserts makes SQLite count to a very large number while it writes the run of a session.
func (w *world) slowInserts(session string) (writing, dead func()) {
	t := w.t
	db := w.database()
	_, err := db.Exec(`CREATE TRIGGER slow BEFORE INSERT ON runs WHEN NEW.session_id = '` + session + `' BEGIN
		SELECT (WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 100000000000)
			SELECT count(*) FROM c); END`)
	require.NoError(t, err)
	writing = func() {
		// Other writes are over at once.
		impatient, err := sql.Open(
			"sqlite",
			"file:"+filepath.Join(w.dir, "data", "easel.db")+"?_pragma=busy_timeout(300)",
		)
		require.NoError(t, err)
		defer impatient.Close()
		require.Eventually(t, func() bool {
			_, err := impatient.Exec(`UPDATE meta SET value = value`)
			return err != nil && strings.Contains(err.Error(), "locked")
		}, patience, 10*time.Millisecond, "the host writes")
	}
	return writing, func() {
		_, err := db.Exec(`DROP TRIGGER slow`)
		require.NoError(t, err)
		require.NoError(t, db.Close())
	}
}

// lockedInserts makes PostgreSQL wait before it writes a run, and ends the connection of its host
// with the host: the server would detect that only after the write.
func (w *world) lockedInserts(string) (writing, dead func()) {
	t := w.t
	db := w.database()
	tx, err := db.Begin()
	require.NoError(t, err)
	_, err = tx.Exec(`LOCK TABLE runs IN EXCLUSIVE MODE`)
	require.NoError(t, err)
	writing = func() {
		require.Eventually(t, func() bool {
			var waiting int
			err := db.QueryRow(`SELECT count(*) FROM pg_locks WHERE NOT granted`).Scan(&waiting)
			return err == nil && waiting > 0
		}, patience, 10*time.Millisecond, "the host waits for the lock")
	}
	return writing, func() {
		_, err := db.Exec(`SELECT pg_terminate_backend(pid) FROM pg_locks WHERE NOT granted`)
		require.NoError(t, err)
		require.NoError(t, tx.Commit())
		require.NoError(t, db.Close())
	}
}

// stopWithWaitingTurns stops a host by its signal while turns wait for their sessions: behind a
// turn of this host, and behind one of another host. They are answered at once, in each dialect,
// and the host ends.
func stopWithWaitingTurns(t *testing.T, bin programs) {
	w := shared(t, bin, 1)
	a, b := w.start("a"), w.start("b")
	canvas := w.canvas(w.outside.chain(1))
	var sessions []string
	for _, h := range []*hostProcess{a, b} {
		arrived, release := w.outside.hold("/" + h.name + "/1")
		defer release()
		session := w.session(canvas)
		w.run(h, canvas, session, h.name)
		<-arrived
		sessions = append(sessions, session)
	}
	type answer struct {
		path   string
		status int
		err    error
	}
	before, answers := metric(a.url, "go_goroutines"), make(chan answer)
	asked := 0
	var written sync.WaitGroup
	for _, session := range sessions {
		for path, body := range map[string]string{
			"/api/v2/canvases/" + canvas + "/runs":           `{"query":"x","session":%q}`,
			"/api/v1/agents/" + canvas + "/completions":      `{"question":"x","session_id":%q,"stream":false}`,
			"/0.27/api/v1/agents/" + canvas + "/completions": `{"question":"x","session_id":%q,"stream":true}`,
			"/api/v1/agents_openai/" + canvas + "/chat/completions": `{"model":"m","session_id":%q,
				"stream":false,"messages":[{"role":"user","content":"x"}]}`,
		} {
			asked++
			written.Add(1)
			ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
				WroteRequest: func(httptrace.WroteRequestInfo) { written.Done() },
			})
			go func() {
				status, err := w.try(ctx, "POST", a.url+path, fmt.Sprintf(body, session), nil)
				answers <- answer{path, status, err}
			}()
		}
	}
	written.Wait()
	// The host has nearly two goroutines for each request that waits; connections are used again.
	require.Eventually(t, func() bool {
		return metric(a.url, "go_goroutines") >= before+1.5*float64(asked)
	}, patience, 10*time.Millisecond, "the turns wait")
	w.hide(a)
	stopped := time.Now()
	require.NoError(t, a.Signal(syscall.SIGTERM))
	for range asked {
		select {
		case got := <-answers:
			require.Equal(t, http.StatusServiceUnavailable, got.status, "%s: %v", got.path, got.err)
			require.ErrorContains(t, got.err, "it is stopping")
		case <-time.After(patience):
			require.FailNow(t, "a turn waits although its host stops")
		}
	}
	answered := time.Since(stopped)
	select {
	case <-a.Done():
	case <-time.After(freeWithin):
		require.FailNow(t, "the host does not end")
	}
	t.Logf("%d waiting turns were answered within %v, the host ended after %v", asked, answered, time.Since(stopped))
}
