package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/model"
	"github.com/easel-canvas/easel/host/internal/quota"
)

// Models of the host for pages: a preview in a browser asks here, so that keys
// stay on the host. What is asked and answered has OpenAI's form.
var llmRoutes = []route{
	{method: "POST", path: "/api/llm/chat/completions", body: bodyCanvas, scope: scopeRun, llm: true, answer: (*API).llmChat},
	{method: "GET", path: "/api/llm/models", body: bodyNone, scope: scopeRead, llm: true, answer: (*API).llmModels},
}

func (a *API) llmModels(c *call) error {
	list, err := a.cfg.Models.List(c.ctx(), c.who.tenant)
	if err != nil {
		return err
	}
	rows := []engine.Value{}
	for _, m := range list {
		if m.Name != "" {
			rows = append(rows, engine.Object("id", m.Name+"@"+m.Provider, "object", "model", "created", 0, "owned_by", m.Provider))
		}
	}
	if len(list) == 0 {
		rows = append(rows, engine.Object("id", "offline", "object", "model", "created", 0, "owned_by", "easel"))
	}
	return c.send(http.StatusOK, engine.Object("object", "list", "data", engine.List(rows...)))
}

// llmChat passes a chat completion on to the provider that its model names,
// under the host's key. Without a provider the offline model answers.
func (a *API) llmChat(c *call) error {
	messages := c.list("messages")
	c.text("model")
	stream, usage := c.flag("stream", false), c.includeUsage()
	if err := c.valid(); err != nil {
		return err
	}
	if messages.Len() == 0 {
		return refused(codeArgument, "messages is needed: a list with one message at least")
	}
	t := a.cfg.Models.Of(c.who.tenant, c.who.rateID)
	m, err := t.Models(c.ctx())
	if err != nil {
		return err
	}
	if !m.Configured() {
		return c.answerOffline(m, messages, stream, usage)
	}
	res, err := t.Forward(c.ctx(), c.body)
	c.free()
	if err != nil {
		return llmFailure(err)
	}
	defer res.Body.Close()
	return c.pass(res)
}

// llmFailure says with a status why a model did not answer.
func llmFailure(err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return err // the client has gone
	case errors.Is(err, quota.ErrUsedUp):
		return usedUp(err)
	case errors.Is(err, model.ErrUnknownModel):
		return &status{http.StatusNotFound, "model_not_found", err.Error()}
	case errors.Is(err, model.ErrSilent):
		return &status{http.StatusGatewayTimeout, "provider_timeout", err.Error()}
	}
	return &status{http.StatusBadGateway, "provider_unreachable", err.Error()}
}

// pass copies a provider's answer, each piece at once.
func (c *call) pass(res *http.Response) error {
	h := c.w.Header()
	kind := res.Header.Get("Content-Type")
	if strings.HasPrefix(kind, "text/event-stream") {
		kind = "text/event-stream; charset=utf-8"
		h.Set("Cache-Control", "no-cache")
		h.Set("X-Accel-Buffering", "no")
	} else if !strings.HasPrefix(kind, "application/json") {
		kind = "text/plain; charset=utf-8" // a page of a gateway is not shown as one of ours
	}
	h.Set("Content-Type", kind)
	h.Set("X-Content-Type-Options", "nosniff")
	if after := res.Header.Get("Retry-After"); after != "" {
		h.Set("Retry-After", after)
	}
	c.begun = true
	c.w.WriteHeader(res.StatusCode)
	flush := http.NewResponseController(c.w)
	buf := make([]byte, 16<<10)
	for {
		n, err := res.Body.Read(buf)
		if n > 0 {
			if _, werr := c.w.Write(buf[:n]); werr != nil {
				return nil // the client has gone
			}
			if werr := flush.Flush(); werr != nil {
				return nil
			}
		}
		if err == nil {
			continue
		}
		if err != io.EOF && c.ctx().Err() == nil && strings.HasPrefix(kind, "text/event-stream") {
			// Errors after the first byte are sent inside the stream, as providers do.
			s := &sse{w: c.w, flush: flush, head: "data: "}
			s.value(openAIError("provider_error", err.Error(), ""))
		}
		return nil
	}
}

// answerOffline answers in OpenAI's form without a provider.
func (c *call) answerOffline(m *model.Models, messages engine.Value, stream, usage bool) error {
	req := &engine.ModelRequest{Stream: stream}
	var system strings.Builder
	for _, v := range messages.Elements() {
		role, text := v.Get("role").Str(), contentText(v.Get("content"))
		switch role {
		case "system", "developer":
			system.WriteString(text)
		case "user", "assistant", "tool":
			req.Messages = append(req.Messages, engine.ModelMessage{Role: role, Content: text})
			if role == "user" {
				req.Query = text
			}
		}
	}
	req.System = system.String()
	var asked strings.Builder
	asked.WriteString(req.System)
	for _, m := range req.Messages {
		asked.WriteString(m.Content)
	}
	answer := newCompletion("chatcmpl-"+engine.RandomIDs{}.NewID(), "offline", engine.Tokens(asked.String()), usage)
	var s *sse
	for piece, err := range m.Generate(c.ctx(), req) {
		if err != nil {
			return err
		}
		chunk := answer.chunk(piece.Text, engine.Null)
		if stream && piece.Text != "" {
			if s == nil {
				s = c.beginStream(true)
			}
			s.value(chunk)
		}
	}
	if !stream {
		return c.send(http.StatusOK, answer.whole(answer.said.String(), engine.Null))
	}
	if s == nil {
		s = c.beginStream(true)
	}
	for _, chunk := range answer.closing() {
		s.value(chunk)
	}
	s.text("[DONE]")
	return nil
}
