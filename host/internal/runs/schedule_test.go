package runs

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
	"github.com/easel-canvas/easel/host/internal/broker"
	"github.com/easel-canvas/easel/host/internal/logtest"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/schedule"
	"github.com/easel-canvas/easel/host/internal/store"
)

func (b *bench) schedule(s Schedule) Schedule {
	b.t.Helper()
	s.Tenant = "t"
	if s.Name == "" {
		s.Name = "s"
	}
	if s.Every == "" && s.Cron == "" {
		s.Every = "1s"
	}
	kept, err := b.runs.PutSchedule(b.t.Context(), s)
	require.NoError(b.t, err)
	return kept
}

// history are the runs of a schedule in a state, newest first.
func (b *bench) history(s Schedule, status string) []store.Run {
	b.t.Helper()
	list, _, err := b.store.Runs.List(
		b.t.Context(), store.RunFilter{Tenant: "t", Canvas: s.Job.Canvas, Schedule: s.ID, Status: status},
		store.Page{},
	)
	require.NoError(b.t, err)
	return list
}

func (b *bench) waitFor(s Schedule, status string, n int) {
	b.t.Helper()
	require.Eventually(b.t, func() bool { return len(b.history(s, status)) >= n }, patience, 10*time.Millisecond, "%d runs that are %s", n, status)
}

// clocks are the schedules that the run log keeps.
func (b *bench) clocks() []schedule.Schedule {
	b.t.Helper()
	list, err := b.nats.Schedules.List(b.t.Context())
	require.NoError(b.t, err)
	return list
}

// hasClocks waits until the run log keeps so many: a run that has just come may set or end one.
func (b *bench) hasClocks(n int) {
	b.t.Helper()
	require.Eventually(b.t, func() bool { return len(b.clocks()) == n }, patience, 10*time.Millisecond, "%d clocks", n)
}

// A canvas runs every second, over a change of hosts, until it is deleted.
func TestScheduledCanvas(t *testing.T) {
	b := newBench(t)
	canvas := b.canvas(talk)
	session := b.session(canvas, talk)
	s := b.schedule(Schedule{Name: "every second", Job: Job{Canvas: canvas, Session: session, User: "u", Query: engine.String("tick")}})
	b.waitFor(s, store.RunDone, 2)
	b.close()
	b.open()
	b.waitFor(s, store.RunDone, len(b.history(s, store.RunDone))+2)

	list, err := b.runs.Schedules(t.Context(), "t")
	require.NoError(t, err)
	require.Equal(t, []Schedule{s}, list, "it is as it was kept")
	other, err := b.runs.Schedules(t.Context(), "somebody else")
	require.NoError(t, err)
	require.Empty(t, other)
	require.ErrorIs(t, b.runs.DeleteSchedule(t.Context(), "somebody else", s.ID), store.ErrNotFound)
	_, err = b.runs.Schedule(t.Context(), "somebody else", s.ID)
	require.ErrorIs(t, err, store.ErrNotFound)
	require.NoError(t, b.runs.DeleteSchedule(t.Context(), "t", s.ID))
	require.ErrorIs(t, b.runs.DeleteSchedule(t.Context(), "t", s.ID), store.ErrNotFound)
	b.hasClocks(0)

	messages := map[string]bool{}
	runs := b.history(s, store.RunDone)
	for _, r := range runs {
		messages[r.Message] = true
		require.Equal(t, []any{"schedule", s.ID, session, "u"}, []any{r.Source, ScheduleOfRun(r), r.Session, r.User})
		require.Contains(t, kinds(b.read(r.ID)), "workflow_finished end")
	}
	require.Len(t, messages, len(runs), "each run has a message id of its own")
	v, err := b.store.Sessions.Get(t.Context(), "t", session)
	require.NoError(t, err)
	require.GreaterOrEqual(t, int(v.Rounds), len(runs))
	require.Contains(t, string(v.Messages), "You said tick")
}

