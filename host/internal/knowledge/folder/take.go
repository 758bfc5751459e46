package folder

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"time"

	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/knowledge/chunkfile"
	"github.com/easel-canvas/easel/host/internal/knowledge/chunking"
	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/ingest"
	"github.com/easel-canvas/easel/host/internal/knowledge/replica"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// unchanged reports whether a file has the content that was read already.
func (f *Folder) unchanged(v *file, r *record) bool {
	hash, err := f.hash(v)
	return err == nil && hash == r.Hash
}

// hash returns the hash of a file and of its metadata file.
func (f *Folder) hash(v *file) (string, error) {
	h := sha256.New()
	for _, name := range []string{v.name, v.name + metaSuffix} {
		in, err := f.root.Open(name)
		if errors.Is(err, fs.ErrNotExist) && name != v.name {
			continue // most documents have no metadata file
		}
		if err != nil {
			return "", err
		}
		_, err = io.Copy(h, in)
		if err = errors.Join(err, in.Close()); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// remove forgets a document whose file is gone.
func (f *Folder) remove(ctx context.Context, r *record) error {
	if err := f.index.Delete(ctx, r.Dataset, idOf(r.Dataset, r.Path)); err != nil &&
		!errors.Is(err, index.ErrNoDataset) {
		return err
	}
	if err := f.records.delete(ctx, r.Dataset, r.Path); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if d := f.datasets[r.Dataset]; d != nil {
		delete(d.documents, r.Path)
		delete(d.numbers, r.Path)
		d.changes++
	}
	return nil
}

// take reads a document into the index. One that cannot be read is logged, keeps no chunks and is
// not read again before its content changes; one that could not be read for now is read by the next
// scan. The error is one of the index, of the model or of ctx.
func (f *Folder) take(ctx context.Context, v *file) error {
	began := time.Now()
	r := &record{
		Dataset: v.dataset, Path: v.path, Mark: v.mark, Version: versionOf(v), Size: v.size,
		Modified: v.modified.UnixMilli(), Began: began.UnixMilli(),
	}
	f.update(v, func(d *dataset.Document) {
		d.State, d.Progress, d.Began = dataset.Running, 0, r.Began
		d.Messages = r.say("Task has been received.")
	})
	var err error
	if r.Hash, err = f.hash(v); err != nil {
		return f.later(ctx, v, err)
	}
	reading := &reading{folder: f, file: v, record: r}
	err = reading.replace(ctx)
	r.Took = time.Since(began).Milliseconds()
	if f.mark(v) != v.mark { // what was read may be half an edit, even if the content is the same again
		r.Mark, r.Hash = "", ""
	}
	switch {
	case err == nil:
		r.say("Task done (%.2fs).", time.Since(began).Seconds())
	case ctx.Err() != nil:
		return ctx.Err()
	case reading.failed == nil, errors.Is(err, errModel):
		return err // all other documents would fail, too
	case !lasting(reading.failed):
		return f.later(ctx, v, reading.failed)
	default:
		f.cfg.Logger.Warn("document was not indexed", "document", v.name, "err", reading.failed)
		if err := f.index.Delete(ctx, v.dataset, idOf(v.dataset, v.path)); err != nil {
			return err
		}
		r.Failure, r.Chunks, r.Tokens = failureOf(reading.failed), 0, 0
		r.say("[ERROR] %v", reading.failed)
	}
	if err := f.records.put(ctx, r); err != nil {
		return err
	}
	done := r.document()
	f.update(v, func(d *dataset.Document) { *d = *done })
	return nil
}

// later leaves a document to the next scan.
func (f *Folder) later(ctx context.Context, v *file, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	f.mu.Lock()
	known := f.reported[v.name] == v.mark
	f.reported[v.name] = v.mark
	f.mu.Unlock()
	if !known {
		f.cfg.Logger.Warn("document cannot be read now, retrying", "document", v.name, "err", err)
	}
	f.update(v, func(d *dataset.Document) {
		d.State, d.Messages = dataset.Queued, d.Messages+line("[ERROR] %v", err)
	})
	return nil
}

// say adds a line to the messages, and returns all.
func (r *record) say(format string, args ...any) string {
	r.Messages += line(format, args...)
	return r.Messages
}

func line(format string, args ...any) string {
	return time.Now().Format(time.TimeOnly) + " " + fmt.Sprintf(format, args...) + "\n"
}

// errModel means that the embedding model failed, and not the document.
var errModel = errors.New("embedding model")

// lasting reports whether reading the same bytes again fails again.
func lasting(err error) bool {
	var path *fs.PathError
	return !errors.Is(err, document.ErrBusy) && !errors.As(err, &path)
}

// failureOf returns the record of a document that cannot be read.
func failureOf(err error) document.Failure {
	f, _ := document.FailureOf(err)
	if f.Code == "" { // of its metadata
		f = document.Failure{Version: document.Version, Code: "damaged", Message: err.Error()}
	}
	return f
}

// reading is the way of a document into the index.
type reading struct {
	folder *Folder
	file   *file
	record *record
	name   []float32 // the vector of the document's name
	failed error     // of the document or of the model, not of the index
}

// replace puts the document into the index.
func (r *reading) replace(ctx context.Context) error {
	v := r.file
	meta, skip, err := r.folder.metadata(v)
	if err != nil {
		r.failed = err
		return err
	}
	r.record.Meta = meta
	source := document.Source{Name: v.path, Size: v.size - skip, Open: r.open(skip)}
	if err := r.folder.index.Create(ctx, v.dataset, index.Settings{}.Normal()); err != nil {
		return err
	}
	// One document at a time is written: it is read and cut, and at least begins to be embedded,
	// before its turn.
	next, stop := iter.Pull2(r.chunks(ctx, source))
	defer stop()
	var ready []index.Chunk
	for len(ready) < ahead {
		c, err, more := next()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		ready = append(ready, c)
	}
	return r.folder.index.Replace(ctx, v.dataset, index.Document{
		ID: idOf(v.dataset, v.path), Name: v.path, Version: r.record.Version, Meta: meta,
		Chunks: func(yield func(index.Chunk, error) bool) {
			for _, c := range ready {
				if !yield(c, nil) {
					return
				}
			}
			for c, err, more := next(); more; c, err, more = next() {
				if !yield(c, err) {
					return
				}
			}
		},
	})
}

// ahead is the number of chunks of a document that are made before the index takes the first.
const ahead = 256

// open opens the file behind the block of metadata at its beginning.
func (r *reading) open(skip int64) func(context.Context) (io.ReadCloser, error) {
	return func(context.Context) (io.ReadCloser, error) {
		in, err := r.folder.root.Open(r.file.name)
		if err != nil {
			return nil, err
		}
		if _, err := in.Seek(skip, io.SeekStart); err != nil {
			return nil, errors.Join(err, in.Close())
		}
		return in, nil
	}
}

// embedAtOnce is the number of chunks that are embedded in one call.
const embedAtOnce = 32

// chunks cuts and embeds the document.
func (r *reading) chunks(ctx context.Context, source document.Source) iter.Seq2[index.Chunk, error] {
	return func(yield func(index.Chunk, error) bool) {
		id := idOf(r.file.dataset, r.file.path)
		seen := map[string]bool{}
		var batch []ingest.Piece
		flush := func() bool {
			vectors, err := r.embed(ctx, batch)
			if err != nil {
				r.failed = err
				return yield(index.Chunk{}, err) && false
			}
			for i := range batch {
				parsed := batch[i].Chunk(chunkfile.ID(batch[i].Content, id), r.record.Began)
				c := replica.Indexed(&parsed)
				if vectors != nil {
					c.Vector = vectors[i]
				}
				if !yield(c, nil) {
					return false
				}
			}
			batch = batch[:0]
			return true
		}
		input := ingest.Input{
			Source: source, Method: chunking.Structure, Report: func(text string) { r.record.say("%s", text) },
		}
		for p, err := range r.folder.cfg.Cutter.Cut(ctx, input) {
			if err != nil {
				r.failed = err
				yield(index.Chunk{}, err)
				return
			}
			key := chunkfile.ID(p.Content, id)
			if seen[key] {
				continue
			}
			seen[key] = true
			r.record.Chunks++
			r.record.Tokens += p.Tokens
			if batch = append(batch, p); len(batch) == embedAtOnce && !flush() {
				return
			}
		}
		if flush() {
			r.record.say("Generate %d chunks", r.record.Chunks)
		}
	}
}

// embed makes the vectors of chunks; nil without a model.
func (r *reading) embed(ctx context.Context, batch []ingest.Piece) ([][]float32, error) {
	model := r.folder.cfg.Embedder
	if model == nil || len(batch) == 0 {
		return nil, nil
	}
	var texts []string
	if r.name == nil {
		texts = append(texts, r.file.path)
	}
	for i := range batch {
		texts = append(texts, ingest.Embedded(batch[i].Content, batch[i].Text, batch[i].Questions))
	}
	vectors, err := model.Embed(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errModel, err)
	}
	if r.name == nil {
		r.name, vectors = vectors[0], vectors[1:]
	}
	for i := range vectors {
		if vectors[i], err = ingest.Mix(r.name, vectors[i]); err != nil {
			return nil, fmt.Errorf("%w: %w", errModel, err)
		}
	}
	return vectors, nil
}
