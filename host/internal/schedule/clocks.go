package schedule

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
)

// Clocks are the next times of all schedules on NATS JetStream: the server puts a run into the
// queue at its time, so that no host has to remember it. It is safe for concurrent use.
type Clocks struct {
	conn *broker.Conn
	runs jetstream.Stream
}

// OpenClocks opens the clocks in the queue that the run log has created.
//
// Errors: [broker.ErrUnavailable].
func OpenClocks(ctx context.Context, conn *broker.Conn) (*Clocks, error) {
	runs, err := broker.Retry(ctx, func(ctx context.Context) (jetstream.Stream, error) {
		return conn.JS.Stream(ctx, conn.Name("RUNS"))
	})
	return &Clocks{conn, runs}, broker.Fail(err, "schedules")
}

// Clock is a run that the server queues at its times.
type Clock struct {
	ID string
	// When is "@every 10m" (a second or more), "@at 2006-01-02T15:04:05Z", "@hourly",
	// "@daily" ... or a cron line of six fields, seconds first.
	When string
	// Zone is an IANA time zone for cron lines; "" means UTC.
	Zone string
	// Job is the message that is queued each time, see package runlog. While no host takes runs,
	// only the newest waits. "@at" comes once, immediately when the time is past.
	Job []byte
}

// Put adds a clock or replaces the one with the same id.
//
// Errors: a When that the server does not understand.
func (s *Clocks) Put(ctx context.Context, v Clock) error {
	_, err := broker.Retry(ctx, func(ctx context.Context) (any, error) {
		// The target identifies the schedule; the worker names each run.
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

// Delete removes a clock; runs that it has queued stay. A missing clock is not an error.
func (s *Clocks) Delete(ctx context.Context, id string) error {
	_, err := broker.Retry(ctx, func(ctx context.Context) (any, error) {
		return nil, s.runs.Purge(ctx, jetstream.WithPurgeSubject(s.conn.Subject("sched", broker.Token(id))))
	})
	return broker.Fail(err, "unschedule %q", id)
}

// List returns all clocks, in no order.
func (s *Clocks) List(ctx context.Context) ([]Clock, error) {
	info, err := broker.Retry(ctx, func(ctx context.Context) (*jetstream.StreamInfo, error) {
		return s.runs.Info(ctx, jetstream.WithSubjectFilter(s.conn.Subject("sched", "*")))
	})
	if err != nil {
		return nil, broker.Fail(err, "schedules")
	}
	var out []Clock
	for subject := range info.State.Subjects {
		v, err := s.read(ctx, subject)
		if errors.Is(err, broker.ErrNotFound) || errors.Is(err, jetstream.ErrMsgNotFound) {
			continue // removed concurrently
		}
		if err != nil {
			return nil, broker.Fail(err, "schedule %s", subject)
		}
		out = append(out, v)
	}
	return out, nil
}

func (s *Clocks) read(ctx context.Context, subject string) (Clock, error) {
	m, err := broker.Retry(ctx, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
		return s.runs.GetLastMsgForSubject(ctx, subject)
	})
	if err != nil {
		return Clock{}, err
	}
	id, ok := broker.Untoken(subject[len(s.conn.Subject("sched", "")):])
	if !ok {
		return Clock{}, fmt.Errorf("%s: %w", subject, broker.ErrDamaged)
	}
	v := Clock{ID: id, When: m.Header.Get("Nats-Schedule"), Zone: m.Header.Get("Nats-Schedule-Time-Zone")}
	v.Job, err = s.conn.Unpack(ctx, m.Data)
	return v, err
}
