package embed

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/easel-canvas/easel/host/internal/knowledge/endpoint"
	"github.com/easel-canvas/easel/host/internal/redact"
)

// server is a model behind the embeddings call of OpenAI, which most servers have.
type server struct {
	endpoint endpoint.Endpoint
	options  Options
}

// defaultBatch is how many texts are in a request. Servers differ in what they allow; all allow
// this many.
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
	return &server{e, o}, nil
}

func (s *server) Model() string { return s.options.Model }

type embeddingsRequest struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Encoding   string   `json:"encoding_format"`
	Dimensions int      `json:"dimensions,omitempty"`
}

type embeddingsAnswer struct {
	Data []struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
}

// Embed sends the texts in batches. A batch that is too large for the server is halved.
func (s *server) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, 0, len(texts))
	for len(texts) > 0 {
		n := min(len(texts), s.options.Batch)
		vectors, err := s.batch(ctx, texts[:n])
		if err != nil {
			return nil, fmt.Errorf("embedding model %s: %w", s.options.Model, err)
		}
		out = append(out, vectors...)
		texts = texts[n:]
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
	err := s.endpoint.Post(ctx, in, &answer)
	if endpoint.TooLarge(err) && len(texts) > 1 {
		half := len(texts) / 2
		first, err := s.batch(ctx, texts[:half])
		if err != nil {
			return nil, err
		}
		second, err := s.batch(ctx, texts[half:])
		return append(first, second...), err
	}
	if err != nil {
		return nil, err
	}
	out := make([][]float32, len(texts))
	for _, d := range answer.Data {
		if d.Index < 0 || d.Index >= len(out) || out[d.Index] != nil {
			return nil, fmt.Errorf("%s: the answer has index %d twice or out of range 0 to %d", s.endpoint.Name(),
				d.Index, len(out)-1)
		}
		if len(d.Embedding) == 0 {
			return nil, fmt.Errorf("%s: the answer has an empty vector", s.endpoint.Name())
		}
		out[d.Index] = d.Embedding
	}
	if len(answer.Data) != len(texts) {
		return nil, fmt.Errorf("%s: the answer has %d vectors for %d texts", s.endpoint.Name(), len(answer.Data),
			len(texts))
	}
	return out, nil
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
