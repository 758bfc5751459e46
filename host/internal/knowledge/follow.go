package knowledge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/easel-canvas/easel/host/internal/document"
)

// follow keeps the index in step with the folder until ctx ends.
func (b *Base) follow(ctx context.Context) {
	told := map[string]string{} // what could not be read, by file and mark
	first := true
	for {
		began := time.Now()
		err := b.look(ctx, told, first)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			b.cfg.Log.Error("knowledge was not indexed", "folder", b.cfg.Root, "err", err)
		}
		if first {
			first = false
			close(b.ready)
		}
		if b.cfg.Poll < 0 {
			return
		}
		// A large folder takes long to look at, and is looked at less often.
		select {
		case <-time.After(max(b.cfg.Poll, 20*time.Since(began))):
		case <-ctx.Done():
			return
		}
	}
}

// file is a document in the folder.
type file struct {
	dataset, path string // the dataset's key, and the path inside it
	name          string // inside the root
	mark          string // changes with the content
	size          int64
}

// Documents that are read as they are, and those that a Reader reads.
var (
	plainTypes = []string{".md", ".markdown", ".txt", ".text", ".csv", ".tsv", ".json", ".jsonl"}
	otherTypes = []string{".html", ".htm", ".pdf", ".docx", ".xlsx", ".pptx"}
)

// largest is the size up to which a document is read, in bytes.
const largest = 64 << 20

// metaSuffix ends the name of a file with a document's metadata.
const metaSuffix = ".meta.json"

// list is every document in the folder.
func (b *Base) list(ctx context.Context) (out []file, err error) {
	metas := map[string]string{}
	err = fs.WalkDir(b.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && name == ".":
			return err
		case err != nil:
			b.cfg.Log.Warn("folder was not read", "folder", name, "err", err)
			return nil
		case name != "." && strings.HasPrefix(path.Base(name), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !d.Type().IsRegular():
			return nil // links lead out of the chosen folder
		}
		info, err := d.Info()
		if err != nil {
			return nil // gone meanwhile
		}
		mark := fmt.Sprint(info.ModTime().UnixNano(), " ", info.Size())
		if of, ok := strings.CutSuffix(name, metaSuffix); ok {
			metas[of] = mark
			return nil
		}
		if !b.reads(name) {
			return nil
		}
		f := file{name: name, mark: mark, size: info.Size()}
		f.dataset, f.path = placeOf(name)
		out = append(out, f)
		return nil
	})
	for i := range out {
		if m := metas[out[i].name]; m != "" {
			out[i].mark += " " + m
		}
	}
	return out, err
}

func (b *Base) reads(name string) bool {
	return isPlain(name) || b.cfg.Reader != nil && slices.Contains(otherTypes, strings.ToLower(path.Ext(name)))
}

func isPlain(name string) bool { return slices.Contains(plainTypes, strings.ToLower(path.Ext(name))) }

// look brings the index in step with the folder once.
func (b *Base) look(ctx context.Context, told map[string]string, first bool) error {
	files, err := b.list(ctx)
	if err != nil {
		return err
	}
	known, err := b.index.marks(ctx)
	if err != nil {
		return err
	}
	began, shown, changed := time.Now(), time.Now(), 0
	for i, f := range files {
		b.mu.Lock()
		b.last = pass{i, len(files)}
		b.mu.Unlock()
		key := [2]string{f.dataset, f.path}
		entry, there := known[key]
		delete(known, key)
		if there && entry.mark == f.mark && !entry.again(first) {
			continue
		}
		if there && !entry.again(first) && b.unchanged(f, entry) {
			if err := b.index.touch(ctx, f); err != nil {
				return err
			}
			continue
		}
		if err := b.take(ctx, f, told); err != nil {
			return err
		}
		changed++
		if time.Since(shown) > 5*time.Second {
			shown = time.Now()
			b.cfg.Log.Info("indexing knowledge", "done", i+1, "of", len(files))
		}
	}
	for key := range known {
		if err := b.index.remove(ctx, key[0], key[1]); err != nil {
			return err
		}
		changed++
	}
	if changed > 0 || first {
		documents, passages, err := b.index.size(ctx)
		if err != nil {
			return err
		}
		b.cfg.Log.Info("knowledge is indexed", "documents", documents, "passages", passages, "changed", changed, "took", time.Since(began).Round(time.Millisecond))
	}
	return nil
}

