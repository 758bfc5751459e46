package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Schedule is a run that the server puts into the queue again and again. No
// host has to be the one that remembers it.
type Schedule struct {
	ID string
	// When is "@every 10m" (a second or more), "@at 2006-01-02T15:04:05Z", "@hourly",
	// "@daily" ... or a cron line of six fields, seconds first.
	When string
	// Zone is an IANA time zone for cron lines; "" means UTC.
	Zone string
	// Run is queued each time, under its id with "-" and the time added, in Unix
	// milliseconds; its own id becomes one of its tasks. While no host takes runs,
	// only the newest waits. That of an "@at", which comes once, at once when the
	// time is past, keeps its id.
	Run Run
}

// Schedule adds a schedule or replaces the one with the same id.
//
// Errors: a When that the server does not understand.
func (l *Log) Schedule(ctx context.Context, s Schedule) error {
	body, err := json.Marshal(s.Run)
	if err != nil {
		return fail(err, "schedule %q", s.ID)
	}
	_, err = retry(ctx, func(ctx context.Context) (any, error) {
		// The target stands for the schedule; the worker names each run.
		msg := nats.NewMsg(l.subject("sched", token(s.ID)))
		msg.Header.Set("Nats-Schedule", s.When)
		msg.Header.Set("Nats-Schedule-Target", l.subject("rq", token("sched-"+s.ID)))
		msg.Header.Set("Nats-Schedule-Rollup", jetstream.MsgRollupSubject)
		msg.Header.Set(jetstream.MsgRollup, jetstream.MsgRollupSubject)
		if s.Zone != "" {
			msg.Header.Set("Nats-Schedule-Time-Zone", s.Zone)
		}
		if msg.Data, err = l.spill(ctx, body); err != nil {
			return nil, err
		}
		return l.js.PublishMsg(ctx, msg)
	})
	return fail(err, "schedule %q, %q", s.ID, s.When)
}

// Unschedule removes a schedule; runs that it has queued stay. One that is not
// there is no error.
func (l *Log) Unschedule(ctx context.Context, id string) error {
	_, err := retry(ctx, func(ctx context.Context) (any, error) {
		return nil, l.runs.Purge(ctx, jetstream.WithPurgeSubject(l.subject("sched", token(id))))
	})
	return fail(err, "unschedule %q", id)
}

// Schedules lists all schedules, in no order.
func (l *Log) Schedules(ctx context.Context) ([]Schedule, error) {
	info, err := retry(ctx, func(ctx context.Context) (*jetstream.StreamInfo, error) {
		return l.runs.Info(ctx, jetstream.WithSubjectFilter(l.subject("sched", "*")))
	})
	if err != nil {
		return nil, fail(err, "schedules")
	}
	var out []Schedule
	for subject := range info.State.Subjects {
		s, err := l.readSchedule(ctx, subject)
		if errors.Is(err, ErrNotFound) || errors.Is(err, jetstream.ErrMsgNotFound) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, fail(err, "schedule %s", subject)
		}
		out = append(out, s)
	}
	return out, nil
}

func (l *Log) readSchedule(ctx context.Context, subject string) (Schedule, error) {
	m, err := retry(ctx, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
		return l.runs.GetLastMsgForSubject(ctx, subject)
	})
	if err != nil {
		return Schedule{}, err
	}
	id, ok := untoken(subject[len(l.subject("sched", "")):])
	if !ok {
		return Schedule{}, fmt.Errorf("%s: %w", subject, ErrDamaged)
	}
	s := Schedule{ID: id, When: m.Header.Get("Nats-Schedule"), Zone: m.Header.Get("Nats-Schedule-Time-Zone")}
	data, err := l.unspill(ctx, m.Data)
	if err != nil {
		return Schedule{}, err
	}
	return s, json.Unmarshal(data, &s.Run)
}
