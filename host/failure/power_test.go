package failure_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"

	_ "modernc.org/sqlite" // registers "sqlite"
)

// form is a canvas that waits for a person.
var form = sketch.Canvas(
	"begin Begin -> UserFillUp:F",
	`UserFillUp:F UserFillUp {
		"enable_tips":true,"tips":"City?","inputs":{"city":{"name":"City","type":"line","optional":false}}}
		-> Message:M`,
	`Message:M Message {"content":["City {UserFillUp:F@city}"]}`,
)

// powerCutContract checks that acknowledged data survives each cut.
func powerCutContract(t *testing.T, bin programs) { powerCuts(t, onPower(t, bin), "contract", 2) }

// powerCutAlways checks the same for every stored event that a reader has received.
func powerCutAlways(t *testing.T, bin programs) { powerCuts(t, onPower(t, bin), "always", 1) }

// powerCutInterval checks that the host starts and its data is consistent. The loss of the last
// moments shows that the check detects losses.
func powerCutInterval(t *testing.T, bin programs) { powerCuts(t, onPower(t, bin), "interval", 1) }

// powerCutShared cuts the power of a host, NATS and PostgreSQL that sync everything.
func powerCutShared(t *testing.T, bin programs) { powerCuts(t, onPowerShared(t, bin), "always", 1) }

// powerWorld is a world of one host whose disk can lose its power.
type powerWorld struct {
	*world
	disk *powerDisk
}

func onPower(t testing.TB, bin programs) powerWorld {
	w := embedded(t, bin)
	return powerWorld{w, newPowerDisk(t, filepath.Join(w.dir, "data"))}
}

func onPowerShared(t testing.TB, bin programs) powerWorld {
	w := embedded(t, bin)
	// The user postgres requires access.
	parent, err := os.MkdirTemp("", "easel-power-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(parent)) })
	require.NoError(t, os.Chmod(parent, 0o711))
	disk := newPowerDisk(t, filepath.Join(parent, "disk"))
	w.dir = disk.dir
	w.postgres, err = servertest.StartSyncedPostgres(disk.dir)
	if err == servertest.ErrNoPostgres {
		t.Skip("PostgreSQL cannot be had here: ", err)
	}
	require.NoError(t, err)
	t.Cleanup(w.postgres.Kill)
	nats, err := servertest.StartSyncedNATS(bin.nats, disk.dir)
	require.NoError(t, err)
	t.Cleanup(func() { nats.Kill() })
	w.nats = append(w.nats, nats)
	w.share()
	return powerWorld{w, disk}
}

// cut cuts the power of everything, and restores it.
func (w powerWorld) cut(h *hostProcess, l *load, seen witnesses) {
	t := w.t
	t.Helper()
	seen.before(t)
	l.halt(func() {
		w.disk.cut()
		w.kill(h)
		if w.postgres != nil {
			w.postgres.Kill()
			w.nats[0].Kill()
		}
	})
	w.disk.back()
	seen.require(t)
	if w.postgres != nil {
		require.NoError(t, w.postgres.Restart())
		require.NoError(t, w.nats[0].Restart())
		return
	}
	requireIntact(t, w.disk.dir)
}

// powerCuts puts a mixed load on a host and cuts the power at some moment, again and again. Data
// acknowledged in one round is checked after every later cut as well.
func powerCuts(t testing.TB, w powerWorld, sync string, rounds int) {
	w.args = append(w.args, "--sync", sync)
	loses := sync == "interval"
	var all ledger
	found := 0
	h := w.start("a")
	// A cut right after a checkpoint of the database loses nothing either.
	for round := 0; round < rounds || loses && found == 0 && round < rounds+9; round++ {
		seen := w.disk.witnesses()
		l := w.load(h)
		time.Sleep(rand.N(1500 * time.Millisecond))
		if round%2 == 1 {
			w.disk.flush() // so that files are cut in the middle
		}
		time.Sleep(200*time.Millisecond + rand.N(time.Second))
		w.cut(h, l, seen)
		began := time.Now()
		h = w.start("a")
		up := time.Since(began)
		l.settle()
		all.add(l)
		lost := all.losses(w.world, sync)
		t.Logf("%s, cut %d: %s; up again after %v, all done after %v; lost: %d", sync, round+1, l,
			up.Round(time.Millisecond), time.Since(began).Round(time.Millisecond), len(lost))
		if !loses {
			require.Empty(t, lost)
		} else if found += len(lost); len(lost) > 0 {
			t.Logf("such as: %s", lost[0])
			all = ledger{} // lost data stays lost
		}
		w.conversation(h, fmt.Sprint("after-cut-", round)).requireDone()
	}
	if loses {
		require.Positive(t, found, "the check finds no losses where there must be some")
	}
	w.kill(h)
	if w.postgres != nil {
		w.postgres.Kill()
		w.nats[0].Kill()
	}
	w.disk.requireSound()
}

// requireIntact checks a copy of the records after the cut.
func requireIntact(t testing.TB, data string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"easel.db", "easel.db-wal"} {
		text, err := os.ReadFile(filepath.Join(data, name))
		if err != nil {
			require.ErrorIs(t, err, os.ErrNotExist)
			continue
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "easel.db"))
	require.NoError(t, err)
	defer db.Close()
	var found string
	require.NoError(t, db.QueryRow(`PRAGMA integrity_check`).Scan(&found))
	require.Equal(t, "ok", found)
}

