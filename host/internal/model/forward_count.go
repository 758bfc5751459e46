package model

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// Forward is [Models.Forward] charged to the caller's account. It requests the usage report of a
// stream from the provider and removes it for clients that did not request it. Errors: also those
// of the [Account].
func (t *Tenant) Forward(ctx context.Context, body engine.Value) (*http.Response, error) {
	m, err := t.Models(ctx)
	if err != nil {
		return nil, err
	}
	if err := t.account.Allow(ctx); err != nil {
		return nil, err
	}
	withUsage, hide := requestUsage(body)
	res, err := m.Forward(ctx, withUsage)
	if err != nil || res.StatusCode >= http.StatusBadRequest {
		return res, err
	}
	c := &countedBody{ReadCloser: res.Body, request: body, hide: hide, charge: func(used Tokens) {
		t.charge(m, body.Get("model").Str(), KindChat, used)
	}}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		c.lines = bufio.NewReader(res.Body)
	}
	res.Body = c
	return res, nil
}

// requestUsage requests the usage report of a stream. hide is true if the client did not.
func requestUsage(body engine.Value) (withUsage engine.Value, hide bool) {
	if options := body.Get("stream_options"); body.Get("stream").True() && !options.Get("include_usage").True() {
		if options.Kind() != engine.KindObject {
			options = engine.Object()
		}
		return body.With("stream_options", options.With("include_usage", engine.Bool(true))), true
	}
	return body, false
}

// countedBody is a response body that adds up the tokens while the client reads. It belongs to one
// goroutine.
type countedBody struct {
	io.ReadCloser
	charge  func(Tokens) // called once
	request engine.Value
	hide    bool // hide the usage report
	bill    bill
	lines   *bufio.Reader // of a stream; nil without streaming
	event   []byte        // unread bytes of the current event
	whole   bytes.Buffer  // the body without streaming
	err     error         // returned after event
	closed  bool
}

func (c *countedBody) Read(p []byte) (int, error) {
	if c.lines == nil {
		n, err := c.ReadCloser.Read(p)
		c.whole.Write(p[:n])
		return n, err
	}
	for len(c.event) == 0 && c.err == nil {
		c.next()
	}
	n := copy(p, c.event)
	if c.event = c.event[n:]; len(c.event) > 0 {
		return n, nil
	}
	return n, c.err
}

// next reads one event of the stream, which ends with an empty line. An unterminated event at the
// end is passed on too.
func (c *countedBody) next() {
	hidden := false
	for c.err == nil {
		var line []byte
		line, c.err = c.lines.ReadBytes('\n')
		c.event = append(c.event, line...)
		text := bytes.TrimSpace(line)
		if len(text) == 0 {
			break
		}
		if data, ok := bytes.CutPrefix(text, []byte("data:")); ok && c.read(data) {
			hidden = c.hide
		}
	}
	if hidden {
		c.event = nil
	}
}

// read adds a chunk to the bill and reports whether it contains only usage.
func (c *countedBody) read(data []byte) bool {
	v, err := engine.ParseJSON(data)
	if err != nil {
		return false // [DONE] or an unknown format
	}
	c.add(v)
	return v.Get("choices").Len() == 0 && v.Get("usage").Kind() == engine.KindObject
}

// add adds the usage or the text of a chunk, or of a whole answer, to the bill.
func (c *countedBody) add(v engine.Value) {
	if used := chatUsage(v.Get("usage")); used != nil {
		c.bill.report(used)
	}
	for _, choice := range v.Get("choices").Elements() {
		m := choice.Get("delta")
		if m.IsNull() {
			m = choice.Get("message")
		}
		text, reasoning := contentOf(m.Get("content"))
		for _, part := range []string{text, reasoning, thoughtsOf(m), m.Get("refusal").Str()} {
			c.bill.addText(part)
		}
		for _, call := range m.Get("tool_calls").Elements() {
			f := call.Get("function")
			c.bill.addText(f.Get("name").Str() + argumentsOf(f.Get("arguments")))
		}
	}
}

// Close charges the tokens of the response as far as it was read.
func (c *countedBody) Close() error {
	if !c.closed {
		c.closed = true
		if c.lines == nil {
			c.readWhole()
		}
		c.charge(c.bill.tokens(func() int64 { return requestTokens(c.request) }))
	}
	return c.ReadCloser.Close()
}

func (c *countedBody) readWhole() {
	v, err := engine.ParseJSON(c.whole.Bytes())
	if err != nil {
		c.bill.addText(c.whole.String()) // truncated JSON
		return
	}
	c.add(v)
}

// requestTokens estimates the tokens of the text in a chat completion request.
func requestTokens(body engine.Value) (n int64) {
	for _, m := range body.Get("messages").Elements() {
		content := m.Get("content")
		n += int64(engine.Tokens(content.Str()))
		for _, part := range content.Elements() {
			n += int64(engine.Tokens(part.Get("text").Str()))
		}
	}
	return n
}
