package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/model/loose"
)

// OpaqueMember is the member of an assistant's message with [engine.ModelPiece.Opaque]: clients
// return what a server attached to a message with calls.
const OpaqueMember = "easel_opaque"

// Relays reports whether a chat completion of a client can be sent unchanged to the provider that a
// model resolves to. Errors: [ErrUnknownModel].
func (m *Models) Relays(llmID string) (bool, error) {
	p, _, err := m.resolve(llmID, KindChat)
	return err == nil && p.config.API.relays(), err
}

// ReadCompletion reads a chat completion request as a model call. unread are the members that a
// model call has no place for, such as seed.
func ReadCompletion(body engine.Value) (req *engine.ModelRequest, unread []string, err error) {
	req = &engine.ModelRequest{
		LLM: body.Get("model").Text(), Stream: body.Get("stream").True(), Warned: func(string) {},
	}
	for name, v := range body.Fields() {
		if known := v.IsNull() || readMember(req, name, v); !known {
			unread = append(unread, name)
		}
	}
	if body.Get("tool_choice").Str() == "none" {
		req.Tools = nil
	}
	if len(req.Tools) == 0 && !req.Schema.IsNull() {
		req.Purpose = engine.PurposeStructured
	}
	for i, v := range body.Get("messages").Elements() {
		if err := readMessage(req, v); err != nil {
			return nil, nil, fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	return req, unread, nil
}

// readMember reads a member of a request except its messages; false means that it has no place.
func readMember(req *engine.ModelRequest, name string, v engine.Value) bool {
	c := &req.Config
	switch name {
	case "model", "messages", "stream", "stream_options":
	case "user", "metadata", "safety_identifier", "prompt_cache_key": // they do not change an answer
	case "temperature":
		return readNumber(v, &c.Temperature)
	case "top_p":
		return readNumber(v, &c.TopP)
	case "presence_penalty":
		return readNumber(v, &c.PresencePenalty)
	case "frequency_penalty":
		return readNumber(v, &c.FrequencyPenalty)
	case "max_tokens", "max_completion_tokens":
		n, ok := loose.Number(v)
		if most := int(n); ok {
			c.MaxTokens = &most
		}
		return ok
	case "stop":
		if c.Stop = nil; v.Kind() == engine.KindString {
			c.Stop = []string{v.Str()}
			return true
		}
		for _, s := range v.Elements() {
			c.Stop = append(c.Stop, s.Text())
		}
		return v.Kind() == engine.KindList
	case "reasoning_effort":
		c.Thinking = v.Text()
	case "tools":
		return readTools(req, v)
	case "tool_choice":
		return v.Str() == "auto" || v.Str() == "none"
	case "response_format":
		if v.Get("type").Str() == "json_schema" {
			req.Schema = v.Get("json_schema").Get("schema")
			return req.Schema.Get("properties").Len() > 0
		}
		return v.Get("type").Str() == "text"
	case "n":
		n, ok := loose.Number(v)
		return ok && n == 1
	case "logprobs", "store":
		return !v.Truthy()
	case "parallel_tool_calls":
		return v.True()
	default:
		return false
	}
	return true
}

func readNumber(v engine.Value, to **float64) bool {
	n, ok := v.Float()
	if ok {
		*to = &n
	}
	return ok
}

func readTools(req *engine.ModelRequest, v engine.Value) bool {
	for _, tool := range v.Elements() {
		f := tool.Get("function")
		if tool.Get("type").Str() != "function" || f.Get("name").Str() == "" {
			return false
		}
		req.Tools = append(req.Tools, engine.ToolDef{
			Name: f.Get("name").Str(), Description: f.Get("description").Str(), Parameters: f.Get("parameters"),
		})
	}
	return v.Kind() == engine.KindList
}

func readMessage(req *engine.ModelRequest, v engine.Value) error {
	content := v.Get("content")
	for _, part := range content.Elements() {
		if kind := part.Get("type").Str(); !slices.Contains([]string{"text", "image_url"}, kind) {
			return fmt.Errorf("a part of type %q is not supported; use text or image_url", kind)
		}
	}
	text, _ := contentOf(content)
	m := engine.ModelMessage{Role: v.Get("role").Str(), Content: text}
	if images := imagesOf(v); m.Role == "user" {
		m.Images = images
	} else if len(images) > 0 {
		return fmt.Errorf("a message of role %q may not have images", m.Role)
	}
	switch m.Role {
	case "system", "developer":
		req.System = strings.TrimPrefix(req.System+"\n\n"+text, "\n\n")
		return nil
	case "user":
		req.Query = text
	case "assistant":
		m.Opaque = v.Get(OpaqueMember)
		for _, call := range v.Get("tool_calls").Elements() {
			f := call.Get("function")
			m.ToolCalls = append(m.ToolCalls, engine.ToolCall{
				ID: call.Get("id").Text(), Name: f.Get("name").Str(), Arguments: argumentsOf(f.Get("arguments")),
			})
		}
	case "tool":
		m.ToolID = v.Get("tool_call_id").Text()
	default:
		return fmt.Errorf("role %q is not known; use system, user, assistant or tool", m.Role)
	}
	req.Messages = append(req.Messages, m)
	return nil
}

// imagesOf returns the addresses of the images of a message.
func imagesOf(message engine.Value) (urls []string) {
	for _, part := range message.Get("content").Elements() {
		image := part.Get("image_url")
		if url := image.Get("url").Str() + image.Str(); part.Get("type").Str() == "image_url" && url != "" {
			urls = append(urls, url)
		}
	}
	return urls
}
