package enginetest

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"

	"github.com/easel-canvas/easel/engine"
)

// ModelTape is an engine.Model that forwards calls and records requests and answers, so that a
// Model can replay the answers. It may be used by many goroutines.
type ModelTape struct {
	Model engine.Model

	mu     sync.Mutex
	open   int // calls that have not ended
	tracks []*track
}

// track is one call on the tape.
type track struct {
	reply   Reply
	request *engine.ModelRequest
	call    engine.Value
	shared  bool // another call was open at the same time, so the order may differ next time
	refused bool // the model does not accept tools: the agent plans in text, as it does without the call
}

// ModelInfo returns the info of the model behind the tape.
func (t *ModelTape) ModelInfo(ctx context.Context, llmID string) engine.Info {
	if m, ok := t.Model.(engine.ModelInfo); ok {
		return m.ModelInfo(ctx, llmID)
	}
	return engine.Info{}
}

// Generate forwards the call.
func (t *ModelTape) Generate(ctx context.Context, req *engine.ModelRequest) iter.Seq2[engine.ModelPiece, error] {
	return func(yield func(engine.ModelPiece, error) bool) {
		tr := t.begin(req)
		defer t.end()
		for piece, err := range t.Model.Generate(ctx, req) {
			t.keep(tr, piece, err)
			if !yield(piece, err) {
				return
			}
		}
	}
}

func (t *ModelTape) begin(req *engine.ModelRequest) *track {
	t.mu.Lock()
	defer t.mu.Unlock()
	tr := &track{request: req, call: callValue(req), shared: t.open > 0}
	if len(req.Tools) > 0 && req.Purpose != engine.PurposePlan {
		tr.reply.Calls = []engine.ToolCall{} // the model was asked for calls
	}
	if t.open > 0 {
		for _, other := range t.tracks[max(0, len(t.tracks)-t.open):] {
			other.shared = true
		}
	}
	t.open++
	t.tracks = append(t.tracks, tr)
	return tr
}

func (t *ModelTape) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open--
}

func (t *ModelTape) keep(tr *track, piece engine.ModelPiece, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if piece.Text != "" {
		tr.reply.Pieces = append(tr.reply.Pieces, Piece{Text: piece.Text})
	}
	tr.reply.Calls = append(tr.reply.Calls, piece.ToolCalls...)
	tr.refused = tr.refused || errors.Is(err, engine.ErrToolsRefused)
	if err != nil {
		tr.reply.Pieces = append(tr.reply.Pieces, Piece{Raise: err.Error(), Final: errors.Is(err, engine.ErrNoRetry)})
	}
}

// Calls returns the calls so far, in the order they began: {kind, system, messages, gen_conf}.
func (t *ModelTape) Calls() []engine.Value {
	t.mu.Lock()
	defer t.mu.Unlock()
	calls := make([]engine.Value, 0, len(t.tracks))
	for _, tr := range t.answered() {
		calls = append(calls, tr.call)
	}
	return calls
}

// Script returns the recorded replies, in the order the calls began. Replies to overlapping calls
// are matched to their call by its last message.
func (t *ModelTape) Script() []Reply {
	t.mu.Lock()
	defer t.mu.Unlock()
	tracks := t.answered()
	script := make([]Reply, len(tracks))
	for i, tr := range tracks {
		script[i] = tr.reply
		script[i].Pieces = append([]Piece{}, tr.reply.Pieces...)
		if n := len(tr.request.Messages); tr.shared && n > 0 {
			script[i].Match = tr.request.Messages[n-1].Content
		}
	}
	return script
}

// answered returns the tracks that belong into a case.
func (t *ModelTape) answered() []*track {
	return slices.DeleteFunc(slices.Clone(t.tracks), func(tr *track) bool { return tr.refused })
}

// RetrieverTape is an engine.Retriever that forwards queries and records the results.
type RetrieverTape struct {
	Retriever engine.Retriever

	mu    sync.Mutex
	found engine.Value
}

// Retrieve forwards the query.
func (t *RetrieverTape) Retrieve(ctx context.Context, q *engine.RetrievalQuery) (engine.Found, error) {
	found, err := t.Retriever.Retrieve(ctx, q)
	if err != nil {
		return found, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.found = t.found.With(q.Text, engine.Object(
		"chunks", engine.List(found.Chunks...), "doc_aggs", engine.List(found.DocAggs...)))
	return found, nil
}

// Found returns the retrieval results: query text -> {chunks, doc_aggs}; null without a query.
func (t *RetrieverTape) Found() engine.Value {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.found
}

// FilesTape is an engine.Files that forwards reads and records the texts as contents that a Files
// can replay.
type FilesTape struct {
	Files engine.Files

	mu    sync.Mutex
	blobs engine.Value
}

// Read forwards the read.
func (t *FilesTape) Read(ctx context.Context, file engine.Value) (string, error) {
	text, err := t.Files.Read(ctx, file)
	if err != nil {
		return text, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.blobs = t.blobs.With(file.Get("id").Text(), engine.Object("text", text))
	return text, nil
}

// Blobs returns the files read: file id -> {"text"}; null if none was read.
func (t *FilesTape) Blobs() engine.Value {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.blobs
}
