package model

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	openai "github.com/sashabaranov/go-openai"

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
	c := &countedBody{ReadCloser: res.Body, request: body, hide: hide, charge: func(input, output int64) {
		t.charge(m, body.Get("model").Str(), KindChat, input, output)
	}}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		c.lines = bufio.NewReader(res.Body)
	}
	res.Body = c
	return res, nil
}

// requestUsage asks for the usage report of a stream. hide is true if the client did not request
// it.
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
	charge  func(input, output int64) // called once
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
	var v chunk
	if json.Unmarshal(data, &v) != nil {
		return false // [DONE] or an unknown format
	}
	if v.Usage != nil {
		c.bill.report(v.Usage.PromptTokens, v.Usage.CompletionTokens)
	}
	for _, choice := range v.Choices {
		d := choice.Delta
		for _, text := range []string{d.Content, d.ReasoningContent, d.Reasoning, d.Refusal} {
			c.bill.addText(text)
		}
		for _, call := range d.ToolCalls {
			c.bill.addText(call.Function.Name + call.Function.Arguments)
		}
	}
	return len(v.Choices) == 0 && v.Usage != nil
}

// Close charges the tokens of the response as far as it was read.
func (c *countedBody) Close() error {
	if !c.closed {
		c.closed = true
		if c.lines == nil {
			c.readWhole()
		}
		c.charge(c.bill.split(func() int64 { return requestTokens(c.request) }))
	}
	return c.ReadCloser.Close()
}

func (c *countedBody) readWhole() {
	var v openai.ChatCompletionResponse
	if json.Unmarshal(c.whole.Bytes(), &v) != nil {
		c.bill.addText(c.whole.String()) // truncated JSON
		return
	}
	c.bill.report(v.Usage.PromptTokens, v.Usage.CompletionTokens)
	for _, choice := range v.Choices {
		m := choice.Message
		c.bill.addText(m.ReasoningContent)
		c.bill.addText(m.Content)
		for _, call := range m.ToolCalls {
			c.bill.addText(call.Function.Name + call.Function.Arguments)
		}
	}
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
