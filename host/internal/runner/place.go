package runner

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go/jetstream"
)

// Place is where a reader goes on.
type Place struct {
	From    Pos    // what [Log.Follow] is given
	Seen    uint64 // number of the last record that the reader has and that counts
	Attempt uint64 // of the newest stored message: whose records come that are not stored yet
}

// Place finds where a reader goes on that has seen a run up to a place. attempt
// says whose record the last one was when it had not been stored yet, and is 0
// for one that was. If that host died with it, the records of the next one take
// its number, and everything from there on is read anew.
//
// It reads the newest message of the run and, when that does not tell, a number
// of messages that grows with the logarithm of the log's length. In a cluster
// any replica may answer; what one did not know yet comes to the reader as a
// record.
func (l *Log) Place(ctx context.Context, run string, seen Pos, attempt uint64) (Place, error) {
	p := Place{From: seen, Seen: seen.Seq, Attempt: 1}
	last, at, err := l.newest(ctx, run)
	if err != nil {
		return p, fail(err, "place in run %q", run)
	}
	if at > 0 {
		p.Attempt = last.attempt
	}
	if attempt > 0 && last.attempt > attempt {
		lost, at, err := l.firstThat(ctx, run, at, func(b *bundle) bool { return b.attempt > attempt })
		if err != nil || at > 0 && lost.first <= seen.Seq {
			p.From, p.Seen = Pos{Seq: lost.first - 1, At: at}, lost.first-1
			return p, fail(err, "place in run %q", run)
		}
	}
	switch stored := last.next() - 1; {
	case stored <= seen.Seq:
		// Not all of it is stored, perhaps: it is skipped when it comes.
		p.From = Pos{Seq: stored, At: at}
	case seen.At == 0:
		_, p.From.At, err = l.firstThat(ctx, run, at, func(b *bundle) bool { return b.next() > seen.Seq })
	}
	return p, fail(err, "place in run %q", run)
}

// newest is the newest bundle of a run that the server asked knows of, and its
// sequence; 0 when there is none.
func (l *Log) newest(ctx context.Context, run string) (bundle, uint64, error) {
	m, err := retry(ctx, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
		return l.log.GetLastMsgForSubject(ctx, l.subject("run", token(run), "ev"))
	})
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return bundle{first: 1}, 0, nil
	}
	if err != nil {
		return bundle{}, 0, err
	}
	data, err := l.unspill(ctx, m.Data)
	if err != nil {
		return bundle{}, 0, err
	}
	b, err := decodeBundle(data, m.Sequence)
	return b, m.Sequence, err
}

// firstThat is the first bundle of a run of which is says true, and of all later
// ones as well, found by halving; 0 when there is none up to the sequence until.
func (l *Log) firstThat(ctx context.Context, run string, until uint64, is func(*bundle) bool) (found bundle, at uint64, err error) {
	for low, high := uint64(1), until; low <= high; {
		middle := low + (high-low)/2
		m, err := l.readNext(ctx, l.cfg.Prefix+"_LOG", l.subject("run", token(run), "ev"), middle)
		if err != nil {
			return found, at, err
		}
		if m == nil { // forgotten meanwhile
			return found, at, ErrGone
		}
		b, err := decodeBundle(m.data, m.seq)
		if err != nil {
			return found, at, err
		}
		if is(&b) {
			found, at, high = b, m.seq, middle-1
		} else {
			low = m.seq + 1
		}
	}
	return found, at, nil
}