// unchanged reports whether a file that could not be read has the same content as then. It is not
// read again.
func (b *Base) unchanged(f file, e indexed) bool {
	return e.failure != (document.Failure{}) && e.hash != "" && e.hash == b.hash(f)
}

// hash is that of a file's content, or "" when it cannot be read.
func (b *Base) hash(f file) string {
	in, err := b.root.Open(f.name)
	if err != nil {
		return ""
	}
	defer in.Close() // it was only read
	h := sha256.New()
	if _, err := io.Copy(h, in); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

// take puts a document into the index. One that cannot be read is logged once, has no passages, and
// is not read again until its content changes. One that could not be read for now is read again at
// the next look.
func (b *Base) take(ctx context.Context, f file, told map[string]string) error {
	err := b.indexFile(ctx, f)
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	if told[f.name] != f.mark {
		told[f.name] = f.mark
		b.cfg.Log.Warn("document was not indexed", "document", f.name, "err", err)
	}
	failed, ok := failureOf(err)
	if !ok {
		return nil
	}
	return b.index.fail(ctx, f, failed, b.hash(f))
}

// failureOf is what is stored about a document that cannot be read. ok is false when reading it may
// succeed later.
func failureOf(err error) (f document.Failure, ok bool) {
	var file *fs.PathError
	if errors.Is(err, document.ErrBusy) || errors.Is(err, errIndex) || errors.As(err, &file) {
		return f, false
	}
	if f, _ = document.FailureOf(err); f.Code == "" { // one of the tables and JSON that are read here
		f = document.Failure{Version: document.Version, Code: "damaged", Message: err.Error()}
	}
	return f, true
}

// indexFile reads a document and puts it into the index, passage by passage.
func (b *Base) indexFile(ctx context.Context, f file) error {
	if f.size > largest {
		return &sizeError{f.size}
	}
	if b.cfg.Reader != nil && isPlain(f.path) {
		release, err := b.cfg.Reader.Reserve(ctx, 2*f.size+16<<20)
		if err != nil {
			return err
		}
		defer release()
	}
	d, err := b.parse(ctx, f.path, document.Source{
		Name: f.path, Size: f.size, Open: func(context.Context) (io.ReadCloser, error) { return b.root.Open(f.name) },
	})
	if err != nil {
		return err
	}
	if d.meta, err = b.sideMeta(f, d.meta); err != nil {
		return err
	}
	return b.index.put(ctx, f, d)
}

// sizeError is the error of a file that is too large to read.
type sizeError struct{ size int64 }

func (e *sizeError) Error() string {
	return fmt.Sprintf("it has %d bytes; at most %d are read", e.size, largest)
}

// content is what a file holds.
type content struct {
	meta     map[string]any
	passages iter.Seq2[passage, error] // ends after an error
}

// largestMeta is the size up to which a file of metadata is read, in bytes.
const largestMeta = 1 << 20

// sideMeta adds the metadata in the file beside a document.
func (b *Base) sideMeta(f file, meta map[string]any) (map[string]any, error) {
	in, err := b.root.Open(f.name + metaSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return meta, nil // most documents have none
	}
	if err != nil {
		return nil, err
	}
	defer in.Close() // it was only read
	side, err := io.ReadAll(io.LimitReader(in, largestMeta+1))
	if err != nil {
		return nil, err
	}
	if len(side) > largestMeta {
		return nil, fmt.Errorf("%s: it has more than %d bytes", f.name+metaSuffix, largestMeta)
	}
	more := map[string]any{}
	if err := json.Unmarshal(side, &more); err != nil {
		return nil, fmt.Errorf("%s: %w", f.name+metaSuffix, err)
	}
	if meta == nil {
		return more, nil
	}
	maps.Copy(meta, more)
	return meta, nil
}
