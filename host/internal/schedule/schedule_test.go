package schedule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/logtest"
	"github.com/easel-canvas/easel/host/internal/testing/runstest"
)

// bench is a host whose schedules may come once a second.
type bench struct {
	*runstest.Host
	runs      *runs.Runs
	clocks    *Clocks
	schedules *Schedules
	triggers  Triggers
	work      func(context.Context) error // what the host does; nil means everything
}

func newBench(t *testing.T) *bench {
	b := &bench{Host: runstest.New(t)}
	b.Start = b.start
	b.Open()
	t.Cleanup(b.Close)
	return b
}

// start makes runs and schedules, and works on both.
func (b *bench) start() (stop func()) {
	var err error
	b.clocks, err = OpenClocks(b.T.Context(), b.NATS.Conn)
	require.NoError(b.T, err)
	var schedules *Schedules
	r := runs.New(runs.Config{
		Store: b.Store, Log: b.Log, Registry: b.Registry, Logger: runstest.Quiet,
		Due: func(ctx context.Context, j *runs.Job) (bool, error) { return schedules.Due(ctx, j) },
	})
	schedules = newSchedules(b.Store, b.clocks, r)
	schedules.triggers = b.triggers
	b.runs, b.schedules = r, schedules
	ctx := context.WithoutCancel(b.T.Context())
	if b.work != nil {
		go func() { _ = b.work(ctx) }()
		return r.Close
	}
	go schedules.Work(ctx)
	go func() { _ = r.Work(ctx) }()
	return r.Close
}

func newSchedules(s *store.Store, clocks *Clocks, r *runs.Runs) *Schedules {
	return New(Config{Store: s, Clocks: clocks, Runs: r, Shortest: time.Second, Logger: runstest.Quiet})
}

// reopen closes the host and opens it again with new behaviour.
func (b *bench) reopen(work func(context.Context) error) {
	b.Close()
	b.work = work
	b.Open()
}

// drop claims runs and does not execute them.
func (b *bench) drop(ctx context.Context) error {
	return b.Log.Work(ctx, func(context.Context, *runlog.Lease) error { return nil })
}

// takeOver does runs and does not compare clocks.
func (b *bench) takeOver(ctx context.Context) error { return b.runs.Work(ctx) }

// noTimes stands for a schedule without times; an empty When becomes one of every second.
var noTimes = When{Zone: "none"}

func (b *bench) schedule(s Schedule) Schedule {
	b.T.Helper()
	s.Tenant = "t"
	if s.Name == "" {
		s.Name = "s"
	}
	if s.When == noTimes {
		s.When = When{}
	} else if s.Every == "" && s.Cron == "" {
		s.Every = "1s"
	}
	kept, err := b.schedules.Put(b.T.Context(), s)
	require.NoError(b.T, err)
	return kept
}

// history returns the runs of a schedule in a state, newest first.
func (b *bench) history(s Schedule, status string) []store.Run {
	b.T.Helper()
	list, _, err := b.Store.Runs.List(
		b.T.Context(), store.RunFilter{Tenant: "t", Canvas: s.Job.Canvas, Schedule: s.ID, Status: status},
		store.Page{},
	)
	require.NoError(b.T, err)
	return list
}

func (b *bench) waitFor(s Schedule, status string, n int) {
	b.T.Helper()
	require.Eventually(
		b.T, func() bool { return len(b.history(s, status)) >= n }, runstest.Patience, 10*time.Millisecond,
		"%d runs that are %s", n, status,
	)
}

// kept returns the clocks in the run log.
func (b *bench) kept() []Clock {
	b.T.Helper()
	list, err := b.clocks.List(b.T.Context())
	require.NoError(b.T, err)
	return list
}

// hasClocks waits until the run log keeps so many: a run that has just come may set or end one.
func (b *bench) hasClocks(n int) {
	b.T.Helper()
	require.Eventually(
		b.T, func() bool { return len(b.kept()) == n }, runstest.Patience, 10*time.Millisecond, "%d clocks", n,
	)
}

