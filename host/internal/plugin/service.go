package plugin

import (
	"context"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// Services handle the requests of a plugin in one call. A nil field is an operation that this host
// does not offer. Errors that are an *contract.Error reach the plugin unchanged, others with the
// code Upstream.
type Services struct {
	Chat      Chatter
	Embed     Embedder
	KV        KV
	Variables Variables
	Secrets   Secrets
	Files     Files
}

// Chatter calls a chat model. With req.Stream it passes each piece to delta, which may be nil
// otherwise, and stops when delta returns an error.
type Chatter interface {
	Chat(ctx context.Context, req contract.ChatRequest, delta func(string) error) (contract.ChatAnswer, error)
}

// Embedder turns texts into vectors, one per text.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// KV stores text for a plugin. Its creator decides the scope: usually one plugin of one tenant.
type KV interface {
	Get(ctx context.Context, key string) (value string, found bool, err error)
	// Set stores value; nil removes the key. All keys and values together must stay under quota
	// bytes, or the error is ErrKVFull.
	Set(ctx context.Context, key string, value *string, quota int64) error
	// List returns the keys that begin with prefix, sorted.
	List(ctx context.Context, prefix string) ([]string, error)
}

// Variables reads and writes variables of the run, such as sys.query.
type Variables interface {
	Variable(ctx context.Context, name string) (value engine.Value, found bool, err error)
	SetVariable(ctx context.Context, name string, value engine.Value) error
}

// Secrets looks up a secret that the operator configured for the plugin.
type Secrets interface {
	Secret(ctx context.Context, name string) (secret engine.Secret, found bool, err error)
}
