package broker

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Message is one stored message with its unpacked body.
type Message struct {
	Seq  uint64 // in the stream
	Data []byte
}

// readMost bounds one answer of the server, so that a slow reader of a long run needs little
// memory.
const (
	readMost      = 64
	readMostBytes = 512 << 10
)

// Read reads messages of one subject with sequence from or later, at most
// readMost, oldest first. It makes no consumer. In a cluster any replica may
// answer, so the newest messages may still be missing.
func (c *Conn) Read(ctx context.Context, stream, subject string, from uint64) ([]Message, error) {
	return Retry(ctx, func(ctx context.Context) ([]Message, error) {
		return c.readOnce(ctx, stream, subject, max(from, 1), readMost)
	})
}

// ReadNext reads the first message of a subject with sequence from or later; nil without one.
func (c *Conn) ReadNext(ctx context.Context, stream, subject string, from uint64) (*Message, error) {
	list, err := Retry(ctx, func(ctx context.Context) ([]Message, error) {
		return c.readOnce(ctx, stream, subject, max(from, 1), 1)
	})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

func (c *Conn) readOnce(ctx context.Context, stream, subject string, from uint64, most int) ([]Message, error) {
	request, err := json.Marshal(map[string]any{
		"seq": from, "next_by_subj": subject, "batch": most, "max_bytes": readMostBytes,
	})
	if err != nil {
		return nil, err
	}
	inbox := c.NATS.NewRespInbox()
	// A batch and its end; the library's own queue would take half a megabyte.
	answers := make(chan *nats.Msg, readMost+1)
	sub, err := c.NATS.ChanSubscribe(inbox, answers)
	if err != nil {
		return nil, err
	}
	// An unsubscribe fails only on a connection that has forgotten it anyway.
	defer func() { _ = sub.Unsubscribe() }()
	if err := c.NATS.PublishRequest("$JS.API.DIRECT.GET."+stream, inbox, request); err != nil {
		return nil, err
	}
	var out []Message
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
		data, err := c.Unpack(ctx, msg.Data)
		if err != nil {
			return nil, err
		}
		out = append(out, Message{seq, data})
		if msg.Header.Get("Nats-Num-Pending") == "0" {
			// The end of the batch follows as a separate message without further information.
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

// Last reads the newest message of a subject from the stream's leader, since replicas may lag; nil
// without one.
func (c *Conn) Last(ctx context.Context, stream, subject string) (*Message, error) {
	m, err := c.LastStored(ctx, stream, subject)
	if m != nil {
		m.Data, err = c.Unpack(ctx, m.Data)
	}
	return m, err
}

// LastStored is Last without unpacking, for messages that this package did not pack.
func (c *Conn) LastStored(ctx context.Context, stream, subject string) (*Message, error) {
	return c.askLeader(ctx, stream, map[string]any{"last_by_subj": subject})
}

// NextStored reads the first message of a subject with sequence from or later from the stream's
// leader, without unpacking; nil without one.
func (c *Conn) NextStored(ctx context.Context, stream, subject string, from uint64) (*Message, error) {
	return c.askLeader(ctx, stream, map[string]any{"seq": max(from, 1), "next_by_subj": subject})
}

func (c *Conn) askLeader(ctx context.Context, stream string, request map[string]any) (*Message, error) {
	text, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	return Retry(ctx, func(ctx context.Context) (*Message, error) {
		once, done := context.WithTimeout(ctx, 2*time.Second)
		defer done()
		reply, err := c.NATS.RequestWithContext(once, "$JS.API.STREAM.MSG.GET."+stream, text)
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
		return &Message{answer.Message.Seq, answer.Message.Data}, nil
	})
}
