package indextest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/knowledge/index"
)

var gateTests = []test{
	{"a gate leaves an index with the documents that it opens", gatesEqualFewerDocuments},
	{"access changes with the next search", accessChanges},
}

// refused reports whether the index refuses gates. It may, as long as it finds nothing then.
func (f *fixture) refused() bool {
	f.Helper()
	r, err := f.Search(f.Context(), &index.Query{
		Datasets: []string{ds}, Text: "anything", Gates: map[string]access.Gate{ds: {}},
	})
	if errors.Is(err, index.ErrGated) {
		require.Nil(f, r)
		return true
	}
	require.NoError(f, err)
	return false
}

func accessList(entries ...string) access.List {
	list, err := access.ListOf(entries...)
	if err != nil {
		panic(err) // the entries are of tests
	}
	return list
}

func accessChanges(f *fixture) {
	if f.refused() {
		return
	}
	d := doc("a", "apple tree", "apple pie")
	d.Access = accessList("group:hr")
	f.replace(d, doc("b", "apple juice"))
	gate := access.Gate{Reader: access.Reader{User: "ann", Groups: access.GroupsOf("hr")}}
	found := func(g access.Gate) []string {
		return f.find(index.Query{Text: "apple", Gates: map[string]access.Gate{ds: g}})
	}
	require.ElementsMatch(f, []string{"a/0", "a/1"}, found(gate), "b has no list")
	require.Empty(f, found(access.Gate{}))
	gate.Default = accessList("all")
	require.Len(f, found(gate), 3)
	require.ElementsMatch(f, []string{"b/0"}, found(access.Gate{Default: accessList("all")}))
	require.NoError(f, f.Describe(f.Context(), ds, index.Document{ID: "a", Access: accessList("user:bob")}))
	require.ElementsMatch(f, []string{"b/0"}, found(gate), "a has changed")
	require.NoError(f, f.Put(f.Context(), ds, "a", index.Chunk{ID: "2", Content: "apple cider"}))
	require.ElementsMatch(f, []string{"b/0"}, found(gate), "chunks inherit")
	require.Len(f, found(access.Gate{Reader: access.Reader{User: "bob"}}), 3)
	require.Len(f, f.find(index.Query{Text: "apple"}), 4, "without a gate")
	require.NoError(f, f.Delete(f.Context(), ds, "a"))
	f.replace(doc("a", "apple sauce"))
	require.Empty(f, found(access.Gate{Reader: access.Reader{User: "bob"}}), "the list is gone with the document")
}

// gatesEqualFewerDocuments compares searches through gates with searches of a dataset that has the
// open documents only.
func gatesEqualFewerDocuments(f *fixture) {
	if f.refused() {
		return
	}
	rng := rand.New(rand.NewPCG(36, 3))
	lists := []access.List{
		"", access.NoReaders, accessList("all"), accessList("group:hr"), accessList("group:it", "user:ann"),
		accessList("user:bob"),
	}
	readers := []access.Reader{
		{},
		{User: "ann"},
		{User: "bob", Groups: access.GroupsOf("hr")},
		{User: "eve", Groups: access.GroupsOf("hr", "it")},
	}
	const rounds = 25
	for round := range rounds {
		gate := access.Gate{Reader: readers[rng.IntN(len(readers))], Default: lists[rng.IntN(len(lists))]}
		name := fmt.Sprintf("tenant/few%d", round)
		require.NoError(f, f.Create(f.Context(), name, index.Settings{}))
		for n := range 4 {
			d := randomDocument(rng, fmt.Sprint(n), lists[rng.IntN(len(lists))])
			f.replace(d)
			if gate.Open(d.Access) {
				require.NoError(f, f.Replace(f.Context(), name, d))
			} else {
				require.NoError(f, f.Delete(f.Context(), name, d.ID))
			}
		}
		for range 6 {
			q := randomQuery(rng)
			q.Datasets, q.Gates = []string{ds}, map[string]access.Gate{ds: gate}
			gated := f.search(q)
			q.Datasets, q.Gates = []string{name}, nil
			require.Equal(f, shown(f.search(q)), shown(gated), "round %d, gate %+v, query %+v", round, gate, q)
			f.sameCorrection(&q, name, gate)
		}
		require.NoError(f, f.Drop(f.Context(), name))
	}
}

