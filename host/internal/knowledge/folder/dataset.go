package folder

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/easel-canvas/easel/host/internal/knowledge/chunking"
	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// A dataset's key is its name, behind the folder of its tenant if it is private: "shop",
// "@4f2a/shop", "@4f2a/." for documents right inside that folder.

// tenantMark begins the name of a folder with the datasets of one tenant.
const tenantMark = "@"

// Source is the source of documents in a folder.
const Source = "folder"

// placeOf returns the dataset that a file belongs to, by its key, and the file's path in it.
func placeOf(name string) (key, file string) {
	key, file, below := strings.Cut(name, "/")
	if !below {
		return ".", name
	}
	if !strings.HasPrefix(key, tenantMark) {
		return key, file
	}
	inner, deeper, below := strings.Cut(file, "/")
	if !below {
		return key + "/.", file
	}
	return key + "/" + inner, deeper
}

// datasetOf returns the key of the dataset of a folder; ok is false for other folders.
func datasetOf(name string) (key string, ok bool) {
	depth := strings.Count(name, "/")
	if strings.HasPrefix(name, tenantMark) {
		return name, depth == 1
	}
	return name, depth == 0 && name != "."
}

// idOf returns the id of a dataset or a document: 32 hexadecimal digits in the form of a UUID of
// version 1, as all datasets have. It is the same on every host.
func idOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	id := sum[:16]
	id[6] = id[6]&0x0f | 0x10
	id[8] = id[8]&0x3f | 0x80
	return hex.EncodeToString(id)
}

// folderDataset is a dataset with its documents, by their paths.
type folderDataset struct {
	id, key   string
	modified  time.Time
	documents map[string]*dataset.Document
	changes   int64            // that documents had
	numbers   map[string]int64 // of the last change of a document, by its path
}

// add adds a dataset without documents. The caller holds mu, or is alone.
func (f *Folder) add(key string) *folderDataset {
	d := &folderDataset{
		id: idOf(key), key: key, documents: map[string]*dataset.Document{}, numbers: map[string]int64{},
	}
	f.datasets[key], f.byID[d.id] = d, d
	return d
}

// name returns the name of the dataset for its tenants.
func (d *folderDataset) name() string { return path.Base(d.key) }

// seenBy reports whether a tenant has the dataset.
func (d *folderDataset) seenBy(tenant string) bool {
	own, _, private := strings.Cut(d.key, "/")
	return !private || tenant != "" && own == tenantMark+tenant
}

// ensure makes a dataset.
func (f *Folder) ensure(ctx context.Context, key string, modified time.Time) error {
	f.mu.Lock()
	d := f.datasets[key]
	if d != nil && d.modified.Equal(modified) {
		f.mu.Unlock()
		return nil
	}
	if d == nil {
		d = f.add(key)
	}
	d.modified = modified
	f.mu.Unlock()
	return f.index.Create(ctx, key, index.Settings{}.Normal())
}

// restore fills the datasets from the records, before the first scan.
func (f *Folder) restore() {
	for _, r := range f.records.all() {
		d := f.datasets[r.Dataset]
		if d == nil {
			d = f.add(r.Dataset)
		}
		d.documents[r.Path] = r.document()
	}
}

// update changes a document as callers see it, which is made when it is new.
func (f *Folder) update(v *file, change func(*dataset.Document)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	set := f.datasets[v.dataset]
	if set == nil {
		return // its folder is gone
	}
	d := &dataset.Document{
		ID: idOf(v.dataset, v.path), Dataset: idOf(v.dataset), Name: v.path, Kind: kindOf(v.path), Source: Source,
		Method: chunking.Structure,
	}
	if old := set.documents[v.path]; old != nil {
		*d = *old // callers may hold the former one
	}
	d.Size, d.Created, d.Updated = v.size, v.modified.UnixMilli(), time.Now().UnixMilli()
	change(d)
	set.documents[v.path] = d
	set.changes++
	set.numbers[v.path] = set.changes
}

