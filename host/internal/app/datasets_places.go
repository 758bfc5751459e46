package app

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/store"
)

// places are the chunks of a document in their order. An index appends each chunk that it puts: the
// edits of chunks say where those stand, so that an edit changes no other chunk in the index.
type places struct {
	order []string
	at    map[string]int
}

// placesOf returns the places of the chunks of a document if its index has others, else nil.
func placesOf(ctx context.Context, d *Datasets, key, document string) (*places, error) {
	edits, err := d.store.Documents.ChunkEdits(ctx, document, 0)
	if err != nil || !slices.ContainsFunc(edits, func(e store.ChunkEdit) bool { return e.After != "" }) {
		return nil, err
	}
	return newPlaces(ctx, d.replica.Index(), key, document, edits)
}

// placesIn returns the places of the chunks of a document.
func placesIn(ctx context.Context, d *Datasets, key string, v *store.Document) (*places, error) {
	edits, err := d.store.Documents.ChunkEdits(ctx, v.ID, 0)
	if err != nil {
		return nil, err
	}
	return newPlaces(ctx, d.replica.Index(), key, v.ID, edits)
}

func newPlaces(
	ctx context.Context, x index.Index, key, document string, edits []store.ChunkEdit,
) (*places, error) {
	all, err := x.Chunks(ctx, &index.List{Dataset: key, Document: document, Limit: math.MaxInt32, Keys: true})
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(all.Chunks))
	for i := range all.Chunks {
		ids[i] = all.Chunks[i].ID
	}
	p := &places{order: ordered(ids, edits), at: make(map[string]int, len(ids))}
	for i, id := range p.order {
		p.at[id] = i
	}
	return p, nil
}

// page lists chunks of an index in their places; nil leaves them in the order of the index.
func (p *places) page(ctx context.Context, x index.Index, l *index.List) (*index.Page, error) {
	if p == nil {
		return x.Chunks(ctx, l)
	}
	inPlaces := func(a, b index.Chunk) int { return cmp.Compare(p.at[a.ID], p.at[b.ID]) }
	all := *l
	all.Offset, all.Limit, all.Keys = 0, math.MaxInt32, true
	matches, err := x.Chunks(ctx, &all)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(matches.Chunks, inPlaces)
	from := min(l.Offset, len(matches.Chunks))
	shown := matches.Chunks[from : from+min(l.Limit, len(matches.Chunks)-from)]
	if len(shown) == 0 {
		return &index.Page{Total: matches.Total}, nil
	}
	of := *l
	of.Offset, of.Limit, of.IDs = 0, len(shown), make([]string, len(shown))
	for i := range shown {
		of.IDs[i] = shown[i].ID
	}
	list, err := x.Chunks(ctx, &of)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(list.Chunks, inPlaces)
	list.Total = matches.Total
	return list, nil
}

// before is the chunk that another one follows.
func (p *places) before(chunk string) string {
	if at := p.at[chunk]; at > 0 {
		return p.order[at-1]
	}
	return store.FirstPlace
}

// refollow returns edits for the chunks that follow a deleted one, before a chunk with its id is
// added behind another one: they stay where they are.
func refollow(
	ctx context.Context, d *Datasets, key string, v *store.Document, chunk, behind string,
) (out []store.ChunkEdit, err error) {
	edits, err := d.store.Documents.ChunkEdits(ctx, v.ID, 0)
	if err != nil || !slices.ContainsFunc(edits, func(e store.ChunkEdit) bool { return e.After == chunk }) {
		return nil, err
	}
	at, err := newPlaces(ctx, d.replica.Index(), key, v.ID, edits)
	if err != nil {
		return nil, err
	}
	gone := ""
	for i := range edits {
		if edits[i].Chunk == chunk {
			gone = edits[i].After
		}
	}
	for _, e := range edits {
		if e.After != chunk {
			continue
		}
		e.After, e.Moved = gone, true
		if _, known := at.at[e.Chunk]; known {
			e.After = at.before(e.Chunk)
		}
		if e.After != behind { // else it follows the added one
			out = append(out, e)
		}
	}
	return out, nil
}

// ordered moves chunks behind those that they follow. Of two that follow the same chunk, the one
// that got its place later is nearer: it stood directly behind. Chunks that follow one that does
// not exist any more stay where they are.
func ordered(ids []string, edits []store.ChunkEdit) []string {
	left := make(map[string]bool, len(ids))
	for _, id := range ids {
		left[id] = true
	}
	anchors := map[string]bool{store.FirstPlace: true}
	follow := map[string][]*store.ChunkEdit{}
	for i := range edits {
		e := &edits[i]
		if e.After != "" {
			follow[e.After] = append(follow[e.After], e)
		}
		anchors[e.Chunk] = e.After != "" || left[e.Chunk]
	}
	for _, list := range follow {
		slices.SortStableFunc(list, func(a, b *store.ChunkEdit) int { return cmp.Compare(b.Placed, a.Placed) })
	}
	moves := map[string]bool{}
	for after, list := range follow {
		for _, e := range list {
			moves[e.Chunk] = left[after] || anchors[after]
		}
	}
	out, visited := make([]string, 0, len(ids)), map[string]bool{}
	var visit func(id string)
	visit = func(id string) {
		if visited[id] {
			return
		}
		visited[id] = true
		if left[id] {
			out = append(out, id)
		}
		for _, e := range follow[id] {
			visit(e.Chunk)
		}
	}
	visit(store.FirstPlace)
	for _, id := range ids {
		if !moves[id] {
			visit(id)
		}
	}
	for _, id := range ids { // of circles
		visit(id)
	}
	return out
}
