package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/easel-canvas/easel/engine"
)

// Services answer what a plugin asks of the host in one call. A nil field is an
// operation this host does not offer.
type Services struct {
	Chat      Chatter
	Embed     Embedder
	KV        KV
	Variables Variables
	Secrets   Secrets
}

// ChatMessage is one message of a conversation.
type ChatMessage struct {
	Role    string `json:"role"` // system, user or assistant
	Content string `json:"content"`
}

// ChatRequest asks a model. Model is an alias the host resolves; empty is its default.
type ChatRequest struct {
	Model       string        `json:"model,omitempty"`
	Messages    []ChatMessage `json:"messages"`
	Temperature *float64      `json:"temperature,omitempty"`
	MaxTokens   int           `json:"max_tokens,omitempty"`
	Stream      bool          `json:"stream,omitempty"`
}

// ChatAnswer is what a model said.
type ChatAnswer struct {
	Text  string `json:"text"`
	Usage Usage  `json:"usage"`
}

// Usage counts tokens.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
}

// Chatter asks a chat model. With req.Stream it passes each piece to delta, which
// may be nil otherwise, and stops when delta gives an error.
type Chatter interface {
	Chat(ctx context.Context, req ChatRequest, delta func(string) error) (ChatAnswer, error)
}

// Embedder turns texts into vectors, one per text.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// KV stores text for a plugin. Its creator decides the scope: usually one
// plugin of one tenant.
type KV interface {
	Get(ctx context.Context, key string) (value string, found bool, err error)
	// Set stores value; nil removes the key. All keys and values together must stay
	// under quota bytes, or the error is ErrKVFull.
	Set(ctx context.Context, key string, value *string, quota int64) error
	// List returns the keys that begin with prefix, sorted.
	List(ctx context.Context, prefix string) ([]string, error)
}

// Variables reads and writes variables of the run, such as sys.query.
type Variables interface {
	Variable(ctx context.Context, name string) (value json.RawMessage, found bool, err error)
	SetVariable(ctx context.Context, name string, value json.RawMessage) error
}

// Secrets looks up a secret the operator configured for the plugin.
type Secrets interface {
	Secret(ctx context.Context, name string) (secret engine.Secret, found bool, err error)
}

// hostContext is the context of work outside the guest: the caller's, ending at the deadline.
func (g *guest) hostContext() (context.Context, context.CancelFunc) {
	return context.WithDeadline(g.ctx.Context, g.deadline)
}

// hostCall counts a request to the host.
func (g *guest) hostCall() {
	if g.hostCalls++; g.hostCalls > maxHostCalls {
		g.stop(fail(TooManyCalls, "more than %d calls of the host", maxHostCalls))
	}
}

// ask answers one request of call. It returns false when the call is cancelled.
func (g *guest) ask(request []byte) ([]byte, bool) {
	var in struct {
		Op   string          `json:"op"`
		Args json.RawMessage `json:"args"`
	}
	var unread error
	tooLong := len(request) > maxCallBytes
	if !tooLong {
		unread = json.Unmarshal(request, &in)
	}
	if in.Op == "http.read" {
		g.pieceCall()
	} else {
		g.hostCall()
	}
	switch {
	case g.tell():
		return nil, false
	case tooLong:
		return answer(nil, fail(InvalidArgument, "request of %d bytes, allowed are %d", len(request), maxCallBytes)), true
	case unread != nil:
		return answer(nil, fail(InvalidArgument, "request is not readable: %v", unread)), true
	}
	run, ok := ops[in.Op]
	if !ok {
		return answer(nil, fail(Unsupported, "no operation %q on this host", in.Op)), true
	}
	if len(in.Args) == 0 {
		in.Args = json.RawMessage("{}")
	}
	if mark := g.req.SecretMark; in.Op != "http.fetch" && mark != "" { // models, keys and variables must not learn it
		in.Args = json.RawMessage(engine.UnmarkSecrets(string(in.Args), mark))
	}
	out, err := run(g, in.Args)
	if g.tell() {
		return nil, false
	}
	return answer(out, err), true
}

// answer writes what call gives back.
func answer(ok any, e *Error) []byte {
	if e != nil {
		ok = nil
	}
	var out bytes.Buffer
	write := json.NewEncoder(&out)
	write.SetEscapeHTML(false) // a page would become several times as long
	err := write.Encode(struct {
		OK    any    `json:"ok,omitempty"`
		Error *Error `json:"error,omitempty"`
	}{ok, e})
	if err != nil {
		return answer(nil, fail(Internal, "answer is not JSON: %v", err))
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// op is one operation of call.
type op func(g *guest, args json.RawMessage) (any, *Error)

// none is the answer of an operation that has nothing to say.
type none struct{}

// ops are the operations of call, as the contract lists them.
var ops = map[string]op{
	"http.fetch": typed((*guest).fetchOp),
	"http.read":  typed((*guest).readOp),
	"http.close": typed((*guest).closeOp),
	"llm.chat":   typed((*guest).chat),
	"embed":      typed((*guest).embed),
	"kv.get":     typed((*guest).kvGet),
	"kv.set":     typed((*guest).kvSet),
	"kv.delete":  typed((*guest).kvDelete),
	"kv.list":    typed((*guest).kvList),
	"var.get":    typed((*guest).varGet),
	"var.set":    typed((*guest).varSet),
	"sleep":      typed((*guest).sleepOp),

	"self.section": typed(sectionOp),
}

// typed decodes the arguments of an operation.
func typed[A any](run func(g *guest, args A) (any, *Error)) op {
	return func(g *guest, raw json.RawMessage) (any, *Error) {
		var args A
		if err := json.Unmarshal(raw, &args); err != nil {
			return nil, fail(InvalidArgument, "arguments are not readable: %v", err)
		}
		return run(g, args)
	}
}

// sleep waits, at most until the deadline or the end of the caller.
func (g *guest) sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	g.outside(func() {
		t := time.NewTimer(min(d, time.Until(g.deadline)+time.Millisecond))
		defer t.Stop()
		select {
		case <-t.C:
		case <-g.done:
		}
	})
}

func (g *guest) sleepOp(a struct {
	MS int64 `json:"ms"`
},
) (any, *Error) {
	g.sleep(time.Duration(min(max(a.MS, 0), 1<<40)) * time.Millisecond)
	return none{}, nil
}
