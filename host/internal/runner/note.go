package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// putNote leaves this host's note of the run: the run as another host has to
// queue it when this one falls silent.
func (e *Lease) putNote(ctx context.Context) error {
	run := e.Run
	run.From = e.owner
	body, err := json.Marshal(run)
	if err != nil {
		return err
	}
	e.log.book.open(e)
	ack, err := retry(ctx, func(ctx context.Context) (*jetstream.PubAck, error) {
		packed, err := e.log.spill(ctx, body)
		if err != nil {
			return nil, err
		}
		return e.log.js.Publish(ctx, e.log.subject("own", e.log.host, e.token), packed)
	})
	if err != nil {
		return err
	}
	e.log.book.stored(e, ack.Sequence)
	return nil
}

// shortRun is how long a run may last without a note.
const shortRun = 100 * time.Millisecond

// noteLater leaves the note when the run turns out not to be a short one. It
// is for a run that its claimer has written down, on a server that nobody else
// can use: until the next start nobody would look at the note, and the claimer
// queues the run again then, as one that has lost a host.
func (e *Lease) noteLater() error {
	if err := e.log.room(0); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.noting = time.AfterFunc(shortRun, e.lateNote)
	return nil
}

// lateNote leaves the note unless the run has ended.
func (e *Lease) lateNote() {
	e.mu.Lock()
	over := e.over != nil
	if !over {
		e.log.book.open(e) // so that an end from here on takes it away
	}
	e.mu.Unlock()
	if over {
		return
	}
	if err := e.putNote(e.log.ctx); err != nil && e.log.ctx.Err() == nil {
		e.log.cfg.Log.Warn("run has no note", "run", e.Run.ID, "err", err)
	}
}

// dropNote removes this host's note of a run and does not wait for it: a note
// that stays is found to be of an ended run, or of another host's. That of an
// ended one may go with others.
func (e *Lease) dropNote(ended bool) {
	if !ended {
		e.log.deleteMessage("OWN", e.log.book.at(e))
		e.log.book.forget(e)
	} else if full := e.log.book.close(e); full {
		e.log.dropNotes(false)
	}
}

// dropNotes removes the notes that may go, all of them or most.
func (l *Log) dropNotes(all bool) {
	below, single := l.book.take(all)
	if below > 0 {
		l.ask("STREAM.PURGE", "OWN", fmt.Appendf(nil, `{"filter":%q,"seq":%d}`, l.subject("own", l.host, "*"), below))
	}
	for _, seq := range single {
		l.deleteMessage("OWN", seq)
	}
}

// deleteMessage sends the request to remove one message, without waiting.
func (l *Log) deleteMessage(stream string, seq uint64) {
	l.ask("STREAM.MSG.DELETE", stream, fmt.Appendf(nil, `{"seq":%d,"no_erase":true}`, seq))
}

// ask sends a request about notes to the server, without waiting.
func (l *Log) ask(what, stream string, request []byte) {
	// The server answers requests only; nobody listens to this answer.
	err := l.nc.PublishRequest("$JS.API."+what+"."+l.cfg.Prefix+"_"+stream, l.subject("void"), request)
	if err != nil {
		l.cfg.Log.Warn("note was not removed", "err", err)
	}
}

// noteBook knows where this host's notes are. To remove one costs more than to
// write it, and to remove all below a place costs no more than that, so the
// notes of ended runs wait for company.
type noteBook struct {
	mu   sync.Mutex
	last uint64           // the highest sequence of a note
	held map[*Lease]place // of notes that must stay
	gone []uint64         // sequences of notes that may go
	late int              // so many of gone, the first ones, were there at the last take
}

// place is the sequence of a note, or while it is sent the lowest it can get.
type place struct {
	seq    uint64
	stored bool
}

// mostGone is how many notes of ended runs wait. Whoever takes the runs of a
// dead host over asks for each of them in vain.
const mostGone = 256

// restart is called when the notes are gone, and the numbers of others begin anew.
func (b *noteBook) restart() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last, b.gone, b.late = 0, nil, 0
	for e := range b.held {
		b.held[e] = place{seq: 1}
	}
}

// open is called before a note is sent.
func (b *noteBook) open(e *Lease) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held == nil {
		b.held = map[*Lease]place{}
	}
	if _, again := b.held[e]; !again {
		b.held[e] = place{seq: b.last + 1}
	}
}

// stored is called when a note is stored, perhaps after its lease has ended.
func (b *noteBook) stored(e *Lease, seq uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = max(b.last, seq)
	if _, ok := b.held[e]; ok {
		b.held[e] = place{seq, true}
	} else {
		b.gone = append(b.gone, seq)
	}
}

// at is the sequence of a note, 0 when it is not stored.
func (b *noteBook) at(e *Lease) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if at := b.held[e]; at.stored {
		return at.seq
	}
	return 0
}

// close says that the note of a lease may go, and whether enough of them wait.
func (b *noteBook) close(e *Lease) (full bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if at := b.held[e]; at.stored {
		b.gone = append(b.gone, at.seq)
	}
	delete(b.held, e)
	return len(b.gone) >= mostGone
}

// forget strikes a note that is not there any more.
func (b *noteBook) forget(e *Lease) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.held, e)
}

// take gives what to remove: all notes below a sequence, where none must stay,
// and single ones above it. Those wait once before, unless all are asked for.
func (b *noteBook) take(all bool) (below uint64, single []uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	free := b.last + 1
	for _, at := range b.held {
		free = min(free, at.seq)
	}
	var wait []uint64
	for i, seq := range b.gone {
		switch {
		case seq < free:
			below = free
		case all || i < b.late:
			single = append(single, seq)
		default:
			wait = append(wait, seq)
		}
	}
	b.gone, b.late = wait, len(wait)
	return below, single
}
