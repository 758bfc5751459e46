package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/easel-canvas/easel/host/internal/knowledge/chunkfile"
	"github.com/easel-canvas/easel/host/internal/knowledge/chunking"
	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/ingest"
	"github.com/easel-canvas/easel/host/internal/knowledge/replica"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/store"
)

// ChunkList selects chunks of a document; empty fields match all.
type ChunkList struct {
	ID    string
	Words string // stands in the content, whatever the case of letters
	// Search, unless empty, leaves out chunks without any of its words in their content, keywords
	// and questions. Contents come back with <em> and </em> around these words.
	Search  string
	IDs     []string
	Enabled *bool
	Page    int // from 1
	Size    int // 0 means 30, a negative value all
}

// Chunks returns a page of the chunks of a document in their order, and the number of all that
// match. Errors: [ErrNotFound].
func (d *Datasets) Chunks(
	ctx context.Context, p Principal, id, document string, q ChunkList,
) ([]dataset.Chunk, int, error) {
	if v, ok, err := d.watched.document(p, id, document); ok {
		if err != nil {
			return nil, 0, err
		}
		key, _ := d.watched.folder.Key(p.Tenant, id)
		list, total, err := listChunks(ctx, d.watched.folder.Index(), key, &v, &q, nil)
		if errors.Is(err, ErrNotFound) && v.State != dataset.Done {
			return []dataset.Chunk{}, 0, nil // not read yet, or it cannot be read
		}
		return list, total, err
	}
	v, err := d.document(ctx, p, id, document)
	if err != nil {
		return nil, 0, err
	}
	for try := 1; ; try++ {
		synced, err := d.replica.Sync(ctx, id)
		if err != nil {
			return nil, 0, err
		}
		if synced.Key == "" {
			return nil, 0, synced.Behind
		}
		list, total, err := listChunks(ctx, d.replica.Index(), synced.Key, &v.Document, &q, d)
		switch {
		case errors.Is(err, index.ErrNoDataset) && try < searchTries:
			continue // its embedding model was changed, or it was deleted
		case synced.Behind != nil && errors.Is(err, ErrNotFound):
			err = synced.Behind // the document is not in the index yet
		}
		return list, total, err
	}
}

// listChunks is a page of the chunks of a document in an index, whose dataset has the key there.
// edited, unless nil, knows the places of chunks that were edited.
func listChunks(
	ctx context.Context, x index.Index, key string, v *dataset.Document, q *ChunkList, edited *Datasets,
) ([]dataset.Chunk, int, error) {
	page := pageOf(q.Page, q.Size, "", true)
	l := &index.List{
		Dataset: key, Document: v.ID, Offset: page.Offset, Limit: page.Limit, Words: q.Words, IDs: q.IDs,
		Enabled: q.Enabled,
	}
	if l.Limit == 0 {
		l.Limit = math.MaxInt32
	}
	if q.ID != "" {
		l.IDs = append(slices.Clip(l.IDs), q.ID)
	}
	marked, err := foundChunks(ctx, x, l, q.Search)
	if err != nil {
		return nil, 0, err
	}
	var at *places
	if edited != nil && q.ID == "" {
		if at, err = placesOf(ctx, edited, key, v.ID); err != nil {
			return nil, 0, err
		}
	}
	list, err := at.page(ctx, x, l)
	if errors.Is(err, index.ErrNoDocument) {
		return nil, 0, missing(ErrNotFound, fmt.Sprintf("document %q", v.ID)) // deleted since it was read
	}
	if err != nil {
		return nil, 0, err
	}
	out := make([]dataset.Chunk, len(list.Chunks))
	for i := range list.Chunks {
		if out[i], err = replica.Chunk(&list.Chunks[i]); err != nil {
			return nil, 0, err
		}
		out[i].Dataset, out[i].Document, out[i].Name = v.Dataset, v.ID, v.Name
		if content, ok := marked[out[i].ID]; ok {
			out[i].Content = content
		}
	}
	return out, list.Total, nil
}

