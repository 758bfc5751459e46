package enginetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/easel-canvas/easel/engine"
)

// kit collects the errors of an implementation of a port.
type kit struct {
	port string
	mu   sync.Mutex
	errs []error
}

func (k *kit) fail(format string, args ...any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.errs = append(k.errs, fmt.Errorf(k.port+": "+format, args...))
}

// rule runs one check; a panic in it is a failure.
func (k *kit) rule(name string, check func()) {
	defer func() {
		if p := recover(); p != nil {
			k.fail("%s: panic: %v", name, p)
		}
	}()
	check()
}

// ended returns a context that is over already.
func ended(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx
}

// ExerciseModel checks a Model against the engine's requirements; llmID names a working model. It
// makes about eight short calls.
func ExerciseModel(ctx context.Context, m engine.Model, llmID string) []error {
	k := &kit{port: "model"}
	ask := func(stream bool) *engine.ModelRequest {
		return &engine.ModelRequest{
			LLM: llmID, Node: "LLM:Exercise", Purpose: engine.PurposeAnswer, Stream: stream,
			System:   "Answer with one word.",
			Messages: []engine.ModelMessage{{Role: "user", Content: "Hello"}}, Query: "Hello",
		}
	}
	k.rule("a plain call answers", func() { k.answer(ctx, m, ask(false)) })
	k.rule("a streamed call answers", func() { k.answer(ctx, m, ask(true)) })
	k.rule("breaking off leaves nothing behind", func() {
		for range m.Generate(ctx, ask(true)) {
			break
		}
		k.answer(ctx, m, ask(true))
	})
	k.rule("an ended context ends the call", func() {
		var last error
		for _, err := range m.Generate(ended(ctx), ask(true)) {
			last = err
		}
		if last == nil {
			k.fail("an ended context: expected its error, saw none")
		}
	})
	k.rule("calls may overlap", func() {
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() { k.rule("calls may overlap", func() { k.answer(ctx, m, ask(true)) }) })
		}
		all.Wait()
	})
	return k.errs
}

// answer makes one call and checks its shape: some text, and an error at most once and last.
func (k *kit) answer(ctx context.Context, m engine.Model, req *engine.ModelRequest) {
	text, failed := "", error(nil)
	for piece, err := range m.Generate(ctx, req) {
		if failed != nil {
			k.fail("something came after the error %q", failed)
			return
		}
		text += piece.Text
		failed = err
	}
	switch {
	case failed != nil:
		k.fail("llm_id %q, stream %t: %w", req.LLM, req.Stream, failed)
	case strings.TrimSpace(text) == "":
		k.fail("llm_id %q, stream %t: expected a text, saw none", req.LLM, req.Stream)
	}
}

// RetrieverExercise is the input for a check of a Retriever.
type RetrieverExercise struct {
	Query          engine.RetrievalQuery // finds at least two passages
	MissingDataset string                // id of a dataset that does not exist; "" leaves that rule out
}

// ExerciseRetriever checks a Retriever: passages have an id and a text, documents a name and an id,
// TopN is kept, and a dataset that does not exist is named by an error.
func ExerciseRetriever(ctx context.Context, r engine.Retriever, x RetrieverExercise) []error {
	k := &kit{port: "retriever"}
	k.rule("passages are found", func() {
		found, err := r.Retrieve(ctx, &x.Query)
		if err != nil {
			k.fail("query %q: %w", x.Query.Text, err)
			return
		}
		if len(found.Chunks) < 2 {
			k.fail("query %q: expected at least two passages, saw %d", x.Query.Text, len(found.Chunks))
		}
		for i, c := range found.Chunks {
			k.member(c, i, "passage", "chunk_id", "id")
			k.member(c, i, "passage", "content_with_weight", "content")
		}
		for i, d := range found.DocAggs {
			k.member(d, i, "document", "doc_name")
			k.member(d, i, "document", "doc_id")
		}
	})
	k.rule("TopN is kept", func() {
		q := x.Query
		q.TopN = 1
		if found, err := r.Retrieve(ctx, &q); err != nil || len(found.Chunks) != 1 {
			k.fail("TopN 1: expected one passage, saw %d (%v)", len(found.Chunks), err)
		}
	})
	k.rule("a missing dataset is an error", func() {
		if x.MissingDataset == "" {
			return
		}
		q := x.Query
		q.Datasets = []string{x.MissingDataset}
		if _, err := r.Retrieve(ctx, &q); err == nil || !strings.Contains(err.Error(), x.MissingDataset) {
			k.fail("dataset %q does not exist: expected an error that names it, saw %v", x.MissingDataset, err)
		}
	})
	k.rule("an ended context is an error", func() {
		if _, err := r.Retrieve(ended(ctx), &x.Query); err == nil {
			k.fail("an ended context: expected its error, saw none")
		}
	})
	return k.errs
}