// A canvas runs every second, over a change of hosts, until it is deleted.
func TestScheduledCanvas(t *testing.T) {
	b := newBench(t)
	canvas := b.Canvas(runstest.Talk)
	session := b.Session(canvas, runstest.Talk)
	s := b.schedule(Schedule{
		Name: "every second",
		Job:  runs.Job{Canvas: canvas, Session: session, User: "u", Query: engine.String("tick")},
	})
	b.waitFor(s, store.RunDone, 2)
	b.reopen(nil)
	b.waitFor(s, store.RunDone, len(b.history(s, store.RunDone))+2)

	list, err := b.schedules.List(t.Context(), "t")
	require.NoError(t, err)
	require.Equal(t, []Schedule{s}, list, "it is as it was kept")
	other, err := b.schedules.List(t.Context(), "somebody else")
	require.NoError(t, err)
	require.Empty(t, other)
	require.ErrorIs(t, b.schedules.Delete(t.Context(), "somebody else", s.ID), store.ErrNotFound)
	_, err = b.schedules.Get(t.Context(), "somebody else", s.ID)
	require.ErrorIs(t, err, store.ErrNotFound)
	require.NoError(t, b.schedules.Delete(t.Context(), "t", s.ID))
	require.ErrorIs(t, b.schedules.Delete(t.Context(), "t", s.ID), store.ErrNotFound)
	b.hasClocks(0)

	messages := map[string]bool{}
	done := b.history(s, store.RunDone)
	for _, r := range done {
		messages[r.Message] = true
		require.Equal(t, []any{"schedule", s.ID, session, "u"}, []any{r.Source, OfRun(r), r.Session, r.User})
		records := b.Read(b.runs.Follow, r.ID)
		require.Equal(t, store.RunDone, runs.EndOf(records[len(records)-1]).Status)
	}
	require.Len(t, messages, len(done), "each run has a message id of its own")
	v, err := b.Store.Sessions.Get(t.Context(), "t", session)
	require.NoError(t, err)
	require.GreaterOrEqual(t, int(v.Rounds), len(done))
	require.Contains(t, string(v.Messages), "You said tick")
}

func TestScheduleWithASessionForEachRun(t *testing.T) {
	b := newBench(t)
	s := b.schedule(Schedule{Name: "news", Job: runs.Job{
		Canvas: b.Canvas(runstest.Talk), Fresh: true, Session: "ignored", Query: engine.String("hi"),
	}})
	b.waitFor(s, store.RunDone, 3)
	require.NoError(t, b.schedules.Delete(t.Context(), "t", s.ID))
	sessions := map[string]bool{}
	for _, r := range b.history(s, store.RunDone) {
		sessions[r.Session] = true
		v, err := b.Store.Sessions.Get(t.Context(), "t", r.Session)
		require.NoError(t, err)
		require.EqualValues(t, 1, v.Rounds)
		require.Equal(t, "schedule", v.Source)
		require.True(t, strings.HasPrefix(v.Name, "news 20"), v.Name)
	}
	require.Len(t, sessions, len(b.history(s, store.RunDone)))
}

func TestScheduleIsPausedAndChanged(t *testing.T) {
	b := newBench(t)
	s := b.schedule(
		Schedule{Job: runs.Job{Canvas: b.Canvas(runstest.Talk), Query: engine.String("first")}, Paused: true},
	)
	require.Empty(t, b.kept())
	next, err := s.Next(3, time.Now(), time.Time{})
	require.NoError(t, err)
	require.Empty(t, next)

	s.Paused = false
	s = b.schedule(s)
	b.hasClocks(1)
	b.waitFor(s, store.RunDone, 1)
	set := s.Set
	s.Name = "renamed"
	s = b.schedule(s)
	require.Equal(t, set, s.Set, "a name does not shift the times")
	b.hasClocks(1)

	session := b.Session(s.Job.Canvas, runstest.Talk)
	s.Job.Query, s.Job.Session = engine.String("second"), session
	s = b.schedule(s)
	require.Eventually(t, func() bool {
		v, err := b.Store.Sessions.Get(t.Context(), "t", session)
		require.NoError(t, err)
		return strings.Contains(string(v.Messages), "You said second")
	}, runstest.Patience, 10*time.Millisecond)

	require.NoError(t, b.Store.Sessions.Delete(t.Context(), "t", session))
	s.Paused = true
	s = b.schedule(s)
	s.Paused = false
	_, err = b.schedules.Put(t.Context(), s)
	require.ErrorIs(t, err, runs.ErrSession, "it can be stopped, and does not begin again")
	s.Job.Session = ""
	s = b.schedule(s)

	old := s
	old.Rev--
	_, err = b.schedules.Put(t.Context(), old)
	require.ErrorIs(t, err, store.ErrConflict)
	s.Paused = true
	b.schedule(s)
	b.hasClocks(0)
}