func TestScheduleWithASessionForEachRun(t *testing.T) {
	b := newBench(t)
	s := b.schedule(Schedule{Name: "news", Job: Job{Canvas: b.canvas(talk), Fresh: true, Session: "ignored", Query: engine.String("hi")}})
	b.waitFor(s, store.RunDone, 3)
	require.NoError(t, b.runs.DeleteSchedule(t.Context(), "t", s.ID))
	sessions := map[string]bool{}
	for _, r := range b.history(s, store.RunDone) {
		sessions[r.Session] = true
		v, err := b.store.Sessions.Get(t.Context(), "t", r.Session)
		require.NoError(t, err)
		require.EqualValues(t, 1, v.Rounds)
		require.Equal(t, "schedule", v.Source)
		require.True(t, strings.HasPrefix(v.Name, "news 20"), v.Name)
	}
	require.Len(t, sessions, len(b.history(s, store.RunDone)))
}

func TestScheduleIsPausedAndChanged(t *testing.T) {
	b := newBench(t)
	s := b.schedule(Schedule{Job: Job{Canvas: b.canvas(talk), Query: engine.String("first")}, Paused: true})
	require.Empty(t, b.clocks())
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

	session := b.session(s.Job.Canvas, talk)
	s.Job.Query, s.Job.Session = engine.String("second"), session
	s = b.schedule(s)
	require.Eventually(t, func() bool {
		v, err := b.store.Sessions.Get(t.Context(), "t", session)
		require.NoError(t, err)
		return strings.Contains(string(v.Messages), "You said second")
	}, patience, 10*time.Millisecond)

	require.NoError(t, b.store.Sessions.Delete(t.Context(), "t", session))
	s.Paused = true
	s = b.schedule(s)
	s.Paused = false
	_, err = b.runs.PutSchedule(t.Context(), s)
	require.ErrorIs(t, err, ErrSession, "it can be stopped, and does not begin again")
	s.Job.Session = ""
	s = b.schedule(s)

	old := s
	old.Rev--
	_, err = b.runs.PutSchedule(t.Context(), old)
	require.ErrorIs(t, err, store.ErrConflict)
	_, err = b.runs.PutSchedule(t.Context(), Schedule{Tenant: "t", Name: "Renamed", When: When{Every: "1h"}, Job: Job{Canvas: s.Job.Canvas}})
	require.ErrorIs(t, err, store.ErrExists)
	s.Paused = true
	b.schedule(s)
	b.hasClocks(0)
}

// What the clock does not know of yet ends the schedule when its time comes.
func TestScheduleEndsWithItsCanvas(t *testing.T) {
	b := newBench(t)
	canvas, other := b.canvas(talk), b.canvas(talk)
	gone := b.schedule(Schedule{Name: "gone", Job: Job{Canvas: canvas}})
	kept := b.schedule(Schedule{Name: "kept", When: When{Every: "1h"}, Job: Job{Canvas: other}})
	b.waitFor(gone, store.RunDone, 1)
	require.NoError(t, b.store.Canvases.Delete(t.Context(), "t", canvas))
	require.Eventually(t, func() bool {
		_, err := b.runs.Schedule(t.Context(), "t", gone.ID)
		return errors.Is(err, store.ErrNotFound)
	}, patience, 10*time.Millisecond)
	b.hasClocks(1)
	for _, r := range b.history(gone, "") {
		require.NotEqual(t, store.RunFailed, r.Status, r.Error)
	}

	again := b.schedule(Schedule{Name: "again", Job: Job{Canvas: other}})
	require.NoError(t, b.store.Items.Delete(t.Context(), "t", scheduleKind, again.ID)) // as a tenant is removed
	b.hasClocks(1)
	require.NoError(t, b.runs.DeleteSchedules(t.Context(), "t", canvas))
	_, err := b.runs.Schedule(t.Context(), "t", kept.ID)
	require.NoError(t, err)
	require.NoError(t, b.runs.DeleteSchedules(t.Context(), "t", other))
	b.hasClocks(0)
}

func TestRunsOfAScheduleDoNotPileUp(t *testing.T) {
	b := newBench(t)
	s := b.schedule(Schedule{Job: Job{Canvas: b.canvas(waiting)}})
	b.waitFor(s, store.RunCanceled, 2)
	require.Eventually(t, func() bool { return b.ran.Load() > 0 }, patience, 10*time.Millisecond)
	require.EqualValues(t, 1, b.ran.Load(), "one is at work")
	active := b.history(s, store.RunActive)
	require.Len(t, active, 1)
	for _, left := range b.history(s, store.RunCanceled) {
		require.Contains(t, left.Error, "left out: run "+active[0].ID+" ")
	}
	b.gate <- struct{}{}
	require.Eventually(t, func() bool { return b.ran.Load() == 2 }, patience, 10*time.Millisecond, "the next one begins")
	require.NoError(t, b.runs.DeleteSchedule(t.Context(), "t", s.ID))
	b.gate <- struct{}{}
}

