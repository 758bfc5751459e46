package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// message is one stored message.
type message struct {
	seq  uint64
	data []byte
}

// readMost bounds one answer of the server, so that a slow reader of a long
// run holds little memory.
const (
	readMost      = 64
	readMostBytes = 512 << 10
)

// readFrom reads messages of one subject with sequence from or later, at most
// readMost, oldest first. It makes no consumer. In a cluster any replica may
// answer, so the newest messages may still be missing.
func (l *Log) readFrom(ctx context.Context, stream, subject string, from uint64) ([]message, error) {
	return retry(ctx, func(ctx context.Context) ([]message, error) {
		return l.readOnce(ctx, stream, subject, max(from, 1), readMost)
	})
}

// readNext reads the first message of a subject with sequence from or later;
// nil when there is none.
func (l *Log) readNext(ctx context.Context, stream, subject string, from uint64) (*message, error) {
	list, err := retry(ctx, func(ctx context.Context) ([]message, error) {
		return l.readOnce(ctx, stream, subject, max(from, 1), 1)
	})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

func (l *Log) readOnce(ctx context.Context, stream, subject string, from uint64, most int) ([]message, error) {
	request, err := json.Marshal(map[string]any{
		"seq": from, "next_by_subj": subject, "batch": most, "max_bytes": readMostBytes,
	})
	if err != nil {
		return nil, err
	}
	inbox := l.nc.NewRespInbox()
	// A batch and its end; the library's own queue would take half a megabyte.
	answers := make(chan *nats.Msg, readMost+1)
	sub, err := l.nc.ChanSubscribe(inbox, answers)
	if err != nil {
		return nil, err
	}
	// An unsubscribe fails only on a connection that has forgotten it anyway.
	defer func() { _ = sub.Unsubscribe() }()
	if err := l.nc.PublishRequest("$JS.API.DIRECT.GET."+stream, inbox, request); err != nil {
		return nil, err
	}
	var out []message
	for {
		msg, err := nextAnswer(ctx, answers)
		if err != nil {
			return nil, err
		}
		if status := msg.Header.Get("Status"); status != "" {
			return out, directEnd(status, msg)
		}
		seq, err := strconv.ParseUint(msg.Header.Get(jetstream.SequenceHeader), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("message without a sequence: %w", ErrDamaged)
		}
		data, err := l.unspill(ctx, msg.Data)
		if err != nil {
			return nil, err
		}
		out = append(out, message{seq, data})
		if msg.Header.Get("Nats-Num-Pending") == "0" {
			// The end of the batch follows as a message of its own, but there is
			// nothing in it that is not known now.
			return out, nil
		}
	}
}

func nextAnswer(ctx context.Context, answers <-chan *nats.Msg) (*nats.Msg, error) {
	late := time.NewTimer(2 * time.Second)
	defer late.Stop()
	select {
	case msg := <-answers:
		return msg, nil
	case <-late.C:
		return nil, nats.ErrTimeout
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// directEnd reads the status that ends a batch: 204 all sent, 404 nothing.
func directEnd(status string, msg *nats.Msg) error {
	switch status {
	case "204", "404":
		return nil
	case "503":
		return nats.ErrNoResponders
	}
	return fmt.Errorf("direct get: %s %s", status, msg.Header.Get("Description"))
}

// last reads the newest message of a subject from the stream's leader, which
// alone knows it for certain; nil when there is none.
func (l *Log) last(ctx context.Context, stream, subject string) (*message, error) {
	return retry(ctx, func(ctx context.Context) (*message, error) {
		request, err := json.Marshal(map[string]string{"last_by_subj": subject})
		if err != nil {
			return nil, err
		}
		once, done := context.WithTimeout(ctx, 2*time.Second)
		defer done()
		reply, err := l.nc.RequestWithContext(once, "$JS.API.STREAM.MSG.GET."+stream, request)
		if err != nil {
			return nil, err
		}
		var answer struct {
			Error   *jetstream.APIError
			Message struct {
				Seq  uint64
				Data []byte
			}
		}
		if err := json.Unmarshal(reply.Data, &answer); err != nil {
			return nil, err
		}
		if answer.Error != nil && answer.Error.ErrorCode == codeNoMessage {
			return nil, nil
		} else if answer.Error != nil {
			return nil, answer.Error
		}
		data, err := l.unspill(ctx, answer.Message.Data)
		return &message{answer.Message.Seq, data}, err
	})
}

// lastBundle is the newest stored bundle of a run and its sequence; the
// sequence is 0 when there is none.
func (l *Log) lastBundle(ctx context.Context, run string) (bundle, uint64, error) {
	m, err := l.last(ctx, l.cfg.Prefix+"_LOG", l.subject("run", token(run), "ev"))
	if err != nil || m == nil {
		return bundle{first: 1}, 0, err
	}
	b, err := decodeBundle(m.data, m.seq)
	return b, m.seq, err
}