// A change that the clock does not have yet ends the schedule at its next time.
func TestScheduleEndsWithItsCanvas(t *testing.T) {
	b := newBench(t)
	canvas, other := b.Canvas(runstest.Talk), b.Canvas(runstest.Talk)
	gone := b.schedule(Schedule{Name: "gone", Job: runs.Job{Canvas: canvas}})
	kept := b.schedule(Schedule{Name: "kept", When: When{Every: "1h"}, Job: runs.Job{Canvas: other}})
	b.waitFor(gone, store.RunDone, 1)
	require.NoError(t, b.Store.Canvases.Delete(t.Context(), "t", canvas))
	require.Eventually(t, func() bool {
		_, err := b.schedules.Get(t.Context(), "t", gone.ID)
		return errors.Is(err, store.ErrNotFound)
	}, runstest.Patience, 10*time.Millisecond)
	b.hasClocks(1)
	for _, r := range b.history(gone, "") {
		require.NotEqual(t, store.RunFailed, r.Status, r.Error)
	}

	again := b.schedule(Schedule{Name: "again", Job: runs.Job{Canvas: other}})
	require.NoError(t, b.Store.Items.Delete(t.Context(), "t", kind, again.ID)) // as a tenant is removed
	b.hasClocks(1)
	require.NoError(t, b.schedules.DeleteOf(t.Context(), "t", canvas))
	_, err := b.schedules.Get(t.Context(), "t", kept.ID)
	require.NoError(t, err)
	require.NoError(t, b.schedules.DeleteOf(t.Context(), "t", other))
	b.hasClocks(0)
}

func TestRunsOfAScheduleDoNotPileUp(t *testing.T) {
	b := newBench(t)
	s := b.schedule(Schedule{Job: runs.Job{Canvas: b.Canvas(runstest.Waiting)}})
	b.waitFor(s, store.RunCanceled, 2)
	require.Eventually(t, func() bool { return b.Ran.Load() > 0 }, runstest.Patience, 10*time.Millisecond)
	require.EqualValues(t, 1, b.Ran.Load(), "one is at work")
	active := b.history(s, store.RunActive)
	require.Len(t, active, 1)
	for _, left := range b.history(s, store.RunCanceled) {
		require.Contains(t, left.Error, "left out: run "+active[0].ID+" ")
	}
	b.Gate <- struct{}{}
	require.Eventually(
		t, func() bool { return b.Ran.Load() == 2 }, runstest.Patience, 10*time.Millisecond, "the next one begins",
	)
	require.NoError(t, b.schedules.Delete(t.Context(), "t", s.ID))
	b.Gate <- struct{}{}
}

