package openai

import (
	"net/http"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/model"
	"github.com/easel-canvas/easel/host/internal/quota"
)

// codeUsedUp reports that no model tokens are left for today, with the code of OpenAI's clients.
const codeUsedUp = "insufficient_quota"

// codeNotRelayed means that the API of a model has no place for a member of the request.
const codeNotRelayed = "model_not_relayed"

// completion is one answer in OpenAI's form, whole or in chunks.
type completion struct {
	id, model string
	created   int64
	asked     int  // tokens of the prompt
	usage     bool // the client wants a chunk with the tokens that were used
	said      strings.Builder
	calls     []engine.Value
	opaque    engine.Value
	used      *engine.Usage // as a model reported it
	cut       bool          // at the limit of its length
}

func newCompletion(id, name string, asked int, usage bool) *completion {
	return &completion{id: id, model: name, created: time.Now().Unix(), asked: asked, usage: usage}
}

// chunk is the next piece of the answer.
func (o *completion) chunk(content string, reference engine.Value) engine.Value {
	o.said.WriteString(content)
	delta := engine.Object("role", "assistant", "content", content)
	if !reference.IsNull() {
		delta = delta.With("reference", reference)
	}
	return o.choice(delta, engine.Null)
}

// add returns what a piece of a model adds to the message; empty if it adds nothing.
func (o *completion) add(piece engine.ModelPiece) engine.Value {
	b := engine.NewObject(3)
	if piece.Usage != nil {
		o.used = piece.Usage
	}
	o.cut = o.cut || piece.Cut
	if piece.Text != "" && !piece.Cut {
		o.said.WriteString(piece.Text)
		b.Set("content", engine.String(piece.Text))
	}
	var calls []engine.Value
	for _, c := range piece.ToolCalls {
		index := len(o.calls) + len(calls)
		calls = append(calls, engine.Object("index", index, "id", c.ID, "type", "function",
			"function", engine.Object("name", c.Name, "arguments", c.Arguments)))
	}
	if o.calls = append(o.calls, calls...); len(calls) > 0 {
		b.Set("tool_calls", engine.List(calls...))
	}
	if !piece.Opaque.IsNull() {
		o.opaque = piece.Opaque
		b.Set(model.OpaqueMember, piece.Opaque)
	}
	return b.Value()
}

// reason is the finish reason.
func (o *completion) reason() engine.Value {
	switch {
	case o.cut:
		return engine.String("length")
	case len(o.calls) > 0:
		return engine.String("tool_calls")
	}
	return engine.String("stop")
}

// last is the chunk that ends the text.
func (o *completion) last(content string) engine.Value {
	o.said.WriteString(content)
	return o.choice(engine.Object("role", "assistant", "content", content), o.reason())
}

// closing are the chunks after the text.
func (o *completion) closing() []engine.Value {
	chunks := []engine.Value{o.last("")}
	if o.usage {
		used := o.tokens(o.said.String())
		chunks = append(chunks, o.head("chat.completion.chunk").With("choices", engine.List()).With("usage", used))
	}
	return chunks
}

// close sends the chunks after the text, and [DONE].
func (o *completion) close(s *api.Stream) {
	for _, chunk := range o.closing() {
		s.Value(chunk)
	}
	s.Text("[DONE]")
}

func (o *completion) choice(delta, finish engine.Value) engine.Value {
	choice := engine.Object("delta", delta, "finish_reason", finish, "index", 0, "logprobs", engine.Null)
	chunk := o.head("chat.completion.chunk").With("choices", engine.List(choice))
	if o.usage {
		chunk = chunk.With("usage", engine.Null)
	}
	return chunk
}

// whole is the answer as one object.
func (o *completion) whole(text string, reference engine.Value) engine.Value {
	message := engine.Object("role", "assistant", "content", text)
	if !reference.IsNull() {
		message = message.With("reference", reference)
	}
	if len(o.calls) > 0 {
		message = message.With("tool_calls", engine.List(o.calls...))
	}
	if !o.opaque.IsNull() {
		message = message.With(model.OpaqueMember, o.opaque)
	}
	choice := engine.Object("message", message, "logprobs", engine.Null, "finish_reason", o.reason(), "index", 0)
	return o.head("chat.completion").With("param", engine.Null).With("usage", o.tokens(text)).
		With("choices", engine.List(choice))
}

func (o *completion) head(object string) engine.Value {
	return engine.Object("id", o.id, "object", object, "created", o.created, "model", o.model, "system_fingerprint", "")
}

func (o *completion) tokens(text string) engine.Value {
	in, out := o.asked, engine.Tokens(text)
	if o.used != nil {
		in, out = o.used.Prompt, o.used.Completion
	}
	details := engine.Object("reasoning_tokens", 0, "accepted_prediction_tokens", 0, "rejected_prediction_tokens", 0)
	return engine.Object("prompt_tokens", in, "completion_tokens", out, "total_tokens", in+out,
		"completion_tokens_details", details)
}

// runStatus is the error of a run that failed. Clients repeat requests that got 5xx, 408, 409 or
// 429 by themselves, and a run that failed must not act again unasked; one without tokens does
// nothing.
func runStatus(end app.End) *api.Status {
	if end.Code == app.CodeOf(quota.ErrUsedUp) {
		return &api.Status{HTTP: http.StatusTooManyRequests, Code: codeUsedUp, Message: end.Error}
	}
	code := end.Code
	if code == "" {
		code = engine.CodeRunFailed
	}
	return &api.Status{HTTP: http.StatusBadRequest, Code: code, Message: end.Error}
}

// fail answers an error in OpenAI's form.
func fail(r *api.Request, f *api.Failure, err error) {
	s := api.StatusFor(f, err)
	api.SetRetryAfter(r.Writer.Header(), f.After)
	_ = api.Sorted(s.HTTP, errorBody(s.Code, s.Message, f.Param)).Write(r) // never an error
}

// Problem returns a failure as the member error of an answer, with its HTTP status.
func Problem(f *api.Failure, err error) (status int, problem engine.Value) {
	s := api.StatusFor(f, err)
	status = s.HTTP
	if status == http.StatusUnprocessableEntity {
		status = http.StatusBadRequest // LangChain repeats requests with 422
	}
	return status, errorBody(s.Code, f.Message, f.Param).Get("error")
}

// errorBody is an error as OpenAI's clients read it.
func errorBody(code, message, param string) engine.Value {
	kind := "api_error"
	switch code {
	case "unauthorized":
		kind = "authentication_error"
	case app.CodeForbidden:
		kind = "permission_error"
	case codeUsedUp:
		kind = codeUsedUp
	case "rate_limited":
		kind = "rate_limit_error"
	case app.CodeBadArgument, "bad_request", "bad_encoding", "body_too_large", "body_timeout", "url_too_long",
		app.CodeNotFound, "model_not_found", codeNotRelayed, "not_published", "session_busy", app.CodeChanged, "gone",
		engine.CodeBadCanvas, engine.CodeUnknownComponent:
		kind = "invalid_request_error"
	}
	problem := engine.Object("message", message, "type", kind, "param", api.OrNull(param), "code", code)
	return engine.Object("error", problem)
}