// kindOf returns the kind of a document, as for uploaded ones.
func kindOf(name string) string {
	switch extension := strings.ToLower(path.Ext(name)); {
	case extension == ".pdf":
		return "pdf"
	case slices.Contains(pictures, extension):
		return "visual"
	}
	return "doc"
}

func (f *Folder) keys() []string {
	f.mu.RLock()
	defer f.mu.RUnlock()
	keys := make([]string, 0, len(f.datasets))
	for key := range f.datasets {
		keys = append(keys, key)
	}
	return keys
}

// count counts the indexed documents and chunks.
func (f *Folder) count() (documents, chunks int) {
	for _, r := range f.records.all() {
		if r.Failure.Code == "" {
			documents++
			chunks += r.Chunks
		}
	}
	return documents, chunks
}

// Datasets lists the datasets that a tenant sees, by name. A private dataset replaces a shared one
// with the same name, except for the documents right inside the folders.
func (f *Folder) Datasets(tenant string) []dataset.Dataset {
	f.mu.RLock()
	defer f.mu.RUnlock()
	var out []dataset.Dataset
	for _, d := range f.datasets {
		if f.visible(d, tenant) {
			out = append(out, f.view(d))
		}
	}
	slices.SortFunc(out, func(a, b dataset.Dataset) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	return out
}

// visible reports whether a tenant sees a dataset.
func (f *Folder) visible(d *folderDataset, tenant string) bool {
	if !d.seenBy(tenant) {
		return false
	}
	private := strings.HasPrefix(d.key, tenantMark)
	return private || d.key == "." || tenant == "" || f.datasets[tenantMark+tenant+"/"+d.key] == nil
}

// view returns a dataset as callers see it.
func (f *Folder) view(d *folderDataset) dataset.Dataset {
	out := dataset.Dataset{
		ID: d.id, Name: d.name(), Description: "Documents of a folder of this host", EmbeddingModel: f.cfg.Model,
		Team: true, Method: chunking.Structure, ReadOnly: true, Documents: len(d.documents),
		Created: d.modified.UnixMilli(), Updated: d.modified.UnixMilli(),
	}
	for _, doc := range d.documents {
		out.Chunks += doc.Chunks
		out.Tokens += doc.Tokens
		out.Updated = max(out.Updated, doc.Updated)
	}
	return out
}

// find returns a dataset that a tenant sees by its id.
func (f *Folder) find(tenant, id string) *folderDataset {
	if d := f.byID[id]; d != nil && f.visible(d, tenant) {
		return d
	}
	return nil
}

// Dataset returns a dataset by its id; ok is false when the tenant sees none.
func (f *Folder) Dataset(tenant, id string) (v dataset.Dataset, ok bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	d := f.find(tenant, id)
	if d == nil {
		return v, false
	}
	return f.view(d), true
}

// Key returns the key of a dataset in [Folder.Index]; ok is false when the tenant sees none.
func (f *Folder) Key(tenant, id string) (key string, ok bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	d := f.find(tenant, id)
	if d == nil {
		return "", false
	}
	return d.key, true
}

// Documents lists the documents of a dataset that the tenant sees, by name.
func (f *Folder) Documents(tenant, id string) []dataset.Document {
	f.mu.RLock()
	defer f.mu.RUnlock()
	d := f.find(tenant, id)
	if d == nil {
		return nil
	}
	out := make([]dataset.Document, 0, len(d.documents))
	for _, doc := range d.documents {
		out = append(out, *doc)
	}
	slices.SortFunc(out, func(a, b dataset.Document) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Open reads the file of a document. Errors: [fs.ErrNotExist].
func (f *Folder) Open(tenant, id, document string) (io.ReadCloser, error) {
	key, ok := f.Key(tenant, id)
	if !ok {
		return nil, fs.ErrNotExist
	}
	for _, d := range f.Documents(tenant, id) {
		if d.ID == document {
			return f.root.Open(nameOf(key, d.Name))
		}
	}
	return nil, fs.ErrNotExist
}

// nameOf returns the name of a file inside the root.
func nameOf(key, file string) string {
	if path.Base(key) == "." {
		return path.Join(path.Dir(key), file)
	}
	return path.Join(key, file)
}