// The records decide: a run log without clocks, as after a restore, or with other ones is updated
// from them when a host starts.
func TestClocksFollowTheRecords(t *testing.T) {
	b := newBench(t)
	b.reopen(b.drop) // no host compares by itself for now
	s := b.schedule(Schedule{
		When: When{Cron: "0 0 3 * * *", Zone: "Europe/Berlin"}, Job: runs.Job{Canvas: b.Canvas(runstest.Talk)},
	})
	paused := b.schedule(Schedule{Name: "paused", Paused: true, Job: runs.Job{Canvas: s.Job.Canvas}})
	right := b.kept()
	next, err := s.Next(1, time.Now(), time.Time{})
	require.NoError(t, err)
	require.Equal(t, "@at "+next[0].UTC().Format(time.RFC3339), right[0].When)
	// A deleted history is not a missed time.
	b.setAt(s, time.Now().Add(-72*time.Hour))
	require.NoError(t, b.schedules.compareClocks(t.Context()))
	require.Equal(t, right, b.kept())
	b.setAt(s, time.Now())
	for what, spoil := range map[string]func(){
		"nothing is known": func() { require.NoError(t, b.clocks.Delete(t.Context(), clockID("t", s.ID))) },
		"another time is": func() {
			wrong := right[0]
			wrong.When = "@at 2199-01-01T00:00:00Z"
			require.NoError(t, b.clocks.Put(t.Context(), wrong))
		},
		"too much is": func() {
			for _, id := range []string{clockID("t", "none"), clockID("t", paused.ID), "of an older version"} {
				require.NoError(
					t, b.clocks.Put(t.Context(), Clock{ID: id, When: "@every 1h", Job: []byte(`{"id":"x"}`)}),
				)
			}
		},
	} {
		spoil()
		require.NotEqual(t, right, b.kept(), what)
		require.NoError(t, b.schedules.compareClocks(t.Context()))
		require.Equal(t, right, b.kept(), what)
	}
	require.NoError(t, b.clocks.Delete(t.Context(), clockID("t", s.ID)))
	b.reopen(nil)
	b.hasClocks(1) // a host that starts compares
}

// A host that sets a clock from records read before a change does not undo the change.
func TestClockIsThatOfTheLastChange(t *testing.T) {
	b := newBench(t)
	b.reopen(b.drop) // no host compares by itself
	s := b.schedule(Schedule{When: When{Every: "24h"}, Job: runs.Job{Canvas: b.Canvas(runstest.Talk)}})
	for i := range 200 {
		require.NoError(t, b.clocks.Delete(t.Context(), clockID("t", s.ID)))
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := b.schedules.compareClocks(t.Context()); err != nil {
				t.Error(err)
			}
		})
		s.Job.Query = engine.String(fmt.Sprint("query ", i))
		s = b.schedule(s)
		wg.Wait()
		want, err := json.Marshal(&s.Job)
		require.NoError(t, err)
		var run runlog.Run
		require.NoError(t, json.Unmarshal(b.kept()[0].Job, &run))
		require.JSONEq(t, string(want), string(run.Data))
	}
}

// another works as a host with the records of b and a run log elsewhere.
func (b *bench) another(url string, report func(*runs.Job, runs.End, time.Duration)) *Schedules {
	t := b.T
	nats := logtest.OpenUntil(t, broker.Config{URLs: []string{url}})
	clocks, err := OpenClocks(t.Context(), nats.Conn)
	require.NoError(t, err)
	var s *Schedules
	r := runs.New(runs.Config{
		Store: b.Store, Log: nats.Log, Registry: b.Registry, Logger: runstest.Quiet, Report: report,
		Due: func(ctx context.Context, j *runs.Job) (bool, error) { return s.Due(ctx, j) },
	})
	s = newSchedules(b.Store, clocks, r)
	working := context.WithoutCancel(t.Context())
	go func() { _ = r.Work(working) }()
	go s.Work(working)
	t.Cleanup(func() {
		require.NoError(t, nats.Close())
		r.Close()
	})
	return s
}