// foundChunks restricts a list to the chunks in which a word of a search stands, and returns their
// contents with these words marked, by the ids of the chunks. The document's name does not count.
func foundChunks(ctx context.Context, x index.Index, l *index.List, words string) (map[string]string, error) {
	if words == "" {
		return nil, nil
	}
	found, err := x.Search(ctx, &index.Query{
		Datasets: []string{l.Dataset}, Documents: []string{l.Document}, Text: words, Hidden: true, Highlight: true,
		Limit: index.MostCandidates,
	})
	if err != nil {
		return nil, err
	}
	marked := make(map[string]string, len(found.Hits))
	for i := range found.Hits {
		if h := &found.Hits[i]; !h.NameOnly && (l.IDs == nil || slices.Contains(l.IDs, h.Chunk.ID)) {
			marked[h.Chunk.ID] = h.Highlight
		}
	}
	l.IDs = slices.AppendSeq(make([]string, 0, len(marked)), maps.Keys(marked))
	return marked, nil
}

// chunk returns a chunk of a document; ok is false if it does not exist.
func (d *Datasets) chunk(
	ctx context.Context, key string, v *store.Document, id string,
) (c dataset.Chunk, ok bool, err error) {
	list, err := d.replica.Index().Chunks(ctx, &index.List{Dataset: key, Document: v.ID, IDs: []string{id}, Limit: 1})
	if err != nil || len(list.Chunks) == 0 {
		return c, false, err
	}
	c, err = replica.Chunk(&list.Chunks[0])
	c.Dataset, c.Document, c.Name = v.Dataset, v.ID, v.Name
	return c, true, err
}

// edit makes the edits of chunks from a document as it is. all marks a change of all chunks.
type edit func(v *store.Document, key string) (edits []store.ChunkEdit, all bool, err error)

// editTries bounds the attempts of an edit whose document others change.
const editTries = 100

// editChunks reads a document, makes edits of it and stores them, again when it was changed by
// others.
func (d *Datasets) editChunks(ctx context.Context, p Principal, id, document string, f edit) (store.Document, error) {
	for try := 1; ; try++ {
		synced, err := d.replica.Sync(ctx, id)
		if err != nil {
			return store.Document{}, missing(err, fmt.Sprintf("dataset %q", id))
		}
		if synced.Behind != nil {
			return store.Document{}, synced.Behind
		}
		v, err := d.store.Documents.Get(ctx, p.Tenant, id, document)
		if err != nil {
			return v, missing(err, fmt.Sprintf("document %q", document))
		}
		if !mayRead(p, &synced.Dataset, &v) {
			return store.Document{}, missing(ErrNotFound, fmt.Sprintf("document %q", document))
		}
		if v.Seq > synced.Seq {
			continue // it has changed since; the index does not have that yet
		}
		edits, all, err := f(&v, synced.Key)
		if err != nil || len(edits) == 0 && !all {
			return v, err
		}
		stored, err := d.store.Documents.EditChunks(ctx, v, edits, all)
		if errors.Is(err, ErrConflict) && try < editTries {
			// Those who change the same document at the same time get out of step.
			select {
			case <-time.After(rand.N(min(time.Duration(try), 20) * time.Millisecond)):
				continue
			case <-ctx.Done():
				return v, ctx.Err()
			}
		}
		if err == nil {
			_, err = d.replica.Sync(ctx, id)
		}
		return stored, err
	}
}

// AddChunk adds a chunk to a document by hand. One with the same content is changed. Errors:
// [ErrNotFound], [ErrQuota], those of [Error] and of the embedding model.
func (d *Datasets) AddChunk(
	ctx context.Context, p Principal, id, document string, c dataset.Chunk,
) (dataset.Chunk, error) {
	return d.addChunk(ctx, p, id, document, c, false)
}

// CountedChunks adds chunks for clients of RAGFlow.
type CountedChunks struct{ *Datasets }

// Add is [Datasets.AddChunk], but the chunk count of the document rises with each call, also when
// the document has the chunk. The next parse or deletion of chunks counts them again.
func (d CountedChunks) Add(
	ctx context.Context, p Principal, id, document string, c dataset.Chunk,
) (dataset.Chunk, error) {
	return d.addChunk(ctx, p, id, document, c, true)
}

