package runlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/nats-io/nats.go/jetstream"
)

// queue holds runs for any free host.
type queue struct {
	conn     *broker.Conn
	stream   jetstream.Stream // schedules, too
	consumer jetstream.Consumer
	lease    time.Duration
	logger   *slog.Logger
}

// Submit puts a run into the queue for any free host. The same id within two minutes, and the id of
// a run that has begun, is accepted once. An Attempt of 2 means that a host died with the run and
// left no note; it is ignored if the run waits in the queue.
func (q *queue) Submit(ctx context.Context, run Run) error {
	run.Failures = max(run.Attempt, 1) - 1
	if run.Attempt > 1 {
		// Waiting messages already have their failure count.
		m, err := q.conn.Last(ctx, q.conn.Name("RUNS"), q.conn.Subject("rq", broker.Token(run.ID)))
		if err != nil || m != nil {
			return broker.Fail(err, "submit run %q", run.ID)
		}
	}
	return broker.Fail(q.put(ctx, run, run.ID), "submit run %q", run.ID)
}

// Work claims queued runs, including those of dead hosts, and calls fn with each in a separate
// goroutine, until ctx ends; then it waits for them.
//
// fn continues the run from [Lease.Checkpoint] and calls [Lease.End]. When it
// returns nil without End, the run is ended. When it returns an error, the run returns to the queue
// after a pause, as if its host had died, except for [ErrFenced] and when this host stops.
func (l *Log) Work(ctx context.Context, fn func(context.Context, *Lease) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(l.ctx, stop)()
	w := worker{log: l, fn: fn, slots: make(chan struct{}, l.cfg.Workers)}
	defer w.running.Wait()
	for ctx.Err() == nil {
		// A request that got lost while the queue had no leader times out soon.
		messages, err := l.consumer.Messages(jetstream.PullMaxMessages(min(l.cfg.Workers, 16)),
			jetstream.PullExpiry(4*time.Second), jetstream.PullHeartbeat(time.Second))
		if err != nil {
			if !broker.Sleep(ctx, 200*time.Millisecond) {
				break
			}
			continue
		}
		unstop := context.AfterFunc(ctx, messages.Stop)
		w.pull(ctx, messages)
		unstop()
		messages.Stop()
	}
	return nil
}

// worker passes queued runs to fn.
type worker struct {
	log     *Log
	fn      func(context.Context, *Lease) error
	slots   chan struct{} // filled by each run at work
	running sync.WaitGroup
}

// open creates or finds the consumer of the queue. It must precede the first queued message: after
// a power loss a server may have lost the newest messages but not their delivery state, and would
// treat the next ones as delivered.
func (q *queue) open(ctx context.Context) (jetstream.Consumer, error) {
	cfg := jetstream.ConsumerConfig{
		Durable: "workers", FilterSubject: q.conn.Subject("rq", "*"), AckPolicy: jetstream.AckExplicitPolicy,
		// A claim takes milliseconds; there is no wait for a host that was frozen with the message.
		AckWait: max(q.lease/4, 500*time.Millisecond), MaxDeliver: -1, MaxAckPending: 10_000,
	}
	consumer, err := q.stream.CreateOrUpdateConsumer(ctx, cfg)
	if broker.IsDamaged(err) && q.conn.Embedded() {
		// Completed runs are no longer in the queue; a run that is delivered again is claimed once.
		if err := q.conn.DropConsumerState(q.conn.Name("RUNS"), cfg.Durable, err); err != nil {
			return nil, err
		}
		consumer, err = q.stream.CreateOrUpdateConsumer(ctx, cfg)
	}
	if err != nil {
		return nil, err
	}
	queue, err := q.stream.Info(ctx)
	if err != nil {
		return nil, err
	}
	handed := consumer.CachedInfo().Delivered.Stream
	if handed <= queue.State.LastSeq {
		return consumer, nil
	}
	q.logger.Warn("the queue has lost its newest messages; those still wanted are queued again", "last",
		queue.State.LastSeq, "delivered", handed)
	if err := q.stream.DeleteConsumer(ctx, cfg.Durable); err != nil {
		return nil, err
	}
	return q.stream.CreateOrUpdateConsumer(ctx, cfg)
}

