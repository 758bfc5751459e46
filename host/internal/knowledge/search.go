package knowledge

import (
	"cmp"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/offline"
)

// mostCandidates bounds how many passages are weighed for one query.
const mostCandidates = 1024

// hit is a passage that shares words with a query.
type hit struct {
	number        int
	text          string
	words         map[string]bool
	dataset, path string
	meta          string
	similarity    float64
}

// Retrieve finds passages of what is for everybody. Memories are not kept here and find nothing.
func (b *Base) Retrieve(ctx context.Context, q *engine.RetrievalQuery) (engine.Found, error) {
	return b.Of("").Retrieve(ctx, q)
}

// retrieve finds passages of datasets by their keys.
func (b *Base) retrieve(ctx context.Context, q *engine.RetrievalQuery) (engine.Found, error) {
	if len(q.Datasets) == 0 {
		return engine.Found{}, nil
	}
	if err := b.await(ctx); err != nil {
		return engine.Found{}, err
	}
	only, restricted, err := b.filtered(ctx, q.Datasets, q.Filter)
	if err != nil || restricted && len(only) == 0 {
		return engine.Found{}, err
	}
	want := unique(offline.Words(q.Text))
	if len(want) == 0 {
		return engine.Found{}, nil
	}
	candidates := mostCandidates
	if q.TopK > 0 {
		candidates = min(candidates, max(q.TopK, q.TopN))
	}
	hits, err := b.index.search(ctx, q.Datasets, want, only, candidates)
	if err != nil {
		return engine.Found{}, fmt.Errorf("knowledge: %w", err)
	}
	return found(hits, q), nil
}

func unique(words []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(words, func(w string) bool {
		again := seen[w]
		seen[w] = true
		return again
	})
}

// datasets are the keys of all datasets that hold documents.
func (ix *index) datasets(ctx context.Context) (keys []string, err error) {
	rows, err := ix.db.QueryContext(ctx, `SELECT DISTINCT dataset FROM documents`)
	if err != nil {
		return nil, fmt.Errorf("knowledge: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			return nil, fmt.Errorf("knowledge: %w", err)
		}
		keys = append(keys, key)
	}
	return keys, rows.Err()
}

// search gives the passages of datasets that share words with a query, the most alike first.
func (ix *index) search(ctx context.Context, datasets, want []string, only []int64, most int) ([]hit, error) {
	all, holding, err := ix.frequencies(ctx, want)
	if err != nil {
		return nil, err
	}
	words := selective(want, holding, all)
	if len(words) == 0 {
		return nil, nil
	}
	out, err := ix.candidates(ctx, datasets, words, only, most)
	if err != nil {
		return nil, err
	}
	weigh := weights(want, holding, all)
	for i := range out {
		out[i].similarity = similarity(want, out[i].words, weigh)
	}
	slices.SortStableFunc(out, func(a, b hit) int { return cmp.Compare(b.similarity, a.similarity) })
	return out, nil
}

// candidates are the best passages by BM25, best first. only, unless nil, are the documents that
// count.
func (ix *index) candidates(ctx context.Context, datasets, words []string, only []int64, most int) ([]hit, error) {
	scopes := make([]string, len(datasets))
	for i, d := range datasets {
		scopes[i] = scope(d)
	}
	inner, args := `SELECT rowid AS id, rank AS worth FROM words WHERE words MATCH ?`,
		[]any{"scope : (" + anyOf(scopes) + ") AND terms : (" + anyOf(words) + ")"}
	if only != nil {
		inner += ` AND rowid IN (SELECT id FROM passages WHERE document IN (SELECT value FROM json_each(?)))`
		args = append(args, jsonList(only))
	}
	rows, err := ix.db.QueryContext(ctx, `SELECT p.number, p.text, p.terms, d.dataset, d.path, d.meta FROM (`+inner+` ORDER BY rank LIMIT ?) w
		JOIN passages p ON p.id = w.id JOIN documents d ON d.id = p.document ORDER BY w.worth`, append(args, most)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []hit
	for rows.Next() {
		var h hit
		var terms string
		if err := rows.Scan(&h.number, &h.text, &terms, &h.dataset, &h.path, &h.meta); err != nil {
			return nil, err
		}
		h.words = map[string]bool{}
		for w := range strings.FieldsSeq(terms) {
			h.words[w] = true
		}
		out = append(out, h)
	}
	return out, rows.Err()
}

// anyOf asks FTS5 for one of some words.
func anyOf(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = `"` + strings.ReplaceAll(w, `"`, `""`) + `"`
	}
	return strings.Join(quoted, " OR ")
}