func (d *Datasets) addChunk(
	ctx context.Context, p Principal, id, document string, c dataset.Chunk, counted bool,
) (dataset.Chunk, error) {
	if err := checkChunk(&c); err != nil {
		return dataset.Chunk{}, err
	}
	if _, err := d.get(ctx, p, id); err != nil {
		return dataset.Chunk{}, err
	}
	if err := spareChunk(ctx, d, p); err != nil {
		return dataset.Chunk{}, err
	}
	c.ID = chunkfile.ID(c.Content, document)
	c.Edited, c.Created = true, time.Now().UnixMilli()
	v, err := d.editChunks(ctx, p, id, document, func(v *store.Document, key string) ([]store.ChunkEdit, bool, error) {
		_, known, err := d.chunk(ctx, key, v, c.ID)
		if err != nil {
			return nil, false, err
		}
		e, err := d.written(ctx, v, c)
		if err != nil {
			return nil, false, err
		}
		if known { // it keeps its place
			at, err := placesIn(ctx, d, key, v)
			if err != nil {
				return nil, false, err
			}
			e.After, e.Moved = at.before(c.ID), true
		}
		var edits []store.ChunkEdit
		if !known {
			if edits, err = refollow(ctx, d, key, v, c.ID, ""); err != nil {
				return nil, false, err
			}
		}
		if !known || counted {
			v.Chunks++
		}
		if !known {
			v.Tokens += e.Tokens
		}
		return append(edits, e), false, nil
	})
	c.Dataset, c.Document, c.Name = id, document, v.Name
	return c, err
}

// spareChunk fails with [ErrQuota] if the datasets of a tenant may not have one more chunk.
func spareChunk(ctx context.Context, d *Datasets, p Principal) error {
	most := d.limits.Chunks
	if most <= 0 {
		return nil
	}
	use, err := d.store.Datasets.Use(ctx, p.Tenant)
	if err == nil && use.Chunks >= most {
		err = fmt.Errorf("%w: the datasets have %d chunks, at most %d are allowed", ErrQuota, use.Chunks, most)
	}
	return err
}

// checkChunk checks what a caller wrote into a chunk.
func checkChunk(c *dataset.Chunk) error {
	if strings.TrimSpace(c.Content) == "" {
		return &Error{CodeBadArgument, "content must not be blank", "content"}
	}
	for _, at := range c.Positions {
		if len(at) != 5 {
			return &Error{CodeBadArgument, "a position must be page, left, right, top and bottom", "positions"}
		}
	}
	return nil
}

// written is the edit that stores a chunk, with its vector.
func (d *Datasets) written(ctx context.Context, v *store.Document, c dataset.Chunk) (store.ChunkEdit, error) {
	e := store.ChunkEdit{Chunk: c.ID, Put: &c, Tokens: chunking.Count(c.Content)}
	if c.Disabled {
		e.Disabled = &c.Disabled
	}
	ds, err := d.store.Datasets.Any(ctx, v.Dataset)
	if err != nil {
		return e, err
	}
	e.Model, e.NextModel = ds.Model, ds.EmbeddingModel
	if e.Vector, err = d.vector(ctx, v, &c, e.Model); err == nil && e.NextModel != e.Model {
		e.NextVector, err = d.vector(ctx, v, &c, e.NextModel)
	}
	return e, err
}

// vector returns the stored form of a chunk's vector; nil without a model.
func (d *Datasets) vector(ctx context.Context, v *store.Document, c *dataset.Chunk, name string) ([]byte, error) {
	if name == "" {
		return nil, nil
	}
	model, err := d.models.Embedder(ctx, v.Tenant, name)
	if err != nil {
		return nil, err
	}
	vectors, err := model.Embed(ctx, []string{v.Name, ingest.Embedded(c.Content, "", c.Questions)})
	if err != nil {
		return nil, err
	}
	mixed, err := ingest.Mix(vectors[0], vectors[1])
	return chunkfile.AppendVector(nil, mixed), err
}

// ChunkPatch changes a chunk; nil fields stay.
type ChunkPatch struct {
	Content   *string
	Keywords  *[]string
	Questions *[]string
	Tags      *[]string
	Enabled   *bool
	Image     *string
	Positions *[][]float64
	// Check, unless nil, may refuse the change of the chunk as it is now.
	Check func(c *dataset.Chunk) error
}

// writes reports whether the patch changes more than whether a chunk is enabled.
func (q *ChunkPatch) writes() bool {
	return q.Content != nil || q.Keywords != nil || q.Questions != nil || q.Tags != nil || q.Image != nil ||
		q.Positions != nil
}