// pull takes messages while there are free slots, until the iterator ends.
func (w *worker) pull(ctx context.Context, messages jetstream.MessagesContext) {
	for {
		select {
		case w.slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		msg, err := messages.Next()
		if err != nil {
			<-w.slots
			if errors.Is(err, jetstream.ErrNoHeartbeat) {
				continue
			}
			if !errors.Is(err, jetstream.ErrMsgIteratorClosed) {
				w.log.cfg.Log.Warn("queue", "err", err)
				broker.Sleep(ctx, 100*time.Millisecond)
			}
			return
		}
		w.running.Go(func() {
			defer func() { <-w.slots }()
			w.deliver(ctx, msg)
		})
	}
}

// deliver claims the run of a queue message and works on it. The message is
// acknowledged once the note of the claim is stored; from then on the note keeps the run.
func (w *worker) deliver(ctx context.Context, msg jetstream.Msg) {
	l := w.log
	run, err := l.queue.read(ctx, msg)
	if err != nil {
		l.cfg.Log.Error("queue message is damaged and dropped", "subject", msg.Subject(), "err", err)
		l.queue.settle(msg.Term())
		return
	}
	if l.cfg.Gate != nil {
		leave, ok := l.cfg.Gate(run)
		if !ok {
			l.queue.settle(msg.NakWithDelay(time.Second))
			return
		}
		defer leave()
	}
	e, err := l.take(ctx, run)
	switch {
	case errors.Is(err, ErrEnded), errors.Is(err, ErrActive), errors.Is(err, ErrFenced):
		l.queue.settle(msg.Ack())
		return
	case err != nil:
		// It is delivered again after AckWait at the latest.
		l.queue.settle(msg.NakWithDelay(time.Second))
		return
	}
	l.queue.settle(msg.DoubleAck(ctx))
	if e.Run.Failures >= uint64(l.cfg.Attempts) {
		l.bury(e)
		return
	}
	l.finish(e, w.fn(e.ctx, e))
}

// settle logs that an answer to the queue got lost; the message is then delivered again and found
// to be done.
func (q *queue) settle(err error) {
	if err != nil {
		q.logger.Warn("queue was not answered", "err", err)
	}
}

// read reads the run of a queue message. A message of a schedule gets an id, the same when the
// message is delivered again.
func (q *queue) read(ctx context.Context, msg jetstream.Msg) (Run, error) {
	var run Run
	data, err := q.conn.Unpack(ctx, msg.Data())
	if err != nil {
		return run, err
	}
	if err := json.Unmarshal(data, &run); err != nil {
		return run, err
	}
	// A schedule that fires once has named its run.
	if h := msg.Headers(); h.Get("Nats-Scheduler") != "" && h.Get("Nats-Schedule-Next") != "purge" {
		meta, err := msg.Metadata()
		if err != nil {
			return run, err
		}
		run.Tasks = append(run.Tasks, run.ID)
		// The time is the same on every server, and never that of a run from
		// before this stream, as the number of the message could be.
		run.ID = fmt.Sprintf("%s-%d", run.ID, meta.Timestamp.UnixMilli())
	}
	return run, nil
}

// finish ends or releases a lease by the result of its worker.
func (l *Log) finish(e *Lease, err error) {
	ctx, done := context.WithTimeout(context.WithoutCancel(l.ctx), broker.Wait)
	defer done()
	switch {
	case e.alive() != nil:
		return
	case err == nil:
		err = e.End(ctx)
	case context.Cause(l.ctx) != nil:
		err = e.release(ctx)
	default:
		l.cfg.Log.Warn("run failed and is tried again", "run", e.Run.ID, "attempt", e.Attempt, "err", err)
		err = e.retry(ctx)
	}
	if err != nil && !errors.Is(err, ErrFenced) {
		l.cfg.Log.Warn("run is not settled yet", "run", e.Run.ID, "err", err)
		l.rescue(e)
	}
}

// rescue drops the lease of a run that could be neither ended nor queued: it is
// queued as that of a dead host, by its note if it has one, once the server answers.
func (l *Log) rescue(e *Lease) {
	e.retire(ErrEnded)
	for broker.Sleep(l.ctx, time.Second) {
		queue := func() error { return l.orphans.takeNote(l.notes.subject(l.host, e.token)) }
		if l.notes.book.at(e) == 0 {
			queue = func() error { return l.queue.put(l.ctx, e.again(e.Run.Failures+1), e.owner+".back") }
		}
		if queue() == nil {
			l.notes.book.forget(e)
			return
		}
	}
}

// HandBack releases the lease of a claimed run as [Log.Work] does when its function returns an
// error: another host continues the run, or this one after a pause. A lease that has ended is not
// changed.
func (e *Lease) HandBack(why error) { e.log.finish(e, why) }

// retry puts the run back into the queue after a pause that grows.
func (e *Lease) retry(ctx context.Context) error {
	broker.Sleep(e.log.ctx, time.Duration(e.Run.Failures+1)*200*time.Millisecond)
	if err := e.Flush(ctx); err != nil {
		return err
	}
	return e.giveBack(ctx, ErrEnded, e.Run.Failures+1)
}

// bury ends a run that failed too often.
func (l *Log) bury(e *Lease) {
	l.cfg.Log.Error("run failed too often", "run", e.Run.ID, "failures", e.Run.Failures)
	if l.cfg.Dead != nil {
		if err := l.cfg.Dead(e.ctx, e); err != nil {
			l.finish(e, err)
			return
		}
	}
	l.finish(e, nil)
}