// The records decide: a run log that knows nothing, as after a restore, or
// something else, is set by them when a host starts.
func TestClocksFollowTheRecords(t *testing.T) {
	b := newBench(t)
	b.only(drop) // no host compares by itself for now
	s := b.schedule(Schedule{When: When{Cron: "0 0 3 * * *", Zone: "Europe/Berlin"}, Job: Job{Canvas: b.canvas(talk)}})
	paused := b.schedule(Schedule{Name: "paused", Paused: true, Job: Job{Canvas: s.Job.Canvas}})
	right := b.clocks()
	next, err := s.Next(1, time.Now(), time.Time{})
	require.NoError(t, err)
	require.Equal(t, "@at "+next[0].UTC().Format(time.RFC3339), right[0].When)
	// History may be forgotten; that is no missed time.
	b.setAt(s, time.Now().Add(-72*time.Hour))
	require.NoError(t, b.runs.compareClocks(t.Context()))
	require.Equal(t, right, b.clocks())
	b.setAt(s, time.Now())
	for what, spoil := range map[string]func(){
		"nothing is known": func() { require.NoError(t, b.nats.Schedules.Delete(t.Context(), clockID("t", s.ID))) },
		"another time is": func() {
			wrong := right[0]
			wrong.When = "@at 2199-01-01T00:00:00Z"
			require.NoError(t, b.nats.Schedules.Put(t.Context(), wrong))
		},
		"too much is": func() {
			for _, id := range []string{clockID("t", "none"), clockID("t", paused.ID), "of an older version"} {
				require.NoError(t, b.nats.Schedules.Put(t.Context(), schedule.Schedule{ID: id, When: "@every 1h", Job: []byte(`{"id":"x"}`)}))
			}
		},
	} {
		spoil()
		require.NotEqual(t, right, b.clocks(), what)
		require.NoError(t, b.runs.compareClocks(t.Context()))
		require.Equal(t, right, b.clocks(), what)
	}
	require.NoError(t, b.nats.Schedules.Delete(t.Context(), clockID("t", s.ID)))
	b.close()
	b.other = nil
	b.open()
	b.hasClocks(1) // a host that starts compares
}

// A host that sets a clock by what it read before a change does not undo the change.
func TestClockIsThatOfTheLastChange(t *testing.T) {
	b := newBench(t)
	b.only(drop) // no host compares by itself
	s := b.schedule(Schedule{When: When{Every: "24h"}, Job: Job{Canvas: b.canvas(talk)}})
	for i := range 200 {
		require.NoError(t, b.nats.Schedules.Delete(t.Context(), clockID("t", s.ID)))
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := b.runs.compareClocks(t.Context()); err != nil {
				t.Error(err)
			}
		})
		s.Job.Query = engine.String(fmt.Sprint("query ", i))
		s = b.schedule(s)
		wg.Wait()
		want, err := json.Marshal(&s.Job)
		require.NoError(t, err)
		var run runlog.Run
		require.NoError(t, json.Unmarshal(b.clocks()[0].Job, &run))
		require.JSONEq(t, string(want), string(run.Data))
	}
}

