package runlog

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
)

// Follow calls fn with the records of a run after a position, in order and each once: the stored
// ones, then new ones, until the run has ended (nil), fn returns false (nil) or ctx ends. It waits
// for a run that has not started yet.
//
// A record without At is buffered and not stored yet. If its host loses the run before that,
// records of the next host follow with its number and higher ones.
//
// fn may be slow: it delays no other reader, and memory stays bounded, since later records are read
// from the stream. Records share memory with others and must not be changed.
//
// Errors: [broker.ErrGone] if the first requested record is no longer stored; ctx's.
func (l *Log) Follow(ctx context.Context, run string, after Pos, fn func(Record) bool) error {
	f := follower{
		log: l, run: run, subject: l.conn.Subject("run", broker.Token(run), "ev"), seq: after.Seq,
		sure: after.Seq, fn: fn,
	}
	if after.At > 0 {
		// The message may hold more than the records that were read.
		f.at = after.At - 1
		f.hinted = true
	}
	for !f.done {
		var err error
		if e := l.leases.get(run); e != nil {
			err = f.local(ctx, e)
		} else {
			err = f.remote(ctx)
		}
		if err != nil {
			return broker.Fail(err, "follow run %q", run)
		}
	}
	return nil
}

// follower is one reader. Its fields belong to the goroutine that called
// Follow.
type follower struct {
	log     *Log
	run     string
	subject string
	fn      func(Record) bool
	seq     uint64 // number of the last record given to fn
	sure    uint64 // of those, the last one that was stored then
	attempt uint64 // of the owner that wrote it; 0 when unknown
	at      uint64 // sequence of the last message read
	hinted  bool   // at is from a client
	done    bool   // the run has ended or fn returned false
}

// give passes records on and skips those that were passed before.
func (f *follower) give(records []Record) {
	for i, r := range records {
		if r.Seq <= f.seq {
			continue
		}
		f.seq, r.More = r.Seq, i+1 < len(records)
		if r.At > 0 {
			f.sure = r.Seq
		}
		if !f.fn(r) {
			f.done = true
			return
		}
	}
}

// owner records the owner of the records from a number on: records that a previous owner buffered
// with this number, or a higher one, were never stored and are replaced.
func (f *follower) owner(attempt, first uint64) {
	if f.attempt > 0 && attempt > f.attempt {
		f.seq = min(f.seq, max(f.sure, first-1))
	}
	f.attempt = max(f.attempt, attempt)
}

// take passes the records of one stored message on.
func (f *follower) take(ctx context.Context, m broker.Message) error {
	b, err := decodeBundle(m.Data, m.Seq)
	if err != nil {
		return err
	}
	f.owner(b.attempt, b.first)
	if b.first > f.seq+1 {
		if f.hinted {
			// A wrong hint: start again from the beginning.
			f.hinted, f.at = false, 0
			return errRestart
		}
		return fmt.Errorf("records %d to %d: %w", f.seq+1, b.first-1, broker.ErrGone)
	}
	f.hinted, f.at = false, m.Seq
	records, err := f.log.unpack(ctx, broker.Token(f.run), b.after(f.seq))
	if err != nil {
		return err
	}
	f.give(records)
	f.done = f.done || b.end
	return nil
}

var errRestart = fmt.Errorf("restart: %w", broker.ErrGone)

// history reads the stored records and returns at their end.
func (f *follower) history(ctx context.Context) error {
	for !f.done {
		batch, err := f.log.conn.Read(ctx, f.log.conn.Name("LOG"), f.subject, f.at+1)
		if err != nil {
			return err
		}
		for _, m := range batch {
			if err = f.take(ctx, m); err != nil || f.done {
				break
			}
		}
		if err == errRestart {
			continue
		}
		if err != nil {
			return err
		}
		if len(batch) == 0 {
			if !f.hinted {
				return nil
			}
			f.hinted, f.at = false, 0
		}
	}
	return nil
}

