package runlog

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/runlog/pack"
)

// Run is the content of queue messages and notes.
type Run struct {
	ID        string   `json:"id"`
	Tasks     []string `json:"tasks,omitempty"`   // further names by which it can be canceled; its id always is one
	Data      []byte   `json:"data,omitempty"`    // opaque payload
	Attempt   uint64   `json:"attempt,omitempty"` // set by this package, see [Log.Submit]
	Failures  uint64   `json:"deaths,omitempty"`  // attempts lost to a crash or an error; set by this package
	From      string   `json:"from,omitempty"`    // the owner that released it or fell silent; set by this package
	Persisted bool     `json:"-"`                 // the claimer queues it again after a restart, see [Lease.noteLater]
}

// Lease is the right to append to a run, held by one host at a time.
//
// One goroutine, the run's owner, calls its methods. The records that are not
// stored yet, and the last ones that are, stay in its memory for readers on
// this host (tail, in follow.go).
type Lease struct {
	Run     Run
	Attempt uint64 // 1 for the first host that works on the run; one more for each that continues it

	log    *Log
	token  string // of the run, in subjects
	owner  string // unique per lease
	first  uint64 // number of its first record
	ctx    context.Context
	cancel context.CancelCauseFunc
	tail   tail
	held   atomic.Bool // false while the claim is not stored

	writing sync.Mutex // held while a message is on its way; guards what follows
	last    uint64     // sequence of the newest message of the run
	packer  pack.Packer
	blobs   []pack.Blob // not stored yet

	mu      sync.Mutex
	waiting []Record // numbered, not stored
	size    int      // bytes of waiting
	next    uint64   // number of the next record
	timer   *time.Timer
	noting  *time.Timer // leaves the note of a run that lasts
	over    error       // why nothing more may be written: ErrEnded, ErrFenced, ErrStopping

	collected *collection // nil for a run that another lease began
}

// Context ends when the run must end: canceled ([ErrCanceled]), taken by another host
// ([ErrFenced]), this host stops ([ErrStopping]), or after [Lease.End]. context.Cause returns the
// reason. To append the last records of a canceled run, use a context without its cancel.
func (e *Lease) Context() context.Context { return e.ctx }

// maxBuffered is the number of bytes that are buffered before a synchronous write, which slows down
// a model that is faster than the disk.
const maxBuffered = 64 << 10

// Append stores records and returns the place after the last of them. When it
// returns an error other than [ErrFenced], the records may be stored or not;
// they keep their numbers and are sent with the next append, so retrying with no records neither
// loses nor duplicates any.
//
// Errors: [ErrFenced], [broker.ErrFull], ctx's.
func (e *Lease) Append(ctx context.Context, records ...Record) (Pos, error) {
	return e.append(ctx, false, records)
}

func (e *Lease) append(ctx context.Context, end bool, records []Record) (Pos, error) {
	if err := e.alive(); err != nil {
		return Pos{}, err
	}
	e.writing.Lock()
	defer e.writing.Unlock()
	e.mu.Lock()
	numbered := e.number(records)
	e.mu.Unlock()
	err := e.publish(ctx, end)
	if over := e.alive(); over != nil {
		return Pos{}, over // more specific than the error of the context
	}
	if err != nil {
		// They have their numbers and are sent with the next append: from here on they are like
		// buffered ones, or readers on this host would miss them.
		e.tail.add(numbered, false)
		return Pos{}, broker.Fail(err, "append to run %q", e.Run.ID)
	}
	for i := range numbered {
		numbered[i].At = e.last
	}
	e.tail.add(numbered, end)
	e.mu.Lock()
	defer e.mu.Unlock()
	return Pos{e.next - 1, e.last}, nil
}

// Buffer passes records to the readers on this host now and to the stream at the next flush.
//
// Errors: [ErrFenced]; [broker.ErrFull] and others when records buffered before
// could not be stored.
func (e *Lease) Buffer(ctx context.Context, records ...Record) error {
	if err := e.alive(); err != nil {
		return err
	}
	e.mu.Lock()
	e.tail.add(e.number(records), false)
	full := e.size >= maxBuffered
	if e.timer == nil && !full {
		e.timer = time.AfterFunc(e.log.cfg.FlushInterval, e.flushBuffered)
	}
	e.mu.Unlock()
	if full {
		return e.Flush(ctx)
	}
	return nil
}

// Flush stores the buffered records.
func (e *Lease) Flush(ctx context.Context) error {
	_, err := e.append(ctx, false, nil)
	return err
}

// flushBuffered returns the timer's; its error comes back with the next call, since the
// records still wait.
func (e *Lease) flushBuffered() {
	e.mu.Lock()
	e.timer = nil
	e.mu.Unlock()
	if err := e.Flush(e.ctx); err != nil && e.ctx.Err() == nil {
		e.log.cfg.Log.Warn("buffered records are not stored yet", "run", e.Run.ID, "err", err)
	}
}

// number assigns numbers to records and queues them. The caller holds e.mu.
func (e *Lease) number(records []Record) []Record {
	out := make([]Record, len(records))
	for i, r := range records {
		out[i] = Record{Seq: e.next, Kind: r.Kind, Data: r.Data, Known: r.Known}
		e.next++
		e.size += len(r.Kind) + len(r.Data)
	}
	e.waiting = append(e.waiting, out...)
	e.collected.add(out)
	return out
}