// Two hosts with one run log and one store begin each run once.
func TestScheduleComesOnceForTwoHosts(t *testing.T) {
	srv, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true})
	require.NoError(t, err)
	srv.Start()
	t.Cleanup(func() { srv.Shutdown(); srv.WaitForShutdown() })
	require.True(t, srv.ReadyForConnections(patience))
	b := newBench(t) // its store and canvases; its own run log is not used
	b.only(drop)
	var mu sync.Mutex
	ended := map[string][]int{} // hosts by run
	var hosts []*Runs
	for n := range 2 {
		nats := logtest.OpenUntil(t, broker.Config{URLs: []string{srv.ClientURL()}})
		r := New(Config{
			Store: b.store, Log: nats.Log, Clocks: nats.Schedules, Registry: b.reg, Logger: quiet, ShortestPeriod: time.Second,
			Report: func(j *Job, _ End, _ time.Duration) {
				mu.Lock()
				defer mu.Unlock()
				ended[j.ID] = append(ended[j.ID], n)
			},
		})
		hosts = append(hosts, r)
		go func() { _ = r.Work(context.WithoutCancel(t.Context())) }()
		t.Cleanup(func() {
			require.NoError(t, nats.Close())
			r.Close()
		})
	}
	canvas := b.canvas(talk)
	const many = 4
	for i := range many {
		_, err := hosts[i%2].PutSchedule(t.Context(), Schedule{Tenant: "t", Name: fmt.Sprint(i), When: When{Every: "1s"}, Job: Job{Canvas: canvas}})
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(ended) >= 4*many
	}, patience, 10*time.Millisecond)
	require.NoError(t, hosts[1].DeleteSchedules(t.Context(), "t", ""))
	require.Eventually(t, func() bool {
		active, err := b.store.Runs.Active(t.Context())
		require.NoError(t, err)
		return len(active) == 0
	}, patience, 10*time.Millisecond)
	mu.Lock()
	defer mu.Unlock()
	for run, by := range ended {
		require.Len(t, by, 1, run)
	}
}

func TestScheduleIsRefused(t *testing.T) {
	b := newBench(t)
	canvas, other := b.canvas(talk), b.canvas(talk)
	session := b.session(other, talk)
	for _, test := range []struct {
		name string
		s    Schedule
		want string
	}{
		{"no time", Schedule{}, "either every or cron"},
		{"two times", Schedule{When: When{Every: "1h", Cron: "@daily"}}, "not both"},
		{"a time that does not parse", Schedule{When: When{Cron: "now and then"}}, `cron "now and then": 3 fields`},
		{"no period", Schedule{When: When{Every: "ten minutes"}}, "no period such as"},
		{"a period that is too short", Schedule{When: When{Every: "500ms"}}, "whole seconds"},
		{"a period with half a second", Schedule{When: When{Every: "90.5s"}}, "whole seconds"},
		{"a period back in time", Schedule{When: When{Every: "-1h"}}, "at most 366 days"},
		{"a period that is too long", Schedule{When: When{Every: "10000h"}}, "at most 366 days"},
		{"a period with a zone", Schedule{When: When{Every: "1h", Zone: "UTC"}}, "only cron has one"},
		{"an unknown zone", Schedule{When: When{Cron: "@daily", Zone: "Europe/Nowhere"}}, `zone "Europe/Nowhere"`},
		{"the zone of the host", Schedule{When: When{Cron: "@daily", Zone: "Local"}}, `zone "Local"`},
		{"a zone that is a path", Schedule{When: When{Cron: "@daily", Zone: "../../etc/passwd"}}, "is no time zone"},
		{"a day that never comes", Schedule{When: When{Cron: "0 0 30 2 *"}}, "names no time"},
		{"an unknown canvas", Schedule{When: When{Cron: "@daily"}, Job: Job{Canvas: "none"}}, store.ErrNotFound.Error()},
		{"a canvas that does not load", Schedule{When: When{Cron: "@daily"}, Job: Job{Canvas: b.canvas(`{"components":{"x":1}}`)}}, ErrCanvas.Error()},
		{"an unknown session", Schedule{When: When{Cron: "@daily"}, Job: Job{Session: "none"}}, ErrSession.Error()},
		{"a session of another canvas", Schedule{When: When{Cron: "@daily"}, Job: Job{Session: session}}, ErrSession.Error()},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.s.Tenant, test.s.Name = "t", "s"
			if test.s.Job.Canvas == "" {
				test.s.Job.Canvas = canvas
			}
			_, err := b.runs.PutSchedule(t.Context(), test.s)
			require.ErrorContains(t, err, test.want)
		})
	}
	list, err := b.runs.Schedules(t.Context(), "t")
	require.NoError(t, err)
	require.Empty(t, list)
	require.Empty(t, b.clocks())

	for i := range mostSchedules {
		_, err := b.store.Items.Put(
			t.Context(),
			store.Item{Tenant: "t", Kind: scheduleKind, Name: fmt.Sprint(i), Doc: []byte(`{"paused":true}`)},
		)
		require.NoError(t, err)
	}
	_, err = b.runs.PutSchedule(t.Context(), Schedule{Tenant: "t", Name: "one more", When: When{Cron: "@daily"}, Job: Job{Canvas: canvas}})
	require.ErrorIs(t, err, ErrTooMany)
}