// manyPassages is where looking through all passages that hold a common word becomes slow.
const manyPassages = 10_000

// selective leaves out words that no passage holds and, of many passages, those that every fourth
// one holds, unless there are no others.
func selective(want []string, holding map[string]int, all int) []string {
	var held, rare []string
	for _, w := range want {
		if n := holding[w]; n > 0 {
			held = append(held, w)
			if n < all/4 {
				rare = append(rare, w)
			}
		}
	}
	if all > manyPassages && len(rare) > 0 {
		return rare
	}
	return held
}

// frequencies are how many passages there are, and how many hold each word of a query.
func (ix *index) frequencies(ctx context.Context, want []string) (all int, holding map[string]int, err error) {
	if _, all, err = ix.size(ctx); err != nil {
		return 0, nil, err
	}
	rows, err := ix.db.QueryContext(ctx, `SELECT f.term, f.doc FROM json_each(?) j JOIN frequency f ON f.term = j.value`, jsonList(want))
	if err != nil {
		return 0, nil, err
	}
	defer rows.Close()
	holding = map[string]int{}
	for rows.Next() {
		var word string
		var n int
		if err := rows.Scan(&word, &n); err != nil {
			return 0, nil, err
		}
		holding[word] = n
	}
	return all, holding, rows.Err()
}

// weights say how much each word of a query counts: the more, the fewer passages hold it.
func weights(want []string, holding map[string]int, all int) map[string]float64 {
	out := map[string]float64{}
	for _, w := range want {
		out[w] = math.Log(1 + float64(1+all)/float64(1+holding[w]))
	}
	return out
}

// similarity is the share of a query's words that a passage holds, by weight.
func similarity(want []string, held map[string]bool, weights map[string]float64) float64 {
	var have, all float64
	for _, w := range want {
		all += weights[w]
		if held[w] {
			have += weights[w]
		}
	}
	return have / all
}

// found is what a canvas gets: the best passages above the threshold, and their documents.
func found(hits []hit, q *engine.RetrievalQuery) engine.Found {
	var out engine.Found
	counts := map[string]int{}
	var documents []string
	for _, h := range hits {
		if h.similarity < q.SimilarityThreshold || len(out.Chunks) == max(1, q.TopN) {
			break
		}
		out.Chunks = append(out.Chunks, h.chunk())
		if counts[h.document()]++; counts[h.document()] == 1 {
			documents = append(documents, h.document())
		}
	}
	for _, d := range documents {
		out.DocAggs = append(out.DocAggs, engine.Object("doc_name", path.Base(d), "doc_id", d, "count", counts[d]))
	}
	return out
}

func (h *hit) document() string { return path.Join(h.dataset, h.path) }

func (h *hit) chunk() engine.Value {
	id := sha1.Sum(fmt.Appendf(nil, "%s#%d", h.document(), h.number))
	b := engine.NewObject(10)
	b.Set("chunk_id", engine.String(hex.EncodeToString(id[:]))).Set("content_with_weight", engine.String(h.text))
	b.Set("doc_id", engine.String(h.document())).Set("docnm_kwd", engine.String(path.Base(h.path))).Set("kb_id", engine.String(nameOf(h.dataset)))
	b.Set("similarity", engine.Float(h.similarity)).Set("term_similarity", engine.Float(h.similarity))
	if meta, err := engine.ParseJSONText(h.meta); err == nil && meta.Len() > 0 {
		b.Set("document_metadata", meta)
		if u := meta.Get("url"); u.Kind() == engine.KindString {
			b.Set("url", u)
		}
	}
	return b.Value()
}