// sameCorrection compares the corrections of a query through a gate and of a dataset.
func (f *fixture) sameCorrection(q *index.Query, name string, gate access.Gate) {
	f.Helper()
	c, ok := f.Index.(index.Corrector)
	if !ok {
		return
	}
	misspelt := *q
	misspelt.Text, misspelt.Vector = strings.Replace(q.Text, "word", "wrod", 1), nil
	few, err := c.Correct(f.Context(), &misspelt)
	require.NoError(f, err)
	misspelt.Datasets, misspelt.Gates = []string{ds}, map[string]access.Gate{ds: gate}
	gated, err := c.Correct(f.Context(), &misspelt)
	require.NoError(f, err)
	require.Equal(f, few == "", gated == "", "%s: %q and %q", name, few, gated)
}

// gateWords are the words of documents; each document also has a word that no other has.
var gateWords = []string{"wordlike", "wording", "apple", "pear", "plum"}

func randomDocument(rng *rand.Rand, id string, list access.List) index.Document {
	var chunks []index.Chunk
	for n := range 1 + rng.IntN(3) {
		text := []string{"secret" + id}
		for range 1 + rng.IntN(6) {
			text = append(text, gateWords[rng.IntN(len(gateWords))])
		}
		c := index.Chunk{ID: fmt.Sprint(n), Content: strings.Join(text, " "), Disabled: rng.IntN(8) == 0}
		c.Vector = []float32{rng.Float32() + 0.1, rng.Float32(), rng.Float32()}
		chunks = append(chunks, c)
	}
	d := index.Document{ID: id, Name: id + ".md", Access: list, Chunks: Chunks(chunks...), Meta: map[string]any{}}
	d.Meta[[]string{"year", "team"}[rng.IntN(2)]] = fmt.Sprint(rng.IntN(2))
	return d
}

func randomQuery(rng *rand.Rand) index.Query {
	q := index.Query{Text: gateWords[rng.IntN(len(gateWords))] + " " + gateWords[rng.IntN(len(gateWords))]}
	q.Limit = 1 + rng.IntN(8)
	if rng.IntN(2) == 0 {
		q.Threshold = rng.Float64() / 2
	}
	if rng.IntN(2) == 0 {
		q.Vector, q.VectorWeight = []float32{rng.Float32() + 0.1, rng.Float32(), rng.Float32()}, rng.Float64()
	}
	if rng.IntN(3) == 0 {
		q.Filter = &index.Filter{
			Conditions: []index.Condition{{Key: []string{"year", "team"}[rng.IntN(2)], Operator: "=", Value: "1"}},
			Lenient:    rng.IntN(2) == 0,
		}
	}
	if rng.IntN(4) == 0 {
		q.Documents = []string{fmt.Sprint(rng.IntN(4)), fmt.Sprint(rng.IntN(4))}
	}
	q.Hidden = rng.IntN(4) == 0
	return q
}

// shown returns the content of a result in an order that does not depend on the places of chunks.
func shown(r *index.Result) []string {
	out := []string{fmt.Sprintf("total %d", r.Total)}
	if len(r.Hits) == r.Total { // else chunks with equal scores may be on another page
		for _, h := range r.Hits {
			out = append(out, fmt.Sprintf("%s/%s %.5f %.5f", h.Document, h.Chunk.ID, h.Similarity, h.Term))
		}
	}
	for _, d := range r.Documents {
		out = append(out, fmt.Sprintf("%s %d", d.Document, d.Count))
	}
	slices.Sort(out)
	return out
}