// UpdateChunk changes a chunk; its id stays. A chunk whose text was changed is kept when the
// document is parsed again. Errors: [ErrNotFound], those of [Error] and of the embedding model.
func (d *Datasets) UpdateChunk(ctx context.Context, p Principal, id, document, chunk string, patch ChunkPatch) error {
	if _, err := d.document(ctx, p, id, document); err != nil {
		return err
	}
	_, err := d.editChunks(ctx, p, id, document, func(v *store.Document, key string) ([]store.ChunkEdit, bool, error) {
		_, e, err := patchedBy(ctx, d, v, key, chunk, &patch)
		return []store.ChunkEdit{e}, false, err
	})
	return err
}

// patched is the edit that a patch makes of a chunk behind another one, and its former edit.
func (d *Datasets) patched(
	ctx context.Context, v *store.Document, old []store.ChunkEdit, c dataset.Chunk, patch *ChunkPatch,
	before string,
) (store.ChunkEdit, error) {
	e := store.ChunkEdit{Chunk: c.ID}
	if len(old) > 0 {
		e = old[0]
	}
	own := e.Disabled != nil && *e.Disabled // not by the whole document
	if patch.Enabled != nil {
		own = !*patch.Enabled
	}
	if patch.writes() {
		set(&c.Content, patch.Content)
		set(&c.Keywords, patch.Keywords)
		set(&c.Questions, patch.Questions)
		set(&c.Tags, patch.Tags)
		set(&c.Image, patch.Image)
		set(&c.Positions, patch.Positions)
		c.Disabled, c.Edited = own, true
		if err := checkChunk(&c); err != nil {
			return e, err
		}
		var err error
		if e, err = d.written(ctx, v, c); err != nil {
			return e, err
		}
		e.After, e.Moved = before, true // else it would be the last: an index appends what it puts
	}
	e.Disabled = &own
	return e, nil
}

// DeleteChunks removes chunks of a document and returns how many there were; none named means none
// deleted. Parsing the document again brings back what is in it. Errors: [ErrNotFound].
func (d *Datasets) DeleteChunks(
	ctx context.Context, p Principal, id, document string, chunks ...string,
) (n int, err error) {
	if _, err := d.document(ctx, p, id, document); err != nil || len(chunks) == 0 {
		return 0, err
	}
	_, err = d.editChunks(ctx, p, id, document, func(v *store.Document, key string) ([]store.ChunkEdit, bool, error) {
		l := &index.List{Dataset: key, Document: document, IDs: chunks, Limit: len(chunks)}
		page, err := d.replica.Index().Chunks(ctx, l)
		if err != nil {
			return nil, false, err
		}
		at, err := placesIn(ctx, d, key, v)
		if err != nil {
			return nil, false, err
		}
		var edits []store.ChunkEdit
		n = 0
		for _, c := range page.Chunks {
			edits = append(edits, store.ChunkEdit{Chunk: c.ID, Deleted: true, After: at.before(c.ID), Moved: true})
			v.Tokens = max(0, v.Tokens-chunking.Count(c.Content))
			n++
		}
		v.Chunks = len(at.order) - n
		if v.Chunks == 0 {
			v.Tokens = 0
		}
		return edits, false, nil
	})
	return n, err
}

// DeleteAllChunks removes the chunks of a document and returns how many there were; the document is
// as it was uploaded. Errors: [ErrNotFound], [ErrConflict] while it is parsed.
func (d *Datasets) DeleteAllChunks(ctx context.Context, p Principal, id, document string) (n int, err error) {
	if _, err := d.document(ctx, p, id, document); err != nil {
		return 0, err
	}
	_, err = d.store.Documents.Edit(ctx, p.Tenant, id, document, func(v *store.Document) (store.Affects, error) {
		if v.State == dataset.Running {
			return store.Nothing, fmt.Errorf("document %q is %s: %w", document, v.State, ErrConflict)
		}
		n = v.Chunks
		// The edits go with the file, and there may be edits without one.
		v.ChunkFile, v.Chunks, v.Tokens, v.Digest = "", 0, 0, ""
		return store.Cleared, nil
	})
	if err == nil {
		_, err = d.replica.Sync(ctx, id)
	}
	return n, err
}
