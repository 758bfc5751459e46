package runlog

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/nats-io/nats.go/jetstream"
)

// handOver puts all runs of this host back into the queue, for others.
func (l *Log) handOver() {
	patience := 5 * time.Second
	if l.Alone() {
		patience = 2 * broker.Wait // the server is here; on a busy machine it takes a while
	}
	ctx, done := context.WithTimeout(context.Background(), patience)
	defer done()
	for _, e := range l.leases.all() {
		if err := e.release(ctx); err != nil {
			l.cfg.Log.Warn("run was not handed over; it is taken over after the lease", "run", e.Run.ID, "err", err)
		}
	}
}

// release puts the run back into the queue when this host stops. Buffered
// records are stored first.
func (e *Lease) release(ctx context.Context) error {
	err := e.Flush(ctx)
	if err == nil {
		err = e.giveBack(ctx, ErrStopping, e.Run.Failures)
	}
	e.retire(ErrStopping)
	return err
}

// giveBack puts the run into the queue. The lease ends before, so that this host may claim it
// again; the note is removed after, so that the run always has one of the two. If it cannot be
// queued, the note stays until this host ends.
func (e *Lease) giveBack(ctx context.Context, why error, deaths uint64) error {
	if !e.retire(why) {
		return nil
	}
	if err := e.log.queue.put(ctx, e.again(deaths), e.owner+".back"); err != nil {
		return err
	}
	if e.log.notes.book.at(e) == 0 {
		e.log.notes.book.forget(e)
		return nil // a short run has none
	}
	// Synchronous, because a note that is found later counts as a death.
	_, err := broker.Retry(ctx, func(ctx context.Context) (any, error) {
		return nil, e.log.notes.stream.DeleteMsg(ctx, e.log.notes.book.at(e))
	})
	if err == nil || errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful) {
		e.log.notes.book.forget(e)
		return nil // it is gone
	}
	return err
}

// again returns the run as the next host gets it.
func (e *Lease) again(deaths uint64) Run {
	run := e.Run
	run.Attempt, run.Failures, run.From = e.Attempt+1, deaths, e.owner
	return run
}

// put puts a run into the queue; the same id within two minutes does so
// once.
func (q *queue) put(ctx context.Context, run Run, id string) error {
	body, err := json.Marshal(run)
	if err != nil {
		return err
	}
	_, err = broker.Retry(ctx, func(ctx context.Context) (any, error) {
		packed, err := q.conn.Pack(ctx, body)
		if err != nil {
			return nil, err
		}
		return q.conn.JS.Publish(ctx, q.conn.Subject("rq", broker.Token(run.ID)), packed, jetstream.WithMsgID(id))
	})
	return err
}