// ledger records the acknowledgements of a host.
type ledger struct {
	runs    []*powerRun
	talks   []*powerTalk
	titles  map[string]int // newest saved version by canvas
	keys    []string
	secrets []string
}

// powerRun is an accepted run with its reader.
type powerRun struct {
	id, kind string
	reader   *reader
	leave    context.CancelFunc // stops the reader

	// At the cut.
	status  string  // as the reader got it, "" while the run was active
	had     []event // its events
	checked bool    // these have been checked
	dying   bool    // its end came while the power failed, when the kernel acknowledges lost writes
}

// powerTalk is a session: its accepted messages, and the run of a waiting form.
type powerTalk struct {
	canvas, session string
	said            []string
	maybe           string // was being sent at the power cut
	waits           *powerRun
}

func (l *ledger) add(more *load) {
	l.runs = append(l.runs, more.told.runs...)
	l.talks = append(l.talks, more.told.talks...)
	l.keys = append(l.keys, more.told.keys...)
	l.secrets = append(l.secrets, more.told.secrets...)
	if l.titles == nil {
		l.titles = map[string]int{}
	}
	maps.Copy(l.titles, more.told.titles)
}

// String counts the acknowledgements until the cut.
func (l *load) String() string {
	ended, events := 0, 0
	for _, r := range l.told.runs {
		events += len(r.had)
		if r.status != "" {
			ended++
		}
	}
	turns := 0
	for _, s := range l.told.talks {
		turns += len(s.said)
	}
	versions := 0
	for _, n := range l.told.titles {
		versions += n
	}
	return fmt.Sprintf("%d runs, %d of them ended, %d events, %d turns, %d saves, %d keys, %d secrets",
		len(l.told.runs), ended, events, turns, versions, len(l.told.keys), len(l.told.secrets))
}

// losses lists acknowledged data that a host no longer has, one per line.
func (l *ledger) losses(w *world, sync string) (lost []string) {
	note := func(format string, args ...any) { lost = append(lost, fmt.Sprintf(format, args...)) }
	for _, r := range l.runs {
		if problem := r.lost(w, sync); problem != "" {
			note("run %s (%s): %s", r.id, r.kind, problem)
		}
	}
	for _, s := range l.talks {
		if problem := s.lost(w); problem != "" {
			note("session %s: %s", s.session, problem)
		}
	}
	for id, n := range l.titles {
		var c struct{ Title string }
		if _, err := w.try(w.t.Context(), "GET", w.any()+"/api/v2/canvases/"+id, "", &c); err != nil {
			note("canvas %s: %v", id, err)
		} else if got := version(c.Title); got < n || got > n+1 {
			note("canvas %s: version %d, %q is left", id, n, c.Title)
		}
	}
	for _, key := range l.keys {
		if _, err := w.tryAs(w.t.Context(), key, "GET", w.any()+"/api/v2/canvases", "", nil); err != nil {
			note("key: %v", err)
		}
	}
	var secrets struct{ Items []struct{ Name string } }
	w.call("GET", w.any()+"/api/v2/secrets", "", &secrets)
	for _, name := range l.secrets {
		if !slices.ContainsFunc(secrets.Items, func(s struct{ Name string }) bool { return s.Name == name }) {
			note("secret %s", name)
		}
	}
	return lost
}

