// Package rerank orders found texts by how well they answer a query: by a reranking model ([Open]),
// or by making them unlike each other ([Diverse]).
package rerank

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/host/internal/egress/redact"
	"github.com/easel-canvas/easel/host/internal/knowledge/models/endpoint"
)

// Reranker scores texts. It is safe for concurrent use.
type Reranker interface {
	// Rerank returns a score from 0 to 1 for each text; more is better.
	Rerank(ctx context.Context, query string, texts []string) ([]float64, error)
}

// Shape is the form of requests and answers of a server.
type Shape string

// Shapes. Jina, Cohere, Voyage, vLLM, LocalAI and RAGFlow's own server differ only in the address.
const (
	// Cohere posts {model, query, documents, top_n} and reads results of {index, relevance_score}.
	Cohere Shape = "cohere"
	// Jina is as Cohere.
	Jina Shape = "jina"
	// RAGFlow is as Cohere.
	RAGFlow Shape = "ragflow"
	// TEI, of Text Embeddings Inference, posts {query, texts} and reads [{index, score}].
	TEI Shape = "tei"
)

// Shapes returns all shapes.
func Shapes() []Shape { return []Shape{Cohere, Jina, RAGFlow, TEI} }

// Options describe a model behind an address.
type Options struct {
	Shape    Shape
	Model    string
	Key      string
	Endpoint endpoint.Endpoint // client and retries; its URL and Key are not used
	Batch    int               // texts in a request; 0 means 64
}

// Open makes a reranker of the address of a server: its base, to which /rerank is added unless it
// ends so.
func Open(base string, o Options) (Reranker, error) {
	if !slices.Contains(Shapes(), o.Shape) {
		return nil, fmt.Errorf("reranking server %s: unknown shape %q (one of cohere, jina, ragflow, tei)",
			redact.Address(base), o.Shape)
	}
	if o.Model == "" && o.Shape != TEI {
		return nil, fmt.Errorf("reranking server %s: name a model", redact.Address(base))
	}
	address := strings.TrimRight(base, "/")
	if !strings.HasSuffix(address, "/rerank") {
		joined, err := url.JoinPath(address, "rerank")
		if err != nil {
			return nil, fmt.Errorf("reranking server %s: %w", redact.Address(base), redact.Error(err))
		}
		address = joined
	}
	e := o.Endpoint
	e.URL, e.Key = address, o.Key
	send := func(ctx context.Context, query string, texts []string) (answer []byte, err error) {
		in := request{Model: o.Model, Query: query, Documents: texts, TopN: len(texts)}
		if o.Shape == TEI {
			in = request{Query: query, Texts: texts, Truncate: true}
		}
		err = e.Post(ctx, in, (*json.RawMessage)(&answer))
		return answer, err
	}
	s := &server{send: send, model: o.Model, at: e.Name() + ": ", batch: o.Batch}
	if s.batch == 0 {
		s.batch = maxTexts
	}
	return s, nil
}

// maxTexts bounds the texts in a request.
const maxTexts = 64

// By makes a reranker of requests of a model; send returns the answer of its server.
func By(model string, send func(ctx context.Context, query string, texts []string) ([]byte, error)) Reranker {
	return &server{send: send, model: model, batch: maxTexts}
}

type server struct {
	send  func(ctx context.Context, query string, texts []string) (answer []byte, err error)
	model string
	at    string // begins errors about an answer
	batch int    // texts in a request
}

// request has the keys of both forms; those of the other are left out.
type request struct {
	Model     string   `json:"model,omitempty"`
	Query     string   `json:"query"`
	Documents []string `json:"documents,omitempty"`
	TopN      int      `json:"top_n,omitempty"`
	Texts     []string `json:"texts,omitempty"`
	Truncate  bool     `json:"truncate,omitempty"`
}

// score is one of an answer: relevance_score in the one form, score in the other.
type score struct {
	Index     int      `json:"index"`
	Relevance *float64 `json:"relevance_score"`
	Score     *float64 `json:"score"`
}

// Rerank implements [Reranker]. Scores outside of 0 to 1, which are logits, become probabilities.
func (s *server) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	var out []float64
	for rest := texts; len(rest) > 0; {
		n := min(len(rest), s.batch)
		scores, err := s.scores(ctx, query, rest[:n])
		if err != nil {
			return nil, fmt.Errorf("reranking model %s: %w", s.model, err)
		}
		out = append(out, scores...)
		rest = rest[n:]
	}
	if slices.ContainsFunc(out, func(v float64) bool { return v < 0 || v > 1 }) {
		for i, v := range out {
			out[i] = 1 / (1 + math.Exp(-v))
		}
	}
	return out, nil
}

func (s *server) scores(ctx context.Context, query string, texts []string) ([]float64, error) {
	raw, err := s.send(ctx, query, texts)
	if err != nil {
		return nil, err
	}
	list, err := scores(raw)
	if err != nil {
		return nil, fmt.Errorf("%s%w", s.at, err)
	}
	out := make([]float64, len(texts))
	seen := make([]bool, len(texts))
	for _, r := range list {
		value := r.Relevance
		if value == nil {
			value = r.Score
		}
		if r.Index < 0 || r.Index >= len(texts) || seen[r.Index] || value == nil || math.IsNaN(*value) {
			return nil, fmt.Errorf("%sthe answer has index %d twice, out of range 0 to %d, or without a score", s.at,
				r.Index, len(texts)-1)
		}
		seen[r.Index] = true
		out[r.Index] = *value
	}
	if len(list) != len(texts) {
		return nil, fmt.Errorf("%sthe answer has %d scores for %d texts", s.at, len(list), len(texts))
	}
	return out, nil
}

// scores reads a list, or an object with the list under results or data.
func scores(raw json.RawMessage) (list []score, err error) {
	if json.Unmarshal(raw, &list) == nil {
		return list, nil
	}
	var object struct {
		Results *[]score `json:"results"`
		Data    *[]score `json:"data"`
	}
	if err := json.Unmarshal(raw, &object); err != nil {
		return nil, fmt.Errorf("the answer is not a list of scores: %w", err)
	}
	switch {
	case object.Results != nil:
		return *object.Results, nil
	case object.Data != nil:
		return *object.Data, nil
	}
	return nil, errors.New("the answer has neither results nor data")
}

// Diverse chooses n items so that each is relevant and unlike those before it: maximal marginal
// relevance. lambda is the share of relevance, from 0 to 1; alike returns the similarity of two
// items. It returns the indexes of the chosen ones, best first.
func Diverse(relevance []float64, alike func(i, j int) float64, lambda float64, n int) []int {
	left := make([]int, len(relevance))
	nearest := make([]float64, len(relevance)) // similarity to the most similar chosen one
	for i := range left {
		left[i] = i
	}
	var chosen []int
	for len(chosen) < n && len(left) > 0 {
		best, worth := 0, math.Inf(-1)
		for k, i := range left {
			if w := lambda*relevance[i] - (1-lambda)*nearest[i]; w > worth {
				best, worth = k, w
			}
		}
		next := left[best]
		chosen = append(chosen, next)
		left = slices.Delete(left, best, best+1)
		for _, i := range left {
			nearest[i] = max(nearest[i], alike(i, next))
		}
	}
	return chosen
}