func TestScheduleTooOften(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		When
		shortest time.Duration
		ok       bool
	}{
		{When{Every: "1m"}, time.Minute, true},
		{When{Every: "59s"}, time.Minute, false},
		{When{Cron: "* * * * *"}, time.Minute, true},
		{When{Cron: "*/30 * * * * *"}, time.Minute, false},
		{When{Cron: "0,59 0 3 1 1 *"}, time.Minute, false},
		{When{Cron: "*/5 * * * *"}, 5 * time.Minute, true},
		{When{Cron: "0,59 * * * *"}, 5 * time.Minute, false},
		{When{Cron: "59,0 0,23 * * 1,2"}, 5 * time.Minute, false},
	} {
		err := test.check(now, test.shortest)
		if test.ok {
			require.NoError(t, err, "%+v", test.When)
		} else {
			require.ErrorContains(t, err, "too often", "%+v", test.When)
		}
	}
}

func TestNextTimes(t *testing.T) {
	set := time.Date(2026, 11, 20, 12, 0, 0, 400e6, time.UTC)
	next := func(s Schedule, now, last time.Time) (out []string) {
		s.Set = set
		list, err := s.Next(2, now, last)
		require.NoError(t, err)
		for _, v := range list {
			out = append(out, v.Format("02 15:04:05 MST"))
		}
		return out
	}
	every, daily := Schedule{When: When{Every: "10m"}}, Schedule{When: When{Cron: "0 3 * * *", Zone: "Asia/Tokyo"}}
	require.Equal(t, []string{"20 12:10:00 UTC", "20 12:20:00 UTC"}, next(every, set, time.Time{}))
	require.Equal(t, []string{"20 12:30:00 UTC", "20 12:40:00 UTC"}, next(every, set.Add(25*time.Minute), time.Time{}))
	require.Equal(t, []string{"20 12:31:00 UTC", "20 12:41:00 UTC"}, next(every, set.Add(25*time.Minute), set.Add(21*time.Minute)))
	require.Equal(t, []string{"21 03:00:00 JST", "22 03:00:00 JST"}, next(daily, set, time.Time{}))
}

// setAt lets the records say that a schedule goes, and was set at another time.
func (b *bench) setAt(s Schedule, at time.Time) {
	b.t.Helper()
	item, err := b.store.Items.Get(b.t.Context(), "t", scheduleKind, s.ID)
	require.NoError(b.t, err)
	item.Doc = regexp.MustCompile(`("paused":true,)?"set":\d+`).ReplaceAll(item.Doc, fmt.Appendf(nil, `"set":%d`, at.UnixMilli()))
	_, err = b.store.Items.Put(b.t.Context(), item)
	require.NoError(b.t, err)
}

// Times that came while no host was there are made up for once, also when the
// run log has lost what it knew; a period keeps its phase.
func TestMissedTimesAreMadeUpForOnce(t *testing.T) {
	const period = 5 * time.Second
	for _, lost := range []bool{false, true} {
		b := newBench(t)
		b.only(takeOver) // no host compares meanwhile
		s := b.schedule(Schedule{When: When{Every: period.String()}, Job: Job{Canvas: b.canvas(talk)}, Paused: true})
		away := time.Now().Add(-time.Hour - time.Second).Truncate(time.Second).UTC()
		b.setAt(s, away) // an hour ago, and no host since
		if lost {
			require.NoError(t, b.nats.Schedules.Delete(t.Context(), clockID("t", s.ID)))
			b.close()
			b.other = nil
			b.open()
		} else {
			c, err := s.clock(away.Add(period))
			require.NoError(t, err)
			require.NoError(t, b.nats.Schedules.Put(t.Context(), c))
		}
		b.waitFor(s, store.RunDone, 3)
		require.NoError(t, b.runs.DeleteSchedule(t.Context(), "t", s.ID))
		runs := b.history(s, "")
		first := DueOf(runs[len(runs)-1])
		require.Equal(t, away.Add(period), first, "the oldest that was missed")
		for _, r := range runs[:len(runs)-1] {
			require.WithinDuration(t, time.Now(), DueOf(r), 30*time.Minute, "no other that was missed")
			require.Zero(t, DueOf(r).Sub(first)%period)
		}
	}
}
