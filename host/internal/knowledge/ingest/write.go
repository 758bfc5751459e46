package ingest

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/easel-canvas/easel/host/internal/knowledge/chunkfile"
	"github.com/easel-canvas/easel/host/internal/knowledge/models/embed"
	"github.com/easel-canvas/easel/host/internal/model/embedding"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/store"
)

// writing writes the chunks of a document into their file, in batches that are embedded.
type writing struct {
	*job
	model    string // "" makes no vectors
	embedder embed.Embedder
	name     []float32 // vector of the name
	rerun    *dataset.Rerun

	out       *chunkfile.Writer
	batch     []chunkfile.Chunk
	seen      map[uint64]bool // ids, as numbers
	chunks    int
	tokens    int
	meta      map[string]any
	embedding time.Duration
}

// batchSize is the number of chunks that are embedded at once.
const batchSize = 32

// run cuts the document and stores its chunks.
func (w *writing) run(ctx context.Context, digest string) (*store.Parsed, error) {
	if err := w.openModel(ctx); err != nil {
		return nil, err
	}
	began := time.Now()
	name := chunkFile(&w.d)
	if err := w.store(ctx, name, w.fill); err != nil {
		return nil, err
	}
	if w.chunks == 0 {
		w.report("No chunk built: the document is empty.")
	} else {
		w.report("Generate %d chunks", w.chunks)
	}
	if w.embedder != nil {
		w.report("Embedding chunks (%.2fs)", w.embedding.Seconds())
	}
	w.report("Indexing done (%.2fs).", time.Since(began).Seconds())
	return &store.Parsed{
		ChunkFile: name, Chunks: w.chunks, Tokens: w.tokens, Digest: digest, Model: w.model, Meta: w.meta,
		Has: w.has, Limit: w.in.cfg.Chunks,
	}, nil
}

// store puts what fill writes into a file.
func (w *writing) store(ctx context.Context, name string, fill func(context.Context, io.Writer) error) error {
	out := &spill{put: func(r io.Reader) error {
		_, err := w.in.cfg.Files.Put(ctx, name, r)
		return err
	}}
	err := out.close(w.guard(func() error { return fill(ctx, out) }))
	w.file = out.data
	return err
}

// has reports whether a chunk was written.
func (w *writing) has(id string) bool {
	var n uint64
	_, err := fmt.Sscanf(id, "%016x", &n)
	return err == nil && w.seen[n]
}

// fill writes the file.
func (w *writing) fill(ctx context.Context, out io.Writer) error {
	w.out = chunkfile.NewWriter(out)
	input := Input{
		Tenant: w.d.Tenant, Source: w.source(), Method: w.d.Method, Config: w.d.Config,
		// Documents of former versions name only who uploaded them.
		Pipeline: w.d.Pipeline, PipelineBy: cmp.Or(w.d.PipelineBy, w.d.CreatedBy),
		Report: func(line string) { w.report("%s", line) }, Rerun: w.rerun, Ran: w.keep,
	}
	now := time.Now().UnixMilli()
	for p, err := range w.in.cfg.Cutter.Cut(ctx, input) {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err == nil {
			err = w.add(ctx, &p, now)
		}
		if err != nil {
			return err
		}
	}
	if err := w.flush(ctx); err != nil {
		return err
	}
	return w.out.Close()
}

// add takes a piece, unless the document has the same one already.
func (w *writing) add(ctx context.Context, p *Piece, now int64) error {
	if len(p.Meta) > 0 {
		if w.meta == nil {
			w.meta = map[string]any{}
		}
		maps.Copy(w.meta, p.Meta)
	}
	id := chunkfile.Hash(p.Content, w.d.ID)
	if w.seen[id] {
		return nil
	}
	w.seen[id] = true
	w.chunks++
	w.tokens += p.Tokens
	w.batch = append(w.batch, p.Chunk(fmt.Sprintf("%016x", id), now))
	if len(w.batch) < batchSize {
		return nil
	}
	return w.flush(ctx)
}

// flush embeds and writes the batch.
func (w *writing) flush(ctx context.Context) error {
	if w.embedder != nil && len(w.batch) > 0 {
		began := time.Now()
		if err := w.embed(ctx); err != nil {
			return err
		}
		w.embedding += time.Since(began)
	}
	for i := range w.batch {
		if err := w.out.Write(&w.batch[i]); err != nil {
			return err
		}
	}
	w.batch = w.batch[:0]
	// The number of chunks is not known before the end.
	w.advance(1 - 1/(1.2+float64(w.chunks)/100))
	return nil
}

// openModel opens the embedding model and embeds the name of the document.
func (w *writing) openModel(ctx context.Context) error {
	if w.model == "" {
		return nil
	}
	if w.in.cfg.Embedder == nil {
		return fmt.Errorf("embedding model %q: this host has no embedding models", w.model)
	}
	var err error
	if w.embedder, err = w.in.cfg.Embedder(ctx, w.d.Tenant, w.model); err != nil {
		return err
	}
	vectors, err := w.embedder.Embed(ctx, []string{w.d.Name})
	if err != nil {
		return err
	}
	w.name = vectors[0]
	return nil
}

// embed sets the vectors of the chunks of the batch.
func (w *writing) embed(ctx context.Context) error {
	texts := make([]string, len(w.batch))
	for i := range w.batch {
		texts[i] = Embedded(w.batch[i].Content, w.batch[i].Text, w.batch[i].Questions)
	}
	cut := map[int]int{}
	vectors, err := w.embedder.Embed(embedding.WithCuts(ctx, func(i, bytes int) { cut[i] = bytes }), texts)
	if err != nil {
		return err
	}
	for _, i := range slices.Sorted(maps.Keys(cut)) {
		w.report("warning: chunk %d is longer than the embedding model takes; its vector is that of the first %d bytes",
			w.chunks-len(w.batch)+i+1, cut[i])
	}
	for i, v := range vectors {
		if w.batch[i].Vector, err = Mix(w.name, v); err != nil {
			return err
		}
	}
	return nil
}

// Embedded returns the text that the vector of a chunk is made of: its questions, when it has any.
func Embedded(content, text string, questions []string) string {
	switch {
	case len(questions) > 0:
		return strings.Join(questions, "\n")
	case text != "":
		return text
	}
	return content
}

// nameShare is the share of a document's name in the vectors of its chunks.
const nameShare = 0.1

// Mix returns the vector of a chunk: mostly that of its text, a little that of the document's name.
// It is nil when that of the text is zero: the name alone would be compared otherwise.
func Mix(name, text []float32) ([]float32, error) {
	if len(name) != len(text) {
		return nil, fmt.Errorf("embedding model gives vectors of %d and of %d dimensions", len(name), len(text))
	}
	out := make([]float32, len(text))
	zero := true
	for i := range text {
		out[i] = nameShare*name[i] + (1-nameShare)*text[i]
		zero = zero && text[i] == 0
	}
	if zero {
		return nil, nil
	}
	return out, nil
}
