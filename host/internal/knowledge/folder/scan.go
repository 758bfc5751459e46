package folder

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// file is a document in the folder.
type file struct {
	dataset, path string // the dataset's key, and the path inside it
	name          string // inside the root
	mark          string // changes with the file
	size          int64
	modified      time.Time
}

// pictures are documents when Config.Images is set.
var pictures = []string{".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff"}

// metaSuffix ends the name of a file with a document's metadata.
const metaSuffix = ".meta.json"

func (f *Folder) accepts(name string) bool {
	extension := strings.ToLower(path.Ext(name))
	return slices.Contains(document.Extensions, extension) || f.cfg.Images && slices.Contains(pictures, extension)
}

// listing is the result of a scan before documents are read.
type listing struct {
	files    []file
	datasets map[string]time.Time // key, and when the folder was changed
}

// list walks the folder.
func (f *Folder) list(ctx context.Context) (*listing, error) {
	out := &listing{datasets: map[string]time.Time{}}
	metas := map[string]string{}
	err := fs.WalkDir(f.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && name == ".":
			return err
		case err != nil:
			f.cfg.Logger.Warn("folder cannot be read", "folder", name, "err", err)
			return nil
		case name != "." && strings.HasPrefix(path.Base(name), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil // deleted since the folder was read
		}
		if d.IsDir() {
			if key, ok := datasetOf(name); ok {
				out.datasets[key] = info.ModTime()
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil // links lead out of the folder
		}
		mark := markOf(info)
		if of, ok := strings.CutSuffix(name, metaSuffix); ok {
			metas[of] = mark
			return nil
		}
		if f.accepts(name) {
			v := file{name: name, mark: mark, size: info.Size(), modified: info.ModTime()}
			v.dataset, v.path = placeOf(name)
			if _, known := out.datasets[v.dataset]; !known { // right inside the root, or inside @ID
				out.datasets[v.dataset] = info.ModTime()
			}
			out.files = append(out.files, v)
		}
		return nil
	})
	for i := range out.files {
		if m := metas[out.files[i].name]; m != "" {
			out.files[i].mark += " " + m
		}
	}
	return out, err
}

// markOf distinguishes the versions of a file.
func markOf(info fs.FileInfo) string { return fmt.Sprint(info.ModTime().UnixNano(), " ", info.Size()) }

// mark returns the mark that a scan would find now; "" if the file cannot be read.
func (f *Folder) mark(v *file) string {
	info, err := f.root.Lstat(v.name)
	if err != nil {
		return ""
	}
	mark := markOf(info)
	if info, err = f.root.Lstat(v.name + metaSuffix); err == nil && info.Mode().IsRegular() {
		mark += " " + markOf(info)
	}
	return mark
}

// watch synchronizes the datasets with the folder until ctx ends.
func (f *Folder) watch(ctx context.Context) {
	var last string // error that was logged
	for first := true; ; first = false {
		began := time.Now()
		err := f.scan(ctx, first)
		if ctx.Err() != nil {
			return
		}
		if now := fmt.Sprint(err); err != nil && now != last {
			last = now
			f.cfg.Logger.Error("knowledge folder was not indexed, retrying", "folder", f.cfg.Root, "err", err)
		}
		if first {
			close(f.ready)
		}
		if f.cfg.Poll < 0 {
			return
		}
		// A large folder takes long to scan, and is scanned less often.
		select {
		case <-time.After(max(f.cfg.Poll, 20*time.Since(began))):
		case <-ctx.Done():
			return
		}
	}
}

// scan reads the changes since the last scan. first marks the one after a start.
func (f *Folder) scan(ctx context.Context, first bool) error {
	list, err := f.list(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	changed, err := f.plan(ctx, list, first)
	if err != nil {
		return err
	}
	gone, err := f.removeOthers(ctx, list)
	if err != nil {
		return err
	}
	f.mu.Lock()
	f.scanned, f.listed = len(list.files)-len(changed), len(list.files)
	f.mu.Unlock()
	if err := f.takeAll(ctx, changed); err != nil {
		f.wait(changed, err)
		return err
	}
	if len(changed)+gone > 0 || first {
		documents, chunks := f.count()
		f.cfg.Logger.Info("knowledge is indexed", "documents", documents, "chunks", chunks,
			"changed", len(changed)+gone, "took", time.Since(began).Round(time.Millisecond))
	}
	return nil
}

// wait queues the documents that an error kept from the index, with the reason.
func (f *Folder) wait(changed []file, err error) {
	for i := range changed {
		f.update(&changed[i], func(d *dataset.Document) {
			if d.State == dataset.Queued || d.State == dataset.Running {
				d.State, d.Progress, d.Messages = dataset.Queued, 0, line("[ERROR] %v", err)
			}
		})
	}
}

// takeAll takes documents in, several at once: one is read and cut while the index takes another.
// The first error ends it.
func (f *Folder) takeAll(parent context.Context, changed []file) error {
	ctx, stop := context.WithCancelCause(parent)
	defer stop(nil)
	if f.cfg.Full != nil && len(changed) > 0 {
		if err := f.cfg.Full(ctx); err != nil {
			return err
		}
	}
	next := make(chan *file)
	var workers sync.WaitGroup
	for range min(f.cfg.Workers, len(changed)) {
		workers.Go(func() {
			for v := range next {
				if err := f.take(ctx, v); err != nil {
					stop(err)
					return
				}
				f.mu.Lock()
				f.scanned++
				f.mu.Unlock()
			}
		})
	}
	shown := time.Now()
	for i := range changed {
		select {
		case next <- &changed[i]:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		if time.Since(shown) > 5*time.Second {
			shown = time.Now()
			f.cfg.Logger.Info("indexing knowledge", "done", i, "of", len(changed))
		}
	}
	close(next)
	workers.Wait()
	return context.Cause(ctx)
}

// plan queues the documents that are new or have changed, and returns their files.
func (f *Folder) plan(ctx context.Context, list *listing, first bool) (changed []file, err error) {
	for key := range list.datasets {
		if err := f.ensure(ctx, key, list.datasets[key]); err != nil {
			return nil, err
		}
	}
	for _, v := range list.files {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		r, known := f.records.get(v.dataset, v.path)
		switch {
		case !known, r.again(first), r.Mark != v.mark && !f.unchanged(&v, r):
			changed = append(changed, v)
			f.update(&v, func(d *dataset.Document) { d.State, d.Progress = dataset.Queued, 0 })
		case r.Mark != v.mark:
			r.Mark = v.mark
			if err := f.records.put(ctx, r); err != nil {
				return nil, err
			}
		}
	}
	return changed, nil
}

// removeOthers removes documents and datasets that are not in the folder any more.
func (f *Folder) removeOthers(ctx context.Context, list *listing) (n int, err error) {
	there := map[[2]string]bool{}
	for _, v := range list.files {
		there[[2]string{v.dataset, v.path}] = true
	}
	for _, r := range f.records.all() {
		if there[[2]string{r.Dataset, r.Path}] {
			continue
		}
		if err := f.remove(ctx, r); err != nil {
			return n, err
		}
		n++
	}
	for _, key := range f.keys() {
		if _, there := list.datasets[key]; there {
			continue
		}
		if err := f.index.Drop(ctx, key); err != nil {
			return n, err
		}
		f.mu.Lock()
		delete(f.byID, f.datasets[key].id)
		delete(f.datasets, key)
		f.mu.Unlock()
	}
	return n, nil
}
