package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	openai "github.com/sashabaranov/go-openai"

	"github.com/easel-canvas/easel/engine"
)

// chunk is one event of a stream. The client library does not decode it because servers use
// different names for the reasoning text.
type chunk struct {
	Choices []struct {
		Delta struct {
			Content          string            `json:"content"`
			ReasoningContent string            `json:"reasoning_content"`
			Reasoning        string            `json:"reasoning"`
			Refusal          string            `json:"refusal"`
			ToolCalls        []openai.ToolCall `json:"tool_calls"`
		} `json:"delta"`
		FinishReason openai.FinishReason `json:"finish_reason"`
	} `json:"choices"`
	Usage *openai.Usage `json:"usage"`
}

// stream reads a streamed response.
func (a *response) stream(ctx context.Context, client *openai.Client, body openai.ChatCompletionRequest) error {
	body.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	stream, err := client.CreateChatCompletionStream(ctx, body)
	if err != nil {
		return err
	}
	defer stream.Close()
	for {
		line, err := stream.RecvRaw()
		a.received()
		if errors.Is(err, io.EOF) {
			return a.endOfStream()
		}
		if err != nil {
			return broken(ctx, err)
		}
		var c chunk
		if err := json.Unmarshal(line, &c); err != nil {
			return notJSON(err)
		}
		if err := a.take(&c); err != nil {
			return err
		}
	}
}

// endOfStream returns [ErrBroken] if the stream ended without a finish reason and without [DONE].
func (a *response) endOfStream() error {
	if a.finish == "" && !a.exchange.body.done() {
		return ErrBroken
	}
	return nil
}

// broken marks connection failures as [ErrBroken], except for canceled calls and errors of the
// server.
func broken(ctx context.Context, err error) error {
	var api *openai.APIError
	switch {
	case ctx.Err() != nil, errors.As(err, &api), errors.Is(err, ErrTooLarge):
		return err
	case errors.Is(err, openai.ErrTooManyEmptyStreamMessages):
		return fmt.Errorf("the response is not a stream of server-sent events; check base_url")
	}
	return fmt.Errorf("%w: %w", ErrBroken, err)
}

// notJSON explains a response that cannot be decoded.
func notJSON(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Errorf("%w: %w", ErrBroken, err)
	case errors.As(err, &syntax), errors.As(err, &kind):
		return fmt.Errorf("the response is not a chat completion; check base_url: %w", err)
	}
	return err
}

func (a *response) take(c *chunk) error {
	for _, choice := range c.Choices[:min(1, len(c.Choices))] {
		d := choice.Delta
		if d.ReasoningContent == "" {
			d.ReasoningContent = d.Reasoning
		}
		if err := a.sendThinking(d.ReasoningContent); err != nil {
			return err
		}
		if err := a.sendText(d.Content + d.Refusal); err != nil {
			return err
		}
		for _, call := range d.ToolCalls {
			a.call(call)
		}
		if choice.FinishReason != "" {
			a.finish = choice.FinishReason
		}
	}
	a.usage(c.Usage)
	return nil
}

// call adds a tool call, which arrives whole or in parts. A part belongs to the call at its index;
// without an index every new id starts a call.
func (a *response) call(c openai.ToolCall) {
	i := len(a.calls) - 1
	switch {
	case c.Index != nil:
		i = *c.Index
	case i < 0 || c.ID != "" && c.ID != a.calls[i].ID:
		i = len(a.calls)
	}
	if i < 0 || i > len(a.calls) {
		i = len(a.calls)
	}
	if i == len(a.calls) {
		a.calls = append(a.calls, engine.ToolCall{ID: "call_" + strconv.Itoa(i)})
	}
	if c.ID != "" {
		a.calls[i].ID = c.ID
	}
	if a.calls[i].Name == "" { // some servers repeat the name in every part
		a.calls[i].Name = c.Function.Name
	}
	a.calls[i].Arguments += c.Function.Arguments
}