// member checks that an object has one of some names.
func (k *kit) member(v engine.Value, at int, what string, names ...string) {
	for _, n := range names {
		if v.Get(n).Text() != "" {
			return
		}
	}
	k.fail("%s %d has no %s: %s", what, at, strings.Join(names, " or "), short(v))
}

// ExerciseFiles checks a Files port with the descriptors of a document and of an image; either may
// be null.
func ExerciseFiles(ctx context.Context, f engine.Files, document, image engine.Value) []error {
	k := &kit{port: "files"}
	k.rule("a document is read as text", func() {
		if document.IsNull() {
			return
		}
		if text, err := f.Read(ctx, document); err != nil || text == "" {
			k.fail("document %s: expected a text, saw %q (%v)", short(document), shorten(text), err)
		}
	})
	k.rule("an image is a data URL", func() {
		if image.IsNull() {
			return
		}
		want := "data:" + image.Get("mime_type").Str() + ";base64,"
		if text, err := f.Read(ctx, image); err != nil || !strings.HasPrefix(text, want) {
			k.fail("image %s: expected %s..., saw %q (%v)", short(image), want, shorten(text), err)
		}
	})
	k.rule("a file that does not exist is an error", func() {
		missing := engine.Object("id", "no such file", "name", "x.txt", "mime_type", "text/plain")
		if text, err := f.Read(ctx, missing); err == nil {
			k.fail("a file that does not exist: expected an error, saw %q", shorten(text))
		}
	})
	return k.errs
}

// HTTPExercise is the input for a check of an HTTP port.
type HTTPExercise struct {
	URL     string // answers GET with status 200 and a body
	Broken  string // answers with a status of 400 or above; "" leaves that rule out
	Refused string // an address without a listener; "" skips that rule
}

// ExerciseHTTP checks an HTTP port: any status is an answer, and only a failed connection is an
// error.
func ExerciseHTTP(ctx context.Context, h engine.HTTP, x HTTPExercise) []error {
	k := &kit{port: "http"}
	get := func(ctx context.Context, url string) (*engine.HTTPResponse, error) {
		res, err := h.Do(ctx, &engine.HTTPRequest{Method: "GET", URL: url})
		if err == nil && res == nil {
			return nil, errors.New("neither an answer nor an error")
		}
		return res, err
	}
	k.rule("an answer has status, type and body", func() {
		res, err := get(ctx, x.URL)
		if err != nil {
			k.fail("%s: %w", x.URL, err)
			return
		}
		if res.Status != 200 || res.Body == "" || len(res.Header) == 0 {
			k.fail("%s: expected 200 with headers and a body, saw %d, %d headers, %d bytes", x.URL, res.Status,
				len(res.Header), len(res.Body))
		}
	})
	k.rule("a bad status is an answer", func() {
		if x.Broken == "" {
			return
		}
		if res, err := get(ctx, x.Broken); err != nil || res.Status < 400 {
			k.fail("%s: expected an answer with its status, saw %v", x.Broken, err)
		}
	})
	k.rule("a refused connection is an error", func() {
		if x.Refused == "" {
			return
		}
		if res, err := get(ctx, x.Refused); err == nil {
			k.fail("%s: expected an error, saw status %d", x.Refused, res.Status)
		}
	})
	k.rule("an ended context is an error", func() {
		if _, err := get(ended(ctx), x.URL); err == nil {
			k.fail("an ended context: expected its error, saw none")
		}
	})
	return k.errs
}
