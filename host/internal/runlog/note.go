package runlog

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
)

// notes are messages that name the owner of a run, so that other hosts can take its runs over.
type notes struct {
	conn   *broker.Conn
	host   string // this one
	stream jetstream.Stream
	book   noteBook
	log    *slog.Logger
}

func (n *notes) subject(host, runToken string) string { return n.conn.Subject("own", host, runToken) }

// parse returns the host and the run of a note's subject.
func (n *notes) parse(subject string) (host, run string) {
	host, run, _ = strings.Cut(strings.TrimPrefix(subject, n.conn.Subject("own", "")), ".")
	run, _ = broker.Untoken(run)
	return host, run
}

// subjects lists the notes of a host, or of all hosts for "*".
func (n *notes) subjects(ctx context.Context, host string) (map[string]uint64, error) {
	info, err := broker.Retry(ctx, func(ctx context.Context) (*jetstream.StreamInfo, error) {
		return n.stream.Info(ctx, jetstream.WithSubjectFilter(n.subject(host, "*")))
	})
	if err != nil {
		return nil, err
	}
	return info.State.Subjects, nil
}

// drop removes the notes that may go, all of them or most.
func (n *notes) drop(all bool) {
	below, single := n.book.take(all)
	if below > 0 {
		n.send("STREAM.PURGE", fmt.Appendf(nil, `{"filter":%q,"seq":%d}`, n.subject(n.host, "*"), below))
	}
	for _, seq := range single {
		n.delete(seq)
	}
}

// delete removes one note, without waiting.
func (n *notes) delete(seq uint64) {
	n.send("STREAM.MSG.DELETE", fmt.Appendf(nil, `{"seq":%d,"no_erase":true}`, seq))
}

// send sends a request to the server without waiting for the answer. The server
// ignores messages without a reply subject, so it gets one without a subscriber.
func (n *notes) send(what string, request []byte) {
	err := n.conn.NATS.PublishRequest("$JS.API."+what+"."+n.conn.Name("OWN"), n.conn.Subject("void"), request)
	if err != nil {
		n.log.Warn("note was not removed", "err", err)
	}
}

// putNote writes this host's note of the run: the run in the form in which another host queues it
// if this one falls silent.
func (e *Lease) putNote(ctx context.Context) error {
	run := e.Run
	run.From = e.owner
	body, err := json.Marshal(run)
	if err != nil {
		return err
	}
	notes := e.log.notes
	notes.book.open(e)
	ack, err := broker.Retry(ctx, func(ctx context.Context) (*jetstream.PubAck, error) {
		packed, err := notes.conn.Pack(ctx, body)
		if err != nil {
			return nil, err
		}
		return notes.conn.JS.Publish(ctx, notes.subject(notes.host, e.token), packed)
	})
	if err != nil {
		return err
	}
	notes.book.stored(e, ack.Sequence)
	return nil
}

// shortRun is the time that a run may last without a note.
const shortRun = 100 * time.Millisecond

// noteLater writes the note when the run turns out not to be a short one. It is
// for a run that its claimer has stored, on a server that no other host can
// use: until the next start no host would read the note, and the claimer queues the run again then,
// counting a lost host.
func (e *Lease) noteLater() error {
	if err := e.log.conn.Room(0); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.noting = time.AfterFunc(shortRun, e.lateNote)
	return nil
}

// lateNote writes the note unless the run has ended.
func (e *Lease) lateNote() {
	e.mu.Lock()
	over := e.over != nil
	if !over {
		e.log.notes.book.open(e) // so that an end from here on removes it
	}
	e.mu.Unlock()
	if over {
		return
	}
	if err := e.putNote(e.log.ctx); err != nil && e.log.ctx.Err() == nil {
		e.log.cfg.Log.Warn("run has no note", "run", e.Run.ID, "err", err)
	}
}

// dropNote removes this host's note of a run without waiting: a remaining note is recognised as one
// of an ended run, or of another host's. The note of an ended run may be removed in a batch.
func (e *Lease) dropNote(ended bool) {
	notes := e.log.notes
	if !ended {
		notes.delete(notes.book.at(e))
		notes.book.forget(e)
	} else if full := notes.book.close(e); full {
		notes.drop(false)
	}
}

// noteBook holds the sequences of this host's notes. Removing one costs more than writing it, and
// removing all below a sequence costs no more than that, so removals of notes of ended runs are
// batched.
type noteBook struct {
	mu   sync.Mutex
	last uint64             // the highest sequence of a note
	live map[*Lease]noteSeq // of notes that must stay
	gone []uint64           // sequences of notes that may go
	late int                // number of entries of gone at the last take
}

// noteSeq is the sequence of a note, or while it is sent the lowest it can get.
type noteSeq struct {
	seq    uint64
	stored bool
}

// mostGone bounds the notes of ended runs that wait. A host that takes over the runs of a dead one
// has to look each of them up.
const mostGone = 256

// restart is called when the stream was recreated and its sequences start at 1.
func (b *noteBook) restart() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last, b.gone, b.late = 0, nil, 0
	for e := range b.live {
		b.live[e] = noteSeq{seq: 1}
	}
}

// open is called before a note is sent.
func (b *noteBook) open(e *Lease) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.live == nil {
		b.live = map[*Lease]noteSeq{}
	}
	if _, again := b.live[e]; !again {
		b.live[e] = noteSeq{seq: b.last + 1}
	}
}

// stored is called when a note is stored, perhaps after its lease has ended.
func (b *noteBook) stored(e *Lease, seq uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = max(b.last, seq)
	if _, ok := b.live[e]; ok {
		b.live[e] = noteSeq{seq, true}
	} else {
		b.gone = append(b.gone, seq)
	}
}

// at returns the sequence of a note, 0 when it is not stored.
func (b *noteBook) at(e *Lease) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if at := b.live[e]; at.stored {
		return at.seq
	}
	return 0
}

// close marks the note of a lease as removable, and reports whether enough wait.
func (b *noteBook) close(e *Lease) (full bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if at := b.live[e]; at.stored {
		b.gone = append(b.gone, at.seq)
	}
	delete(b.live, e)
	return len(b.gone) >= mostGone
}

// forget removes a note that no longer exists.
func (b *noteBook) forget(e *Lease) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.live, e)
}

// take returns what to remove: all notes below a sequence, where none must stay,
// and single ones above it. Those wait for the next take first, unless all are asked for.
func (b *noteBook) take(all bool) (below uint64, single []uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	free := b.last + 1
	for _, at := range b.live {
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