// lost returns the faults of a run.
func (r *powerRun) lost(w *world, sync string) string {
	var run struct{ Status, Error string }
	if _, err := w.try(w.t.Context(), "GET", w.any()+"/api/v2/runs/"+r.id, "", &run); err != nil {
		return err.Error()
	}
	want := r.status
	if want == "" {
		want = map[bool]string{true: "paused", false: "succeeded"}[r.kind == "form"]
	}
	if run.Status != want {
		return fmt.Sprintf("it is %s (%s), not %s", run.Status, run.Error, want)
	}
	if r.checked {
		return ""
	}
	r.checked = true
	return r.lostEvents(w, sync == "always")
}

// lostEvents compares what the client has, over the cut, with what a new client gets.
func (r *powerRun) lostEvents(w *world, always bool) string {
	select {
	case <-r.reader.done:
	default:
		return "its events have no end"
	}
	again := &reader{w: w, run: r.id}
	ctx, stop := context.WithTimeout(w.t.Context(), patience/3)
	defer stop()
	err := again.read(ctx)
	switch {
	case errors.Is(err, errGone) && !always:
		return "" // the records have its outcome
	case err != nil:
		return "a new reader: " + err.Error()
	case r.status == "" && r.reader.err != nil:
		return "its reader: " + r.reader.err.Error()
	}
	now := map[uint64]event{}
	for _, e := range again.events {
		now[e.number] = e
	}
	if always {
		for _, e := range r.had[:stored(r.had)] {
			if now[e.number].data != e.data {
				return fmt.Sprintf("event %s %s was stored, and is gone", e.id, e.kind)
			}
		}
	}
	if r.status != "" || r.dying {
		return ""
	}
	for _, e := range r.reader.events {
		if now[e.number].data != e.data {
			return fmt.Sprintf("its reader has event %s %s, the log has not; it had %d of its %d events at the cut",
				e.id, e.kind, len(r.had), len(r.reader.events))
		}
	}
	if len(now) != len(r.reader.events) {
		return fmt.Sprintf("its reader has %d events, the log %d", len(r.reader.events), len(now))
	}
	return ""
}

// stored returns the number of events that were certainly in the log: those up to the last one
// whose id has a position in it.
func stored(events []event) int {
	for i, e := range slices.Backward(events) {
		if strings.Contains(e.id, "-") {
			return i + 1
		}
	}
	return 0
}

// lost returns the faults of a session: each accepted turn is in it once, in order.
func (s *powerTalk) lost(w *world) string {
	var list struct {
		Data []struct {
			Messages []struct{ Role, Content string }
		}
	}
	url := w.any() + "/api/v1/agents/" + s.canvas + "/sessions?id=" + s.session
	if _, err := w.try(w.t.Context(), "GET", url, "", &list); err != nil {
		return err.Error()
	}
	if len(list.Data) != 1 {
		return "it is gone"
	}
	var said []string
	for _, m := range list.Data[0].Messages {
		if m.Role == "user" {
			said = append(said, m.Content)
		}
	}
	if len(said) == len(s.said)+1 && said[len(s.said)] == s.maybe {
		said = said[:len(s.said)]
	}
	if !slices.Equal(said, s.said) {
		return fmt.Sprintf("accepted were %q, in it is %q", s.said, said)
	}
	if s.waits == nil {
		return ""
	}
	// The waiting form is filled in.
	var run struct{ ID string }
	resume := w.any() + "/api/v2/runs/" + s.waits.id + "/resume"
	if err := w.insist(w.t.Context(), resume, `{"inputs":{"city":"Bern"}}`, &run); err != nil {
		return err.Error()
	}
	s.waits.status = "succeeded" // it does not wait any more
	s.waits, s.said = nil, append(s.said, "")
	if text := answer(w.t, w.events(run.ID)); !strings.Contains(text, "City Bern") {
		return fmt.Sprintf("the form was filled in, the answer is %q", text)
	}
	return ""
}

func version(title string) (n int) {
	if _, err := fmt.Sscanf(title, "version %d", &n); err != nil {
		return -1
	}
	return n
}
