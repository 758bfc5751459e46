package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/host/internal/knowledge/folder"
	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/store"
)

// watched are the datasets of the watched folder; none without one.
type watched struct{ folder *folder.Folder }

// get returns a dataset; ok is false when the principal sees none of this id.
func (w watched) get(p Principal, id string) (v dataset.Dataset, ok bool) {
	if w.folder == nil {
		return v, false
	}
	return w.folder.Dataset(p.Tenant, id)
}

// key returns the key of a dataset in the index of the folder; ok is false when the principal sees
// none of this id.
func (w watched) key(p Principal, id string) (key string, ok bool) {
	if w.folder == nil {
		return "", false
	}
	return w.folder.Key(p.Tenant, id)
}

// readOnly refuses to change a dataset of the watched folder.
func readOnly(v *dataset.Dataset) error {
	return &Error{
		CodeForbidden, fmt.Sprintf("dataset %q is a folder of this host: it changes with its files only", v.Name),
		"dataset",
	}
}

// Resolve returns the datasets that a name or an id means: one, or those of the watched folder that
// have this name. Errors: [ErrNotFound], whose message names the datasets that there are.
func (d *Datasets) Resolve(ctx context.Context, p Principal, name string) ([]dataset.Dataset, error) {
	v, err := d.Get(ctx, p, name)
	if !errors.Is(err, ErrNotFound) {
		return []dataset.Dataset{v}, err
	}
	f := store.DatasetFilter{Viewer: p.Viewer(), Name: name}
	list, _, err := d.store.Datasets.List(ctx, f, store.Page{})
	if err != nil {
		return nil, err
	}
	if len(list) > 0 {
		// Names are unique among what one member may use until others share theirs.
		own := slices.IndexFunc(list, func(v store.Dataset) bool { return v.CreatedBy == p.User })
		return []dataset.Dataset{list[max(own, 0)].Dataset}, nil
	}
	if d.watched.folder != nil {
		if err := d.watched.folder.Await(ctx); err != nil {
			return nil, err // the names are not all known yet
		}
		found := d.watched.list(p, &DatasetList{Name: name})
		if len(found) > 0 || name == "." {
			return found, nil
		}
	}
	return nil, d.unknown(ctx, p, name)
}

// namedDatasets bounds the datasets that an error names.
const namedDatasets = 20

// unknown is the error of a dataset that does not exist.
func (d *Datasets) unknown(ctx context.Context, p Principal, name string) error {
	list, total, err := d.List(ctx, p, DatasetList{Size: namedDatasets})
	if err != nil {
		return err
	}
	if total == 0 {
		return Refuse(CodeNotFound, "dataset %q does not exist; there are no datasets", name)
	}
	known := make([]string, len(list))
	for i := range list {
		known[i] = list[i].Name
	}
	slices.Sort(known)
	known = slices.Compact(known)
	if total > len(list) {
		known = append(known, fmt.Sprintf("%d more", total-len(list)))
	}
	return Refuse(CodeNotFound, "dataset %q does not exist; there are %s", name, strings.Join(known, ", "))
}

// list returns the datasets that match q, in its order.
func (w watched) list(p Principal, q *DatasetList) []dataset.Dataset {
	if w.folder == nil {
		return nil
	}
	list := slices.DeleteFunc(w.folder.Datasets(p.Tenant), func(v dataset.Dataset) bool {
		return q.ID != "" && v.ID != q.ID || q.IDs != nil && !slices.Contains(q.IDs, v.ID) ||
			q.Name != "" && !strings.EqualFold(v.Name, q.Name) ||
			!strings.Contains(strings.ToLower(v.Name), strings.ToLower(q.Words))
	})
	slices.SortStableFunc(list, q.compare)
	return list
}

// compare orders datasets by the order of the list.
func (q *DatasetList) compare(a, b dataset.Dataset) int {
	order := cmp.Compare(b.Created, a.Created)
	if q.OrderBy == "update_time" {
		order = cmp.Compare(b.Updated, a.Updated)
	}
	if q.Ascending {
		return -order
	}
	return order
}

