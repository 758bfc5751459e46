package folder

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/host/internal/knowledge/follow"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// Changes are the changes of documents of a folder, for those who follow its datasets. The caller
// checks who sees a dataset.
type Changes struct{ folder *Folder }

var _ follow.Source = Changes{}

// Changes returns the changes of documents.
func (f *Folder) Changes() Changes { return Changes{f} }

// Heads implements [follow.Source].
func (c Changes) Heads(_ context.Context, ids []string) (map[string]dataset.Head, error) {
	f := c.folder
	f.mu.RLock()
	defer f.mu.RUnlock()
	out := make(map[string]dataset.Head, len(ids))
	for _, id := range ids {
		if d := f.byID[id]; d != nil {
			out[id] = dataset.Head{ID: id, Team: true, Changes: d.changes}
		}
	}
	return out, nil
}

// Dataset implements [follow.Source].
func (c Changes) Dataset(_ context.Context, id string) (v dataset.Dataset, err error) {
	f := c.folder
	f.mu.RLock()
	defer f.mu.RUnlock()
	d := f.byID[id]
	if d == nil {
		return v, follow.ErrGone
	}
	return f.view(d), nil
}

// After implements [follow.Source].
func (c Changes) After(
	_ context.Context, id string, seq int64, document string, limit int,
) ([]dataset.Change, error) {
	list := c.list(id, func(v dataset.Change) bool { return v.Seq > seq || v.Seq == seq && v.ID > document })
	slices.SortFunc(list, func(a, b dataset.Change) int { return cmp.Compare(a.Seq, b.Seq) })
	return list[:min(limit, len(list))], nil
}

// UnderWay implements [follow.Source].
func (c Changes) UnderWay(
	_ context.Context, id string, created int64, document string, limit int,
) ([]dataset.Change, error) {
	newestFirst := func(a, b dataset.Change) int {
		return cmp.Or(cmp.Compare(b.Created, a.Created), strings.Compare(b.ID, a.ID))
	}
	last := dataset.Change{Document: dataset.Document{ID: document, Created: created}}
	list := c.list(id, func(v dataset.Change) bool {
		return (v.State == dataset.Queued || v.State == dataset.Running) && (created == 0 || newestFirst(last, v) < 0)
	})
	slices.SortFunc(list, newestFirst)
	return list[:min(limit, len(list))], nil
}

// list returns the documents of a dataset that are asked for, in no order.
func (c Changes) list(id string, wanted func(dataset.Change) bool) (out []dataset.Change) {
	f := c.folder
	f.mu.RLock()
	defer f.mu.RUnlock()
	d := f.byID[id]
	if d == nil {
		return nil
	}
	for path, v := range d.documents {
		if one := (dataset.Change{Document: *v, Seq: d.numbers[path]}); wanted(one) {
			out = append(out, one)
		}
	}
	return out
}
