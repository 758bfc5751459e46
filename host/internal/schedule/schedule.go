// Package schedule keeps schedules on NATS JetStream: the server puts a run into the queue at its
// times, so that no host has to be the one that remembers it.
package schedule

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/easel-canvas/easel/host/internal/broker"
)

// Store holds the schedules of one installation. It is safe for concurrent use.
type Store struct {
	conn *broker.Conn
	runs jetstream.Stream
}

// New opens the schedules in the queue that the run log has created.
//
// Errors: [broker.ErrUnavailable].
func New(ctx context.Context, conn *broker.Conn) (*Store, error) {
	runs, err := broker.Retry(ctx, func(ctx context.Context) (jetstream.Stream, error) {
		return conn.JS.Stream(ctx, conn.Name("RUNS"))
	})
	return &Store{conn, runs}, broker.Fail(err, "schedules")
}

// Schedule is a run that the server queues at its times.
type Schedule struct {
	ID string
	// When is "@every 10m" (a second or more), "@at 2006-01-02T15:04:05Z", "@hourly",
	// "@daily" ... or a cron line of six fields, seconds first.
	When string
	// Zone is an IANA time zone for cron lines; "" means UTC.
	Zone string
	// Job is the message that is queued each time, see package runlog. While no
	// host takes runs, only the newest waits. "@at" comes once, immediately when
	// the time is past.
	Job []byte
}

// Put adds a schedule or replaces the one with the same id.
//
// Errors: a When that the server does not understand.
func (s *Store) Put(ctx context.Context, v Schedule) error {
	_, err := broker.Retry(ctx, func(ctx context.Context) (any, error) {
		// The target stands for the schedule; the worker names each run.
		msg := nats.NewMsg(s.conn.Subject("sched", broker.Token(v.ID)))
		msg.Header.Set("Nats-Schedule", v.When)
		msg.Header.Set("Nats-Schedule-Target", s.conn.Subject("rq", broker.Token("sched-"+v.ID)))
		msg.Header.Set("Nats-Schedule-Rollup", jetstream.MsgRollupSubject)
		msg.Header.Set(jetstream.MsgRollup, jetstream.MsgRollupSubject)
		if v.Zone != "" {
			msg.Header.Set("Nats-Schedule-Time-Zone", v.Zone)
		}
		var err error
		if msg.Data, err = s.conn.Pack(ctx, v.Job); err != nil {
			return nil, err
		}
		return s.conn.JS.PublishMsg(ctx, msg)
	})
	return broker.Fail(err, "schedule %q, %q", v.ID, v.When)
}

// Delete removes a schedule; runs that it has queued stay. A missing
// one is no error.
func (s *Store) Delete(ctx context.Context, id string) error {
	_, err := broker.Retry(ctx, func(ctx context.Context) (any, error) {
		return nil, s.runs.Purge(ctx, jetstream.WithPurgeSubject(s.conn.Subject("sched", broker.Token(id))))
	})
	return broker.Fail(err, "unschedule %q", id)
}

// List lists all schedules, in no order.
func (s *Store) List(ctx context.Context) ([]Schedule, error) {
	info, err := broker.Retry(ctx, func(ctx context.Context) (*jetstream.StreamInfo, error) {
		return s.runs.Info(ctx, jetstream.WithSubjectFilter(s.conn.Subject("sched", "*")))
	})
	if err != nil {
		return nil, broker.Fail(err, "schedules")
	}
	var out []Schedule
	for subject := range info.State.Subjects {
		v, err := s.read(ctx, subject)
		if errors.Is(err, broker.ErrNotFound) || errors.Is(err, jetstream.ErrMsgNotFound) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, broker.Fail(err, "schedule %s", subject)
		}
		out = append(out, v)
	}
	return out, nil
}

func (s *Store) read(ctx context.Context, subject string) (Schedule, error) {
	m, err := broker.Retry(ctx, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
		return s.runs.GetLastMsgForSubject(ctx, subject)
	})
	if err != nil {
		return Schedule{}, err
	}
	id, ok := broker.Untoken(subject[len(s.conn.Subject("sched", "")):])
	if !ok {
		return Schedule{}, fmt.Errorf("%s: %w", subject, broker.ErrDamaged)
	}
	v := Schedule{ID: id, When: m.Header.Get("Nats-Schedule"), Zone: m.Header.Get("Nats-Schedule-Time-Zone")}
	v.Job, err = s.conn.Unpack(ctx, m.Data)
	return v, err
}
