package embed

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/egress/redact"
	"github.com/easel-canvas/easel/host/internal/knowledge/models/endpoint"
	"github.com/easel-canvas/easel/host/internal/model/embedding"
)

// server is a model behind the embeddings call of OpenAI, which most servers have.
type server struct {
	endpoint endpoint.Endpoint
	options  Options
	most     atomic.Int64 // texts of a request that the server accepts; 0 until it refused some
}

// defaultBatch is the number of texts in a request. Servers have different limits; all allow this
// many.
const defaultBatch = 32

func newServer(base string, o Options) (*server, error) {
	if o.Model == "" {
		return nil, fmt.Errorf("embedding server %s: name a model", redact.Address(base))
	}
	if o.Batch == 0 {
		o.Batch = defaultBatch
	}
	u, err := url.JoinPath(base, "embeddings")
	if err != nil {
		return nil, fmt.Errorf("embedding server %s: %w", redact.Address(base), redact.Error(err))
	}
	if strings.HasSuffix(strings.TrimRight(base, "/"), "/embeddings") {
		u = base
	}
	e := o.Endpoint
	e.URL, e.Key = u, o.Key
	return &server{endpoint: e, options: o}, nil
}

func (s *server) Model() string { return s.options.Model }

type embeddingsRequest struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Encoding   string   `json:"encoding_format"`
	Dimensions int      `json:"dimensions,omitempty"`
}

type embeddingsAnswer struct {
	Data engine.Value `json:"data"`
}

// UnmarshalJSON keeps the data as it is: servers differ in its form.
func (a *embeddingsAnswer) UnmarshalJSON(data []byte) error {
	v, err := engine.ParseJSON(data)
	a.Data = v.Get("data")
	return err
}

// Embed sends the texts in batches, as large as the server accepts. A text that is too long is cut.
func (s *server) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, 0, len(texts))
	for len(texts) > 0 {
		n := min(len(texts), s.options.Batch)
		if most := int(s.most.Load()); most > 0 {
			n = min(n, most)
		}
		fit := embedding.Fit{
			Send:    func(texts []string) ([][]float32, error) { return s.batch(ctx, texts) },
			Refusal: refusalOf,
			Learn:   func(batch int) { s.most.Store(int64(batch)) },
		}
		vectors, err := fit.Embed(ctx, texts[:n], len(out))
		if err != nil {
			return nil, fmt.Errorf("embedding model %s: %w", s.options.Model, err)
		}
		out = append(out, vectors...)
		texts = texts[len(vectors):]
	}
	for i, v := range out {
		if want := cmpDims(s.options.Dims, out[0]); len(v) != want {
			return nil, fmt.Errorf("embedding model %s: vector %d has %d dimensions, want %d", s.options.Model, i,
				len(v), want)
		}
	}
	return out, nil
}

func cmpDims(wanted int, first []float32) int {
	if wanted > 0 {
		return wanted
	}
	return len(first)
}

func (s *server) batch(ctx context.Context, texts []string) ([][]float32, error) {
	in := embeddingsRequest{s.options.Model, blankless(texts), "float", s.options.Dims}
	var answer embeddingsAnswer
	if err := s.endpoint.Post(ctx, in, &answer); err != nil {
		return nil, err
	}
	vectors, err := embedding.Vectors(answer.Data, len(texts))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.endpoint.Name(), err)
	}
	return vectors, nil
}

// refusalOf returns status and reason of a refused request.
func refusalOf(err error) (int, string) {
	var status *endpoint.StatusError
	if errors.As(err, &status) {
		return status.Status, status.Body
	}
	return 0, ""
}

// blankless replaces empty texts, which servers refuse, by a blank.
func blankless(texts []string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = t
		if t == "" {
			out[i] = " "
		}
	}
	return out
}
