package runlog

import (
	"context"
	"errors"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/nats-io/nats.go/jetstream"
)

// Place is the position at which a reader continues.
type Place struct {
	From    Pos    // argument of [Log.Follow]
	Seen    uint64 // number of the last record that the reader has and that counts
	Attempt uint64 // owner of the first records; later owners announce themselves with a record
}

// Place returns the position at which a reader continues that has read a run up to pos. attempt is
// the owner of the last record if it was not stored yet, and 0 if it was. If that host died with
// it, the records of the next one take its number, and everything from there on is read again.
//
// It reads the newest message of the run and, if that is not enough, a number
// of messages that grows with the logarithm of the log's length. In a cluster
// any replica may answer; missing messages reach the reader as records.
func (s *records) Place(ctx context.Context, run string, seen Pos, attempt uint64) (Place, error) {
	p := Place{From: seen, Seen: seen.Seq, Attempt: 1}
	at, last, err := s.newest(ctx, run)
	if err != nil {
		return p, broker.Fail(err, "place in run %q", run)
	}
	b, found := last, at // the message that reading begins with
	if attempt > 0 && last.attempt > attempt {
		found, b, err = s.firstThat(ctx, run, at, func(b *bundle) bool { return b.attempt > attempt })
		if err != nil {
			return p, broker.Fail(err, "place in run %q", run)
		}
		if found > 0 && b.first <= seen.Seq {
			return Place{From: Pos{Seq: b.first - 1, At: found}, Seen: b.first - 1, Attempt: b.attempt}, nil
		}
	}
	switch stored := last.next() - 1; {
	case stored <= seen.Seq:
		// Perhaps not all of it is stored: it is skipped when it arrives.
		b, found, p.From.Seq = last, at, stored
	case seen.At > 0:
		// With a wrong hint Follow only reads the whole run.
		found, b, err = s.next(ctx, run, seen.At)
	default:
		found, b, err = s.firstThat(ctx, run, at, func(b *bundle) bool { return b.next() > seen.Seq })
	}
	if found > 0 {
		p.From.At, p.Attempt = found, b.attempt
	}
	return p, broker.Fail(err, "place in run %q", run)
}

// newest returns the newest bundle of a run on the server that answers, and its sequence; 0 without
// bundles.
func (s *records) newest(ctx context.Context, run string) (at uint64, b bundle, err error) {
	m, err := broker.Retry(ctx, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
		return s.stream.GetLastMsgForSubject(ctx, s.conn.Subject("run", broker.Token(run), "ev"))
	})
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return 0, bundle{first: 1}, nil
	}
	if err != nil {
		return 0, b, err
	}
	data, err := s.conn.Unpack(ctx, m.Data)
	if err != nil {
		return 0, b, err
	}
	b, err = decodeBundle(data, m.Sequence)
	return m.Sequence, b, err
}

// next returns the first bundle of a run with sequence from or later; 0 when there is
// none.
func (s *records) next(ctx context.Context, run string, from uint64) (at uint64, b bundle, err error) {
	m, err := s.conn.ReadNext(ctx, s.conn.Name("LOG"), s.conn.Subject("run", broker.Token(run), "ev"), from)
	if err != nil || m == nil {
		return 0, b, err
	}
	b, err = decodeBundle(m.Data, m.Seq)
	return m.Seq, b, err
}

// firstThat returns the first bundle of a run for which is returns true, as for all later ones, by
// binary search; 0 if no bundle up to the sequence until matches.
func (s *records) firstThat(ctx context.Context, run string, until uint64, is func(*bundle) bool) (at uint64,
	found bundle, err error,
) {
	for low, high := uint64(1), until; low <= high; {
		middle := low + (high-low)/2
		seq, b, err := s.next(ctx, run, middle)
		switch {
		case err != nil:
			return 0, found, err
		case seq == 0: // deleted during the search
			return 0, found, broker.ErrGone
		case is(&b):
			at, found, high = seq, b, middle-1
		default:
			low = seq + 1
		}
	}
	return at, found, nil
}

// lastBundle returns the newest stored bundle of a run and its sequence, from the stream's leader;
// the sequence is 0 without bundles.
func (s *records) lastBundle(ctx context.Context, run string) (bundle, uint64, error) {
	m, err := s.conn.Last(ctx, s.conn.Name("LOG"), s.conn.Subject("run", broker.Token(run), "ev"))
	if err != nil || m == nil {
		return bundle{first: 1}, 0, err
	}
	b, err := decodeBundle(m.Data, m.Seq)
	return b, m.Seq, err
}