// publish stores all waiting records in one message. The caller holds e.writing. A lost
// acknowledgement is looked up.
func (e *Lease) publish(ctx context.Context, end bool) error {
	pause := 20 * time.Millisecond
	for {
		b, empty := e.bundle(end)
		if empty && !end {
			return nil
		}
		packed := b
		var err error
		if packed.records, err = e.pack(ctx, b.records); err == nil {
			err = e.send(ctx, packed)
		}
		if err == nil {
			e.stored(b)
			return nil
		}
		if broker.Outdated(err) {
			done, err := e.resolve(ctx, end)
			if err != nil || done {
				return err
			}
			continue
		}
		if !broker.Transient(err) || ctx.Err() != nil || e.alive() != nil || !broker.Sleep(ctx, pause) {
			return err
		}
		pause = min(2*pause, 500*time.Millisecond)
	}
}

func (e *Lease) bundle(end bool) (b bundle, empty bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := len(e.waiting)
	b = bundle{owner: e.owner, attempt: e.Attempt, first: e.next - uint64(n), end: end, records: e.waiting[:n:n]}
	return b, n == 0
}

func (e *Lease) send(ctx context.Context, b bundle) error {
	body, err := e.log.conn.Pack(ctx, b.encode())
	if err != nil {
		return err
	}
	once, done := context.WithTimeout(ctx, 2*time.Second)
	defer done()
	ack, err := e.log.conn.JS.Publish(once, e.log.conn.Subject("run", e.token, "ev"), body,
		jetstream.WithExpectLastSequencePerSubject(e.last))
	if err == nil {
		e.last = ack.Sequence
	}
	return err
}

// stored removes the records of a message from the waiting ones.
func (e *Lease) stored(b bundle) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(e.waiting) > 0 && e.waiting[0].Seq < b.next() {
		e.size -= len(e.waiting[0].Kind) + len(e.waiting[0].Data)
		e.waiting = e.waiting[1:]
	}
	if len(e.waiting) == 0 {
		e.waiting = nil
	}
	e.collected.stored(b.next(), e.last)
}

// resolve determines why the stream has a newer message than this lease: because an acknowledgement
// was lost, or because the run was.
func (e *Lease) resolve(ctx context.Context, end bool) (done bool, err error) {
	b, seq, err := e.log.lastBundle(ctx, e.Run.ID)
	if err != nil {
		return false, err
	}
	if b.owner != e.owner {
		e.leave(ErrFenced)
		return false, ErrFenced
	}
	e.last = seq
	e.stored(b)
	return b.end == end && b.next() == e.nextNumber(), nil
}

func (e *Lease) nextNumber() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.next
}

// alive returns the reason why nothing more may be written.
func (e *Lease) alive() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over == nil {
		return nil
	}
	return fmt.Errorf("run %q: %w", e.Run.ID, e.over)
}

// Snapshot stores the run's whole state as of a place that [Lease.Append] has
// returned, over the previous snapshot. A host that takes the run over reads it
// and the records after that place, and none before.
//
// Errors: as Append.
func (e *Lease) Snapshot(ctx context.Context, at Pos, state []byte) error {
	e.writing.Lock()
	defer e.writing.Unlock()
	s := snapshot{upTo: at, state: state}
	body, err := e.log.conn.Pack(ctx, s.encode())
	if err != nil {
		return broker.Fail(err, "snapshot of run %q", e.Run.ID)
	}
	_, err = broker.Retry(ctx, func(ctx context.Context) (any, error) { return nil, e.sendSnapshot(ctx, body) })
	if broker.Outdated(err) {
		e.leave(ErrFenced)
		err = ErrFenced
	}
	return broker.Fail(err, "snapshot of run %q", e.Run.ID)
}

// Last declares that no record follows the stored ones: readers on this host have the whole run
// now, and need not wait for the mark of [Lease.End].
func (e *Lease) Last() { e.tail.add(nil, true) }

// End stores the last records and the mark that the run has ended, and releases the lease.
//
// Errors: as Append; the lease is then still held, and End may be repeated
// without records.
func (e *Lease) End(ctx context.Context, records ...Record) error {
	if _, err := e.append(ctx, true, records); err != nil {
		return err
	}
	canceled := context.Cause(e.ctx) == ErrCanceled
	e.leave(ErrEnded)
	e.log.forgetLater(e.token)
	if canceled {
		e.log.dropCancels(ctx, e.Run)
	}
	return nil
}

// leave ends the lease and removes its note.
func (e *Lease) leave(why error) {
	if e.retire(why) {
		e.dropNote(why == ErrEnded)
	}
}

// retire ends the lease once: context, timer, readers. It reports whether it did.
func (e *Lease) retire(why error) bool {
	e.mu.Lock()
	first := e.over == nil
	if first {
		e.over = why
	}
	if e.timer != nil {
		e.timer.Stop()
		e.timer = nil
	}
	if e.noting != nil {
		e.noting.Stop()
	}
	e.mu.Unlock()
	e.cancel(why)
	if first {
		e.log.leases.remove(e)
		e.tail.close()
	}
	return first
}