// local reads the memory of the run's owner on this host, and older records from the stream. It
// returns nil when the lease has ended.
func (f *follower) local(ctx context.Context, e *Lease) error {
	f.owner(e.Attempt, e.first)
	bell := e.tail.listen()
	defer e.tail.unlisten(bell)
	for {
		records, end, closed, ok := e.tail.after(f.seq)
		if !ok {
			before := f.seq
			if err := f.history(ctx); err != nil || f.done {
				return err
			}
			if f.seq > before {
				continue
			}
		}
		f.give(records)
		if f.done {
			return nil
		}
		if end && ok {
			f.done = true
			return nil
		}
		if closed {
			// Another host continues the run, at a position unknown here.
			return nil
		}
		select {
		case <-bell:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// liveMost is the number of messages buffered for a slow reader; the others are read from the
// stream.
const liveMost = 64

// remote reads the stream's history and the republished messages.
func (f *follower) remote(ctx context.Context) error {
	live := make(chan *nats.Msg, liveMost)
	sub, err := f.log.conn.NATS.ChanSubscribe(f.log.conn.Subject("log", broker.Token(f.run)), live)
	if err != nil {
		return err
	}
	// An unsubscribe fails only on a connection that has forgotten it anyway.
	defer func() { _ = sub.Unsubscribe() }()
	// In a cluster the subscription must have arrived before history is read.
	if err := f.log.conn.Flush(ctx); err != nil {
		return err
	}
	if err := f.history(ctx); err != nil || f.done {
		return err
	}
	idle := time.NewTicker(idleCheck)
	defer idle.Stop()
	for dropped := 0; ; {
		back := f.log.conn.Reconnected()
		select {
		case msg := <-live:
			err = f.live(ctx, msg)
		case <-back:
			err = f.history(ctx)
		case <-idle.C:
			err = f.history(ctx)
		case <-f.log.ctx.Done():
			return context.Cause(f.log.ctx)
		case <-ctx.Done():
			return ctx.Err()
		}
		// Dropped messages of a full live: live is not empty at that time, so this check comes
		// after the last drop.
		if n, _ := sub.Dropped(); err == nil && !f.done && n != dropped && len(live) == 0 {
			dropped = n
			err = f.history(ctx)
		}
		if err != nil || f.done {
			return err
		}
	}
}

// idleCheck is the interval at which a silent run is looked up without a sign of a gap. It covers
// messages that a server may lose while a stream moves.
const idleCheck = 20 * time.Second

// live takes a republished message. Its headers name the message before it;
// when that is not the one read last, the gap is read first.
func (f *follower) live(ctx context.Context, msg *nats.Msg) error {
	seq, err := strconv.ParseUint(msg.Header.Get(jetstream.SequenceHeader), 10, 64)
	if err != nil {
		return fmt.Errorf("republished message without a sequence: %w", broker.ErrDamaged)
	}
	before, err := strconv.ParseUint(msg.Header.Get(jetstream.LastSequenceHeader), 10, 64)
	if err != nil {
		return fmt.Errorf("republished message without its predecessor: %w", broker.ErrDamaged)
	}
	for f.at < before && !f.done {
		had := f.at
		if err := f.history(ctx); err != nil {
			return err
		}
		// The replica that answered may lag behind the one that published.
		if f.at == had && !broker.Sleep(ctx, 5*time.Millisecond) {
			return ctx.Err()
		}
	}
	if f.done || seq <= f.at {
		return nil
	}
	data, err := f.log.conn.Unpack(ctx, msg.Data)
	if err != nil {
		return err
	}
	return f.take(ctx, broker.Message{Seq: seq, Data: data})
}

// tailMost bounds the bytes of stored records that a lease keeps for readers
// on its own host; readers that are further behind read the stream.
const tailMost = 128 << 10

// tail is the end of a run in the memory of its owner. Each reader waits on a channel of size one,
// which never blocks the owner.
type tail struct {
	mu      sync.Mutex
	base    uint64   // number of the first record that is, or will be, here
	records []Record // without gaps; the last ones of the run
	size    int
	end     bool // the run has ended with the last record
	closed  bool // no further records come from here
	bells   map[chan struct{}]bool
}

// add appends records and drops old ones that are stored for sure: each append
// stores all that was buffered before it, and the buffer is bounded by maxBuffered.
func (t *tail) add(records []Record, end bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range records {
		t.size += len(r.Data) + 64
	}
	t.records = append(t.records, records...)
	t.end = t.end || end
	if t.size > 2*tailMost {
		t.trim()
	}
	t.ring()
}

// trim drops the older half, so that it is called rarely.
func (t *tail) trim() {
	drop := 0
	for t.size > tailMost && drop < len(t.records)-1 {
		t.size -= len(t.records[drop].Data) + 64
		drop++
	}
	t.records = append([]Record(nil), t.records[drop:]...)
	t.base = t.records[0].Seq
}

func (t *tail) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	t.ring()
}

func (t *tail) ring() {
	for bell := range t.bells {
		select {
		case bell <- struct{}{}:
		default:
		}
	}
}

func (t *tail) listen() chan struct{} {
	bell := make(chan struct{}, 1)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.bells == nil {
		t.bells = map[chan struct{}]bool{}
	}
	t.bells[bell] = true
	return bell
}

func (t *tail) unlisten(bell chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.bells, bell)
}

// after returns the records with a number above seq. ok is false when the first of
// them is no longer, or not yet, known here.
func (t *tail) after(seq uint64) (records []Record, end, closed, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if seq+1 < t.base {
		return nil, false, t.closed, false
	}
	skip := min(seq+1-t.base, uint64(len(t.records)))
	return t.records[skip:len(t.records):len(t.records)], t.end, t.closed, true
}
