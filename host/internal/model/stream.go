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

// chunk is one line of a stream. It is read by hand because servers disagree about the name of
// reasoning text.
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

// stream reads an answer piece by piece.
func (a *answering) stream(ctx context.Context, client *openai.Client, body openai.ChatCompletionRequest) error {
	body.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	stream, err := client.CreateChatCompletionStream(ctx, body)
	if err != nil {
		return err
	}
	defer stream.Close()
	for {
		line, err := stream.RecvRaw()
		a.heard()
		if errors.Is(err, io.EOF) {
			return a.closed()
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

// closed is the end of the stream: without a reason to finish and without the closing mark it broke
// off.
func (a *answering) closed() error {
	if a.finish == "" && !a.exchange.body.done() {
		return ErrBroken
	}
	return nil
}

// broken tells a connection that broke from one that was ended on purpose or is none.
func broken(ctx context.Context, err error) error {
	var api *openai.APIError
	switch {
	case ctx.Err() != nil, errors.As(err, &api), errors.Is(err, ErrTooLarge):
		return err
	case errors.Is(err, openai.ErrTooManyEmptyStreamMessages):
		return fmt.Errorf("the answer is no stream of server-sent events; is the base_url right?")
	}
	return fmt.Errorf("%w: %w", ErrBroken, err)
}

// notJSON explains an answer that cannot be read.
func notJSON(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Errorf("%w: %w", ErrBroken, err)
	case errors.As(err, &syntax), errors.As(err, &kind):
		return fmt.Errorf("the answer is no chat completion; is the base_url right? %w", err)
	}
	return err
}

func (a *answering) take(c *chunk) error {
	for _, choice := range c.Choices[:min(1, len(c.Choices))] {
		d := choice.Delta
		if d.ReasoningContent == "" {
			d.ReasoningContent = d.Reasoning
		}
		if err := a.think(d.ReasoningContent); err != nil {
			return err
		}
		if err := a.say(d.Content + d.Refusal); err != nil {
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

// call collects a function call, which comes whole or in parts. A part belongs to the call at its
// index; a server that gives no index starts a call with each new id.
func (a *answering) call(c openai.ToolCall) {
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
	if a.calls[i].Name == "" { // some servers repeat the name with every part
		a.calls[i].Name = c.Function.Name
	}
	a.calls[i].Arguments += c.Function.Arguments
}