// Two hosts with one run log and one store begin each run once.
func TestTwoHostsStartEachScheduledRunOnce(t *testing.T) {
	srv, err := server.NewServer(
		&server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true},
	)
	require.NoError(t, err)
	srv.Start()
	t.Cleanup(func() { srv.Shutdown(); srv.WaitForShutdown() })
	require.True(t, srv.ReadyForConnections(runstest.Patience))
	b := newBench(t) // its store and canvases; its own run log is not used
	b.reopen(b.drop)
	var mu sync.Mutex
	ended := map[string][]int{} // hosts by run
	var hosts []*Schedules
	for n := range 2 {
		hosts = append(hosts, b.another(srv.ClientURL(), func(j *runs.Job, _ runs.End, _ time.Duration) {
			mu.Lock()
			defer mu.Unlock()
			ended[j.ID] = append(ended[j.ID], n)
		}))
	}
	canvas := b.Canvas(runstest.Talk)
	const many = 4
	for i := range many {
		_, err := hosts[i%2].Put(t.Context(), Schedule{
			Tenant: "t", Name: fmt.Sprint(i), When: When{Every: "1s"}, Job: runs.Job{Canvas: canvas},
		})
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(ended) >= 4*many
	}, runstest.Patience, 10*time.Millisecond)
	require.NoError(t, hosts[1].DeleteOf(t.Context(), "t", ""))
	require.Eventually(t, func() bool {
		active, err := b.Store.Runs.Active(t.Context())
		require.NoError(t, err)
		return len(active) == 0
	}, runstest.Patience, 10*time.Millisecond)
	mu.Lock()
	defer mu.Unlock()
	for run, by := range ended {
		require.Len(t, by, 1, run)
	}
}

func TestScheduleIsRefused(t *testing.T) {
	b := newBench(t)
	canvas, other := b.Canvas(runstest.Talk), b.Canvas(runstest.Talk)
	session := b.Session(other, runstest.Talk)
	for _, test := range []struct {
		name string
		s    Schedule
		want string
	}{
		{"no time", Schedule{}, "either every or cron"},
		{"two times", Schedule{When: When{Every: "1h", Cron: "@daily"}}, "not both"},
		{"an invalid time", Schedule{When: When{Cron: "now and then"}}, `cron "now and then": 3 fields`},
		{"an empty period", Schedule{When: When{Every: "ten minutes"}}, "not a period such as"},
		{"too short a period", Schedule{When: When{Every: "500ms"}}, "whole seconds"},
		{"a period with a fraction of a second", Schedule{When: When{Every: "90.5s"}}, "whole seconds"},
		{"a negative period", Schedule{When: When{Every: "-1h"}}, "at most 366 days"},
		{"too long a period", Schedule{When: When{Every: "10000h"}}, "at most 366 days"},
		{"a period with a time zone", Schedule{When: When{Every: "1h", Zone: "UTC"}}, "only cron has one"},
		{"an unknown time zone", Schedule{When: When{Cron: "@daily", Zone: "Europe/Nowhere"}}, `zone "Europe/Nowhere"`},
		{"the time zone Local", Schedule{When: When{Cron: "@daily", Zone: "Local"}}, `zone "Local"`},
		{
			"a time zone that is a path",
			Schedule{When: When{Cron: "@daily", Zone: "../../etc/passwd"}},
			"unknown time zone",
		},
		{"a date that does not exist", Schedule{When: When{Cron: "0 0 30 2 *"}}, "names no time"},
		{
			"an unknown canvas",
			Schedule{When: When{Cron: "@daily"}, Job: runs.Job{Canvas: "none"}},
			store.ErrNotFound.Error(),
		},
		{
			"a canvas that does not load",
			Schedule{When: When{Cron: "@daily"}, Job: runs.Job{Canvas: b.Canvas(`{"components":{"x":1}}`)}},
			runs.ErrCanvas.Error(),
		},
		{
			"an unknown session",
			Schedule{When: When{Cron: "@daily"}, Job: runs.Job{Session: "none"}},
			runs.ErrSession.Error(),
		},
		{
			"a session of another canvas",
			Schedule{When: When{Cron: "@daily"}, Job: runs.Job{Session: session}},
			runs.ErrSession.Error(),
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.s.Tenant, test.s.Name = "t", "s"
			if test.s.Job.Canvas == "" {
				test.s.Job.Canvas = canvas
			}
			_, err := b.schedules.Put(t.Context(), test.s)
			require.ErrorContains(t, err, test.want)
		})
	}
	list, err := b.schedules.List(t.Context(), "t")
	require.NoError(t, err)
	require.Empty(t, list)
	require.Empty(t, b.kept())

	for i := range most {
		_, err := b.Store.Items.Put(
			t.Context(),
			store.Item{Tenant: "t", Kind: kind, Name: fmt.Sprint(i), Doc: []byte(`{"paused":true}`)},
		)
		require.NoError(t, err)
	}
	_, err = b.schedules.Put(
		t.Context(),
		Schedule{Tenant: "t", Name: "one more", When: When{Cron: "@daily"}, Job: runs.Job{Canvas: canvas}},
	)
	require.ErrorIs(t, err, ErrTooMany)
}

