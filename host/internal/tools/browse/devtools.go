package browse

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// errClosed means that the browser ended.
var errClosed = errors.New("browser ended")

// devtools is a client of the Chrome DevTools Protocol over a pair of pipes: JSON messages, each
// with a zero byte behind it.
type devtools struct {
	mu      sync.Mutex
	out     io.Writer
	last    int
	pending map[int]chan<- reply
	events  map[string]chan<- json.RawMessage // by method; a full channel loses events
	closed  chan struct{}
}

type message struct {
	ID      int             `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

type reply struct {
	result json.RawMessage
	err    error
}

// largestMessage bounds a message of the browser, such as a page or a picture in base64.
const largestMessage = 64 << 20

func newDevtools(in io.Reader, out io.Writer) *devtools {
	d := &devtools{
		out: out, pending: map[int]chan<- reply{}, events: map[string]chan<- json.RawMessage{},
		closed: make(chan struct{}),
	}
	go d.read(in)
	return d
}

// read takes messages until the pipe ends.
func (d *devtools) read(in io.Reader) {
	defer close(d.closed)
	from := bufio.NewScanner(in)
	from.Buffer(make([]byte, 0, 64<<10), largestMessage)
	from.Split(untilZero)
	for from.Scan() {
		var m struct {
			message
			Params json.RawMessage `json:"params"`
		}
		if json.Unmarshal(from.Bytes(), &m) != nil {
			return // not a browser
		}
		d.deliver(&m.message, m.Params)
	}
}

// untilZero splits at zero bytes.
func untilZero(data []byte, atEnd bool) (advance int, token []byte, err error) {
	for i, b := range data {
		if b == 0 {
			return i + 1, data[:i], nil
		}
	}
	if atEnd {
		return len(data), nil, nil
	}
	return 0, nil, nil
}

func (d *devtools) deliver(m *message, params json.RawMessage) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if m.Method != "" {
		select {
		case d.events[m.Method] <- params:
		default: // not awaited; a nil channel is never ready
		}
		return
	}
	to := d.pending[m.ID]
	delete(d.pending, m.ID)
	if to == nil {
		return
	}
	r := reply{result: m.Result}
	if m.Error != nil {
		r.err = errors.New(m.Error.Message)
	}
	to <- r // it has room for one
}

// on returns a channel with the params of the next events of a method.
func (d *devtools) on(method string) <-chan json.RawMessage {
	c := make(chan json.RawMessage, 1)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.events[method] = c
	return c
}

// call runs a method, and reads its result into result unless that is nil.
func (d *devtools) call(ctx context.Context, session, method string, params, result any) error {
	answer := make(chan reply, 1)
	d.mu.Lock()
	d.last++
	id := d.last
	d.pending[id] = answer
	text, err := json.Marshal(message{ID: id, Method: method, Session: session, Params: params})
	if err == nil {
		_, err = d.out.Write(append(text, 0))
	}
	d.mu.Unlock()
	if err != nil {
		return fmt.Errorf("browser: %s: %w", method, err)
	}
	select {
	case r := <-answer:
		if r.err != nil {
			return fmt.Errorf("browser: %s: %w", method, r.err)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(r.result, result)
	case <-d.closed:
		return whyEndedOrNil(ctx, fmt.Errorf("browser: %s: %w", method, errClosed))
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