// merged is a page of the datasets of the records and those of the watched folder.
func (d *Datasets) merged(
	ctx context.Context, f store.DatasetFilter, q *DatasetList, others []dataset.Dataset,
) ([]dataset.Dataset, int, error) {
	page := pageOf(q.Page, q.Size, q.OrderBy, q.Ascending)
	// A page has no row of the records before this one: only others can stand before them.
	wide := page
	wide.Offset = max(0, page.Offset-len(others))
	if page.Limit > 0 {
		wide.Limit = page.Offset + page.Limit - wide.Offset
	}
	rows, total, err := d.store.Datasets.List(ctx, f, wide)
	if err != nil {
		return nil, 0, err
	}
	list := make([]dataset.Dataset, 0, len(rows)+len(others))
	for i := range rows {
		list = append(list, rows[i].Dataset)
	}
	// Others before the first row that was read are on former pages, or it is the very first row.
	at := wide.Offset
	for _, v := range others {
		if wide.Offset > 0 && len(rows) > 0 && q.compare(v, list[0]) < 0 {
			at++
			continue
		}
		list = append(list, v)
	}
	slices.SortStableFunc(list, q.compare)
	list = list[min(max(0, page.Offset-at), len(list)):]
	if page.Limit > 0 {
		list = list[:min(page.Limit, len(list))]
	}
	return list, total + len(others), nil
}

// documents is a page of the documents of a dataset.
func (w watched) documents(p Principal, id string, q *DocumentList) ([]dataset.Document, int, error) {
	list := slices.DeleteFunc(w.folder.Documents(p.Tenant, id), func(v dataset.Document) bool { return !q.matches(&v) })
	if q.Filter != nil && len(q.Filter.Conditions) > 0 {
		labels := make([]store.DocumentLabel, len(list))
		for i := range list {
			labels[i] = store.DocumentLabel{ID: list[i].ID, Meta: list[i].Meta}
		}
		ids, err := fitting(labels, q.Filter)
		if err != nil {
			return nil, 0, err
		}
		fit := map[string]bool{}
		for _, id := range ids {
			fit[id] = true
		}
		list = slices.DeleteFunc(list, func(v dataset.Document) bool { return !fit[v.ID] })
	}
	slices.SortStableFunc(list, func(a, b dataset.Document) int {
		order := cmp.Compare(b.Created, a.Created)
		switch q.OrderBy {
		case "update_time":
			order = cmp.Compare(b.Updated, a.Updated)
		case "name":
			order = strings.Compare(b.Name, a.Name)
		}
		if q.Ascending {
			return -order
		}
		return order
	})
	total := len(list)
	page := pageOf(q.Page, q.Size, q.OrderBy, q.Ascending)
	list = list[min(page.Offset, total):]
	if page.Limit > 0 {
		list = list[:min(page.Limit, len(list))]
	}
	return list, total, nil
}

// matches reports whether a document matches the list, apart from its filter of metadata.
func (q *DocumentList) matches(v *dataset.Document) bool {
	return (q.ID == "" || v.ID == q.ID) && (q.Name == "" || v.Name == q.Name) &&
		strings.Contains(strings.ToLower(v.Name), strings.ToLower(q.Words)) &&
		(len(q.Suffixes) == 0 || slices.Contains(q.Suffixes, suffixOf(v.Name))) &&
		(len(q.States) == 0 || slices.Contains(q.States, v.State)) &&
		(q.From == 0 || v.Created >= q.From) && (q.To == 0 || v.Created <= q.To)
}

// document returns a document; ok is false when its dataset is none of the folder.
func (w watched) document(p Principal, id, document string) (v dataset.Document, ok bool, err error) {
	if _, ok := w.get(p, id); !ok {
		return v, false, nil
	}
	for _, v := range w.folder.Documents(p.Tenant, id) {
		if v.ID == document {
			return v, true, nil
		}
	}
	return v, true, Missing(fmt.Sprintf("document %q", document))
}

// open reads the file of a document.
func (w watched) open(p Principal, id string, v dataset.Document) (io.ReadCloser, dataset.Document, error) {
	r, err := w.folder.Open(p.Tenant, id, v.ID)
	if err != nil {
		err = missing(fmt.Errorf("%w: %w", ErrNotFound, err), fmt.Sprintf("file of document %q", v.ID))
	}
	return r, v, err
}

// countValues counts documents by the values of their metadata.
func countValues(documents []dataset.Document, only []string) map[string]map[string]int {
	out := map[string]map[string]int{}
	for i := range documents {
		if len(only) > 0 && !slices.Contains(only, documents[i].ID) {
			continue
		}
		for key, v := range documents[i].Meta {
			for _, value := range index.MetaValues(v) {
				if out[key] == nil {
					out[key] = map[string]int{}
				}
				out[key][value]++
			}
		}
	}
	return out
}
