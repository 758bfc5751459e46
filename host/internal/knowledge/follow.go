package knowledge

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
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
			return nil // links lead to what nobody chose
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
	extension := strings.ToLower(path.Ext(name))
	return slices.Contains(plainTypes, extension) || b.cfg.Reader != nil && slices.Contains(otherTypes, extension)
}

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
		mark, there := known[key]
		delete(known, key)
		if there && mark == f.mark {
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

// take puts a document into the index. One that cannot be read is told of and leaves no passages.
func (b *Base) take(ctx context.Context, f file, told map[string]string) error {
	d, err := b.read(ctx, f)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		if told[f.name] != f.mark {
			told[f.name] = f.mark
			b.cfg.Log.Warn("document was not indexed", "document", f.name, "err", err)
		}
		d = document{}
	}
	return b.index.put(ctx, f, d)
}

// document is what a file holds.
type document struct {
	meta     map[string]any
	passages []passage
}

func (b *Base) read(ctx context.Context, f file) (document, error) {
	if f.size > largest {
		return document{}, fmt.Errorf("it has %d bytes; at most %d are read", f.size, largest)
	}
	data, err := b.root.ReadFile(f.name)
	if err != nil {
		return document{}, err
	}
	d, err := b.parse(ctx, f.path, data)
	if err != nil {
		return d, err
	}
	side, err := b.root.ReadFile(f.name + metaSuffix)
	if err != nil {
		return d, nil // most documents have none
	}
	more := map[string]any{}
	if err := json.Unmarshal(side, &more); err != nil {
		return d, fmt.Errorf("%s: %w", f.name+metaSuffix, err)
	}
	if d.meta == nil {
		d.meta = more
	}
	for k, v := range more {
		d.meta[k] = v
	}
	return d, nil
}