// setAt changes the records so that a schedule is active, and was set at another time.
func (b *bench) setAt(s Schedule, at time.Time) {
	b.T.Helper()
	item, err := b.Store.Items.Get(b.T.Context(), "t", kind, s.ID)
	require.NoError(b.T, err)
	item.Doc = regexp.MustCompile(`("paused":true,)?"set":\d+`).ReplaceAll(
		item.Doc, fmt.Appendf(nil, `"set":%d`, at.UnixMilli()),
	)
	_, err = b.Store.Items.Put(b.T.Context(), item)
	require.NoError(b.T, err)
}

// Times that came while no host was there are made up for once, also when the
// run log has lost what it knew; a period keeps its phase.
func TestMissedTimesStartOneRun(t *testing.T) {
	const period = 5 * time.Second
	for _, lost := range []bool{false, true} {
		b := newBench(t)
		b.reopen(b.takeOver) // no host compares until then
		s := b.schedule(
			Schedule{When: When{Every: period.String()}, Job: runs.Job{Canvas: b.Canvas(runstest.Talk)}, Paused: true},
		)
		away := time.Now().Add(-time.Hour - time.Second).Truncate(time.Second).UTC()
		b.setAt(s, away) // an hour ago, and no host since
		if lost {
			require.NoError(t, b.clocks.Delete(t.Context(), clockID("t", s.ID)))
			b.reopen(nil)
		} else {
			c, err := s.clock(away.Add(period))
			require.NoError(t, err)
			require.NoError(t, b.clocks.Put(t.Context(), c))
		}
		b.waitFor(s, store.RunDone, 3)
		require.NoError(t, b.schedules.Delete(t.Context(), "t", s.ID))
		runs := b.history(s, "")
		first := DueOf(runs[len(runs)-1])
		require.Equal(t, away.Add(period), first, "the oldest that was missed")
		for _, r := range runs[:len(runs)-1] {
			require.WithinDuration(t, time.Now(), DueOf(r), 30*time.Minute, "no other that was missed")
			require.Zero(t, DueOf(r).Sub(first)%period)
		}
	}
}

func TestScheduleOfThePublishedVersion(t *testing.T) {
	b := newBench(t)
	id := b.Canvas(runstest.Talk)
	s := Schedule{
		Tenant: "t", Name: "s", When: When{Every: "1s"},
		Job: runs.Job{Canvas: id, User: "u", Published: true, Fresh: true, Query: engine.String("x")},
	}
	_, err := b.schedules.Put(t.Context(), s)
	require.ErrorIs(t, err, runs.ErrUnpublished)
	b.edit(id, "published", true)
	b.edit(id, "drew", false)
	s, err = b.schedules.Put(t.Context(), s)
	require.NoError(t, err)
	require.True(t, s.Job.Published)
	var run store.Run
	require.Eventually(t, func() bool {
		run, err = b.schedules.LastRun(t.Context(), &s)
		return err == nil && run.Status == store.RunDone || err != nil && !errors.Is(err, store.ErrNotFound)
	}, runstest.Patience, 20*time.Millisecond)
	require.NoError(t, err)
	require.NoError(t, b.schedules.Delete(t.Context(), "t", s.ID))
	v, err := b.Store.Sessions.Get(t.Context(), "t", run.Session)
	require.NoError(t, err)
	require.Equal(t, "published", v.Version)
	require.Contains(t, string(v.Messages), "You published x")
}

// edit saves a canvas with another text, published or not.
func (b *bench) edit(id, verb string, publish bool) {
	b.T.Helper()
	_, err := b.Store.Canvases.Edit(b.T.Context(), "t", id, verb, func(c *store.Canvas) error {
		c.DSL, c.Released = []byte(strings.Replace(runstest.Talk, "said", verb, 1)), publish
		return nil
	})
	require.NoError(b.T, err)
}
