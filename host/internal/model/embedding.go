package model

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"unicode/utf8"

	"github.com/easel-canvas/easel/engine"
)

// EmbeddingModels returns the ids of the embedding models of a tenant, NAME@PROVIDER each: those
// that its providers and the host's list, its own first.
func (t *Tenant) EmbeddingModels(ctx context.Context) ([]string, error) {
	m, err := t.Models(ctx)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, p := range m.providers {
		for _, e := range p.config.Models {
			if e.kind() == KindEmbedding {
				ids = append(ids, e.Name+"@"+p.config.Label())
			}
		}
	}
	return ids, nil
}

// EmbedBy returns one embedding per text, of the embedding model with an id. Errors:
// [ErrUnknownModel], those of the caller's [Account].
func (t *Tenant) EmbedBy(ctx context.Context, id string, texts []string) ([][]float32, error) {
	m, err := t.Models(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range m.providers {
		for _, e := range p.config.Models {
			if e.kind() != KindEmbedding || id != e.Name+"@"+p.config.Label() {
				continue
			}
			if err := t.account.Allow(ctx); err != nil {
				return nil, err
			}
			vectors, tokens, err := m.embedBy(ctx, p, e.Name, texts)
			t.account.Spend(tokens)
			return vectors, err
		}
	}
	return nil, fmt.Errorf("%w: embedding model %q", ErrUnknownModel, id)
}

// maxTexts bounds the texts per embedding request until a server requires fewer.
const maxTexts = 64

// embedBy is embed with a chosen model. It sends as many texts in a request as the server takes. A
// text that is longer than the model takes is cut; see [WithCuts].
func (m *Models) embedBy(
	ctx context.Context, p *provider, name string, texts []string,
) (out [][]float32, tokens int64, err error) {
	out = make([][]float32, 0, len(texts))
	for len(texts) > 0 {
		n := min(len(texts), maxTexts)
		if most := p.lesson(name).Batch; most > 0 {
			n = min(n, most)
		}
		vectors, used, err := m.embedFitting(ctx, p, name, texts[:n], len(out))
		tokens = sum(tokens, used)
		if err != nil {
			return nil, tokens, err
		}
		out, texts = append(out, vectors...), texts[len(vectors):]
	}
	return out, tokens, nil
}

// embedFitting returns the vectors of texts, or of the first of them if the server takes fewer.
// first is the number of the first text.
func (m *Models) embedFitting(
	ctx context.Context, p *provider, name string, texts []string, first int,
) ([][]float32, int64, error) {
	for cuts := 0; ; {
		vectors, tokens, err := m.embedSome(ctx, p, name, texts)
		var e *Error
		if err == nil || !errors.As(err, &e) || !tooMuch(e) {
			return vectors, tokens, err
		}
		if len(texts) > 1 {
			n, learned := fewer(e.Err.Error(), len(texts))
			if learned {
				p.learn(name, func(l *Lesson) { l.Batch = n })
			}
			texts = texts[:n]
			continue
		}
		shorter := shortened(texts[0], e.Err.Error())
		if cuts++; cuts > maxCuts || shorter == "" {
			return nil, tokens, err
		}
		if report, ok := ctx.Value(cutsKey{}).(func(int, int)); ok {
			report(first, len(shorter))
		}
		texts = []string{shorter}
	}
}

// maxCuts bounds how often one text is cut.
const maxCuts = 12

type cutsKey struct{}

// WithCuts returns a context in which embedding calls report each text that was cut because it is
// longer than the model takes: its number and the bytes that were embedded. A text may be reported
// more than once, each time with fewer bytes.
func WithCuts(ctx context.Context, report func(text, bytes int)) context.Context {
	return context.WithValue(ctx, cutsKey{}, report)
}

var (
	batchWords = regexp.MustCompile(`(?i)batch|at most \d+ items|too many|number of (inputs|texts)|array.{0,` +
		`20}(long|large|length)|items? after validation`)
	lengthWords = regexp.MustCompile(`(?i)context length|tokens|too long|length|too large|maximum ` +
		`(input|size)|exceed`)
)

// tooMuch reports whether a server refused a request because of its size.
func tooMuch(e *Error) bool {
	switch e.Status {
	case http.StatusRequestEntityTooLarge:
		return true
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError:
		return batchWords.MatchString(e.Err.Error()) || lengthWords.MatchString(e.Err.Error())
	}
	return false
}

var digits = regexp.MustCompile(`\d+`)

// fewer returns how many of n texts to send after a refusal. learned is true if the server speaks
// of the number of texts; it often names the limit.
func fewer(text string, n int) (most int, learned bool) {
	if batchWords.MatchString(text) {
		for _, d := range digits.FindAllString(text, -1) {
			if v, err := strconv.Atoi(d); err == nil && v > 0 && v < n {
				most = max(most, v)
			}
		}
		if most > 0 {
			return most, true
		}
	}
	return n / 2, batchWords.MatchString(text)
}

// shortened returns the start of a text that is too long, by the numbers in the refusal if it has a
// limit and a length; "" if nothing is left.
func shortened(text, refusal string) string {
	share := 0.5
	var numbers []float64
	for _, d := range digits.FindAllString(refusal, -1) {
		if v, err := strconv.ParseFloat(d, 64); err == nil && v >= 64 {
			numbers = append(numbers, v)
		}
	}
	if len(numbers) > 1 && numbers[0] < numbers[1] {
		share = max(share/4, numbers[0]/numbers[1]*0.95)
	}
	n := int(float64(len(text)) * share)
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// embedSome makes one embedding request once it may be made.
func (m *Models) embedSome(
	ctx context.Context, p *provider, model string, texts []string,
) (vectors [][]float32, tokens int64, err error) {
	p, turn, err := m.enter(ctx, p, model, tokensOf(texts), nil)
	if err != nil {
		return nil, 0, err
	}
	defer func() { turn.Leave(tokens) }()
	return p.embed(ctx, model, texts)
}

// tokensOf estimates the tokens of texts.
func tokensOf(texts []string) (n int64) {
	for _, text := range texts {
		n = sum(n, int64(engine.Tokens(text)))
	}
	return n
}

// embed sends one embedding request and returns the tokens used.
func (p *provider) embed(ctx context.Context, model string, texts []string) (vectors [][]float32, tokens int64,
	err error,
) {
	err = p.exchange(ctx, model, func(ctx context.Context, x *exchange, received func()) error {
		body := func(l *Lesson) engine.Value {
			return l.apply(engine.Object("model", model, "input", engine.Strings(texts...), "encoding_format",
				"float"))
		}
		res, err := p.negotiated(ctx, x, model, "/embeddings", body, nil)
		if err != nil {
			return err
		}
		defer res.Body.Close() //nolint:errcheck // the answer was read
		data, err := io.ReadAll(res.Body)
		if err != nil {
			return broken(ctx, err)
		}
		received()
		v, err := engine.ParseJSON(data)
		if err != nil {
			if len(data) > 0 && data[0] == '{' {
				return fmt.Errorf("%w: %w", ErrBroken, err)
			}
			return &refusal{text: "the response has no embeddings; check base_url: " + firstWords(data)}
		}
		if refused := (&document{value: v}).reported(); refused != nil {
			return refused
		}
		prompt, _ := number(v.Get("usage").Get("prompt_tokens"))
		completion, _ := number(v.Get("usage").Get("completion_tokens"))
		tokens = reported(int(prompt), int(completion))
		vectors, err = vectorsOf(v.Get("data"), len(texts))
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	if tokens == 0 {
		tokens = tokensOf(texts)
	}
	return vectors, tokens, nil
}

// vectorsOf returns the vectors of n texts, which may be in any order.
func vectorsOf(data engine.Value, n int) ([][]float32, error) {
	vectors := make([][]float32, n)
	for place, e := range data.Elements() {
		i, ok := number(e.Get("index"))
		if !ok {
			i = int64(place)
		}
		v := vectorOf(e.Get("embedding"))
		if i < 0 || i >= int64(n) || len(v) == 0 {
			return nil, fmt.Errorf("vector %d of %d texts: %w", i, n, errNoVectors)
		}
		vectors[i] = v
	}
	for i, v := range vectors {
		if len(v) == 0 || len(v) != len(vectors[0]) {
			return nil, fmt.Errorf("text %d of %d: %w", i, n, errNoVectors)
		}
	}
	return vectors, nil
}

// vectorOf reads a vector: a list of numbers, or the base64 of 32-bit numbers.
func vectorOf(v engine.Value) []float32 {
	if v.Kind() == engine.KindString {
		data, err := base64.StdEncoding.DecodeString(v.Str())
		if err != nil || len(data)%4 != 0 {
			return nil
		}
		out := make([]float32, len(data)/4)
		for i := range out {
			out[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		}
		return out
	}
	if v.At(0).Kind() == engine.KindList { // one vector per text, in a list
		v = v.At(0)
	}
	out := make([]float32, 0, v.Len())
	for _, x := range v.Elements() {
		f, ok := x.Float()
		if !ok {
			return nil
		}
		out = append(out, float32(f))
	}
	return out
}

// errNoVectors means that a response does not have one vector of the same size per text.
var errNoVectors = errors.New("the answer has not one vector of the same size for each text")
