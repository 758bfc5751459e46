package runlog

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// snapshot is a run's state at one position.
type snapshot struct {
	upTo  Pos
	state []byte
}

func (s *snapshot) encode() []byte {
	out := make([]byte, 0, len(s.state)+24)
	out = append(out, bundleVersion)
	out = binary.AppendUvarint(out, s.upTo.Seq)
	out = binary.AppendUvarint(out, s.upTo.At)
	return append(out, s.state...)
}

func decodeSnapshot(data []byte) (snapshot, error) {
	d := decoder{data: data}
	version := d.byte()
	s := snapshot{upTo: Pos{d.number(), d.number()}}
	if !d.ok() || version != bundleVersion {
		return snapshot{}, fmt.Errorf("snapshot of %d bytes: %w", len(data), broker.ErrDamaged)
	}
	s.state = d.data
	return s, nil
}

// sendSnapshot replaces the snapshot, fenced by the run's records.
func (e *Lease) sendSnapshot(ctx context.Context, body []byte) error {
	once, done := context.WithTimeout(ctx, 2*time.Second)
	defer done()
	msg := nats.NewMsg(e.log.conn.Subject("run", e.token, "ck"))
	msg.Header.Set(jetstream.MsgRollup, jetstream.MsgRollupSubject)
	msg.Data = body
	_, err := e.log.conn.JS.PublishMsg(once, msg,
		jetstream.WithExpectLastSequenceForSubject(e.last, e.log.conn.Subject("run", e.token, "ev")))
	return err
}

// Checkpoint is the state from which a host continues.
type Checkpoint struct {
	Snapshot []byte   // the last one; nil before the first
	UpTo     Pos      // the position of the snapshot
	Records  []Record // the records stored after it, in order
}

// Checkpoint reads the last state of the run by its previous owner. The run is claimed, so no other
// host adds to it during the read.
//
// Errors: [broker.ErrGone] when records are missing.
func (e *Lease) Checkpoint(ctx context.Context) (Checkpoint, error) {
	e.writing.Lock()
	last := e.last
	e.writing.Unlock()
	c, err := e.log.checkpoint(ctx, e.Run.ID, last)
	return c, broker.Fail(err, "checkpoint of run %q", e.Run.ID)
}

// records reads and writes the stored data of runs.
type records struct {
	conn   *broker.Conn
	stream jetstream.Stream
	cache  blobCache
}

// Records reads the stored records of a run from its beginning, as far as the answering server has
// them.
//
// Errors: [broker.ErrGone] when the first records are no longer stored.
func (s *records) Records(ctx context.Context, run string) ([]Record, error) {
	records, err := s.readAfter(ctx, run, Pos{}, 0)
	return records, broker.Fail(err, "records of run %q", run)
}

// checkpoint reads at least up to the message with sequence until.
func (s *records) checkpoint(ctx context.Context, run string, until uint64) (Checkpoint, error) {
	var c Checkpoint
	// A replica may still have an older snapshot; more records follow it then.
	found, err := s.conn.Read(ctx, s.conn.Name("LOG"), s.conn.Subject("run", broker.Token(run), "ck"), 1)
	if err != nil {
		return c, err
	}
	if n := len(found); n > 0 {
		s, err := decodeSnapshot(found[n-1].Data)
		if err != nil {
			return c, err
		}
		c.Snapshot, c.UpTo = s.state, s.upTo
	}
	c.Records, err = s.readAfter(ctx, run, c.UpTo, until)
	return c, err
}

// records reads the records after a position, at least up to the message with sequence until.
func (s *records) readAfter(ctx context.Context, run string, after Pos, until uint64) (out []Record, err error) {
	at, next := after.At, after.Seq+1
	for {
		batch, err := s.conn.Read(ctx, s.conn.Name("LOG"), s.conn.Subject("run", broker.Token(run), "ev"), at+1)
		if err != nil {
			return out, err
		}
		for _, m := range batch {
			b, err := decodeBundle(m.Data, m.Seq)
			if err != nil {
				return out, err
			}
			if b.first > next {
				return out, fmt.Errorf("records %d to %d: %w", next, b.first-1, broker.ErrGone)
			}
			records, err := s.unpack(ctx, broker.Token(run), b.after(next-1))
			if err != nil {
				return out, err
			}
			out = append(out, records...)
			at, next = m.Seq, max(next, b.next())
		}
		if len(batch) == 0 && at >= until {
			return out, nil
		}
		if len(batch) == 0 && !broker.Sleep(ctx, 20*time.Millisecond) {
			return out, ctx.Err()
		}
	}
}

// after returns the bundle's records with a number above seq.
func (b *bundle) after(seq uint64) []Record {
	for i, r := range b.records {
		if r.Seq > seq {
			return b.records[i:]
		}
	}
	return nil
}

// Runs returns the runs of which a log has records, in no order.
func Runs(ctx context.Context, l *Log) ([]string, error) {
	s := l.records
	info, err := s.stream.Info(ctx, jetstream.WithSubjectFilter(s.conn.Subject("run", "*", "ev")))
	if err != nil {
		return nil, broker.Fail(err, "list the runs of the log")
	}
	var out []string
	for subject := range info.State.Subjects {
		parts := strings.Split(subject, ".")
		if run, ok := broker.Untoken(parts[len(parts)-2]); ok {
			out = append(out, run)
		}
	}
	return out, nil
}
