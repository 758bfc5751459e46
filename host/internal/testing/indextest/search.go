package indextest

import (
	"fmt"
	"math"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
)

var searchTests = []test{
	{"WordsOfManyLanguages", func(f *fixture) {
		f.replace(doc("a", "Goods can be returned within 30 days", "商品可以在三十天内退货", "返品は30日以内です"))
		require.Equal(f, "a/0", f.words("returning"))
		require.Equal(f, "a/1", f.words("怎么退货？"))
		require.Equal(f, "a/1", f.words("货"))
		require.Equal(f, "a/2", f.find(index.Query{Text: "返品"})[0], "others share a character")
		require.Empty(f, f.words("?!"))
	}},
	{"RareWordsWeighMore", func(f *fixture) {
		f.replace(doc("a", "red apple", "red pear", "red plum", "red cherry", "green cherry"))
		require.Equal(f, []string{"a/3", "a/4"}, f.find(index.Query{Text: "red cherry"})[:2])
	}},
	{"BM25", bm25},
	{"TermSimilarity", func(f *fixture) {
		f.replace(doc("a", "red apple", "red pear", "blue plum"))
		r := f.search(index.Query{Text: "red apple"})
		require.Equal(f, "0", r.Hits[0].Chunk.ID)
		require.InDelta(f, 1, r.Hits[0].Term, 1e-5, "it has every word once and average length")
		require.Equal(f, r.Hits[0].Term, r.Hits[0].Similarity)
		require.Less(f, r.Hits[1].Term, 0.5)
		require.Less(f, f.search(index.Query{Text: "red apple unheard"}).Hits[0].Term, 0.8,
			"a word that no chunk has counts")
	}},
	{"StopWordsAlone", func(f *fixture) {
		f.replace(doc("a", "to be or not to be", "red apple"))
		require.Equal(f, "a/0", f.words("to be"))
		require.Equal(f, "a/1", f.words("to be red"))
	}},
	{"WordsOfAsking", func(f *fixture) {
		f.replace(doc("a", "you can return shoes within thirty days", "we ship in two days"))
		asked := f.search(index.Query{Text: "How may I return my shoes, please?", Threshold: 0.5})
		require.Len(f, asked.Hits, 1)
		plain := f.search(index.Query{Text: "return shoes"})
		require.InDelta(f, plain.Hits[0].Term, asked.Hits[0].Term, 1e-5)
		require.Len(f, f.search(index.Query{Text: "can you"}).Hits, 1, "they count when there are no others")
	}},
	{"FieldsOfAChunk", func(f *fixture) {
		f.replace(index.Document{ID: "d1", Name: "warranty.pdf", Chunks: Chunks(
			index.Chunk{ID: "0", Content: "apple"},
			index.Chunk{
				ID: "1", Content: "shown", Text: "searched", Keywords: []string{"key word"},
				Questions: []string{"why not?", "who?"},
			},
		)})
		require.Equal(f, "d1/0 d1/1", f.words("warranty"))
		require.Equal(f, "d1/1", f.words("searched"))
		require.Empty(f, f.words("shown"))
		require.Equal(f, "d1/1", f.words("keys"))
		require.Equal(f, "d1/1", f.words("who"))
		h := f.search(index.Query{Text: "keys"}).Hits[0]
		require.Equal(f, index.Chunk{
			ID: "1", Content: "shown", Text: "searched",
			Keywords: []string{"key word"}, Questions: []string{"why not?", "who?"},
		}, h.Chunk)
		require.Equal(f, "warranty.pdf", h.DocumentName)
		require.Equal(f, ds, h.Dataset)
	}},
	{"Vectors", func(f *fixture) {
		f.replace(vectors())
		r := f.search(index.Query{Vector: []float32{3, 0, 0}})
		require.Equal(f, []string{"v/x", "v/xy", "v/y"}, f.find(index.Query{Vector: []float32{3, 0.1, 0}}))
		require.InDelta(f, 1, r.Hits[0].Vector, 1e-6)
		require.InDelta(f, math.Sqrt(0.5), r.Hits[1].Similarity, 1e-6)
		require.Len(f, f.find(index.Query{Vector: []float32{1, 0, 0}, TopK: 2}), 2)
		require.Len(f, f.find(index.Query{Vector: []float32{1, 0, 0}, Threshold: 0.9}), 1)
	}},
	{"Hybrid", func(f *fixture) {
		f.replace(vectors())
		q := index.Query{Text: "green", Vector: []float32{1, 0, 0}, VectorWeight: 0.3}
		r := f.search(q)
		require.Equal(f, "y", r.Hits[0].Chunk.ID)
		for _, h := range r.Hits {
			if h.Term < 1 { // it is cut at 1, the similarity is not made of the cut one
				require.InDelta(f, 0.7*h.Term+0.3*h.Vector, h.Similarity, 1e-6)
			}
		}
		require.Len(f, r.Hits, 4, "meaning finds what words do not, and the other way round")
		q.VectorWeight = 0.9
		require.Equal(f, []string{"v/x", "v/xy", "v/y"}, f.find(q)[:3])
		q.VectorWeight, q.Threshold = 0.3, 0.25
		require.Equal(f, []string{"v/y", "v/none", "v/x"}, f.find(q))
	}},
	{"ReciprocalRanks", func(f *fixture) {
		f.replace(vectors())
		q := index.Query{Text: "green", Vector: []float32{1, 1, 0}, VectorWeight: 0.5, Fusion: index.RRF}
		r := f.search(q)
		require.Equal(f, "y", r.Hits[0].Chunk.ID, "it is the first by words and the third by vector")
		require.InDelta(f, 1.0/61+1.0/63, r.Hits[0].Score, 1e-9)
	}},
	{"FarChunksOfManyVectors", manyVectors},
	{"Documents", func(f *fixture) {
		f.replace(doc("a", "red"), doc("b", "red"), doc("c", "red"))
		require.Equal(f, []string{"b/0", "c/0"}, f.find(index.Query{Text: "red", Documents: []string{
			"c", "b",
			"unknown",
		}}))
		require.Empty(f, f.find(index.Query{Text: "red", Documents: []string{}}))
	}},
	{"MetadataFilter", metadataFilter},
	{"PagesDoNotOverlap", func(f *fixture) {
		texts := make([]string, 100)
		for i := range texts {
			texts[i] = fmt.Sprint("red ", i%7)
		}
		f.replace(doc("a", texts...))
		all := f.find(index.Query{Text: "red 3", Limit: 100})
		var paged []string
		for at := 0; at < 100; at += 30 {
			r := f.search(index.Query{Text: "red 3", Offset: at, Limit: 30})
			require.Equal(f, 100, r.Total)
			paged = append(paged, f.find(index.Query{Text: "red 3", Offset: at, Limit: 30})...)
		}
		require.Equal(f, all, paged)
		require.Empty(f, f.find(index.Query{Text: "red", Offset: 100}))
	}},
	{"DocumentsOfHits", func(f *fixture) {
		f.replace(doc("a", "red"), doc("b", "red", "red red", "blue"))
		require.Equal(f, []index.DocumentCount{{Document: "b", Name: "b.md", Count: 2}, {
			Document: "a",
			Name:     "a.md", Count: 1,
		}},
			f.search(index.Query{Text: "red", Limit: 1}).Documents)
	}},
	{"Highlight", func(f *fixture) {
		f.replace(doc("a", "Returned goods: 退货政策. Good!"))
		r := f.search(index.Query{Text: "returning good 退货政策", Highlight: true})
		require.Equal(f, "<em>Returned</em> <em>goods</em>: <em>退货政策</em>. <em>Good</em>!", r.Hits[0].Highlight)
		require.Empty(f, f.search(index.Query{Text: "good"}).Hits[0].Highlight)
	}},
	{"WordsOfTheNameOnly", func(f *fixture) {
		f.replace(index.Document{ID: "a", Name: "prices.md", Chunks: Chunks(
			index.Chunk{ID: "0", Content: "apples"}, index.Chunk{ID: "1", Content: "The price of pears"},
			index.Chunk{ID: "2", Content: "plums", Keywords: []string{"price"}},
			index.Chunk{ID: "3", Content: "grapes", Questions: []string{"What is the price?"}},
			index.Chunk{ID: "4", Content: "shown", Text: "price searched"},
		)})
		only := map[string]bool{}
		for _, h := range f.search(index.Query{Text: "prices", Highlight: true}).Hits {
			only[h.Chunk.ID] = h.NameOnly
		}
		require.Equal(f, map[string]bool{"0": true, "1": false, "2": false, "3": false, "4": false}, only)
	}},
	{"BadQueries", func(f *fixture) {
		for want, q := range map[string]index.Query{
			"neither text nor vector":                  {},
			"vector weight 1.5 is not between 0 and 1": {Text: "x", VectorWeight: 1.5},
			`unknown fusion "best" (one of weighted`:   {Text: "x", Fusion: "best"},
			"top_k -1 is not between 1 and 100000":     {Text: "x", TopK: -1},
			`unknown operator "like" (one of contains`: {
				Text:   "x",
				Filter: &index.Filter{Conditions: []index.Condition{{Operator: "like"}}},
			},
		} {
			q.Datasets = []string{ds}
			f.replace(doc("a", "x"))
			_, err := f.Search(f.Context(), &q)
			require.ErrorContains(f, err, want)
		}
	}},
}

// vectors returns a document with three vectors and a chunk without.
func vectors() index.Document {
	return index.Document{ID: "v", Chunks: Chunks(
		index.Chunk{ID: "x", Content: "red", Vector: []float32{1, 0, 0}},
		index.Chunk{ID: "xy", Content: "blue", Vector: []float32{1, 1, 0}},
		index.Chunk{ID: "y", Content: "green", Vector: []float32{0, 2, 0}},
		index.Chunk{ID: "none", Content: "green apples and pears"},
	)}
}

// bm25 compares the similarities with the formula.
func bm25(f *fixture) {
	texts := []string{"red red apple", "red pear green", "apple", "plum cherry plum cherry", "blue"}
	f.replace(doc("a", texts...))
	lengths, average := []float64{3, 3, 1, 4, 1}, 12.0/5
	idf := func(n float64) float64 { return math.Log(1 + (5-n+0.5)/(n+0.5)) }
	full := idf(2) + idf(2)
	one := func(tf, length float64) float64 { return 1.9 * tf / (tf + 0.9*(0.6+0.4*length/average)) }
	want := map[string]float64{
		"0": idf(2) * (one(2, lengths[0]) + one(1, lengths[0])) / full,
		"1": idf(2) * one(1, lengths[1]) / full,
		"2": idf(2) * one(1, lengths[2]) / full,
	}
	f.replace(index.Document{ID: "a", Chunks: docWithoutName(texts)})
	r := f.search(index.Query{Text: "red apple"})
	require.Len(f, r.Hits, 3)
	for _, h := range r.Hits {
		require.InDelta(f, want[h.Chunk.ID], h.Score, 1e-5, h.Chunk.Content)
	}
}

func docWithoutName(texts []string) func(func(index.Chunk, error) bool) {
	return doc("", texts...).Chunks
}

// manyVectors compares a search among many vectors with the exact one.
func manyVectors(f *fixture) {
	const n, dims = 3000, 64
	all := make([][]float32, n)
	chunks := make([]index.Chunk, n)
	for i := range all {
		all[i] = pseudoRandom(i, dims)
		chunks[i] = index.Chunk{ID: fmt.Sprint(i), Content: "x", Vector: all[i]}
	}
	f.replace(index.Document{ID: "a", Chunks: Chunks(chunks...)})
	query := pseudoRandom(n, dims)
	cosine := func(i int) float64 {
		u, err := index.Unit(all[i])
		require.NoError(f, err)
		v, err := index.Unit(query)
		require.NoError(f, err)
		var sum float64
		for k := range u {
			sum += float64(u[k]) * float64(v[k])
		}
		return sum
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return int(1e6 * (cosine(b) - cosine(a))) })
	r := f.search(index.Query{Vector: query, Limit: 10})
	for i, h := range r.Hits {
		require.Equal(f, fmt.Sprint(order[i]), h.Chunk.ID)
		require.InDelta(f, cosine(order[i]), h.Vector, 1e-5)
	}
}

// pseudoRandom returns a vector that depends on its number alone.
func pseudoRandom(seed, dims int) []float32 {
	v := make([]float32, dims)
	state := uint64(seed)*0x9E3779B97F4A7C15 + 1
	for i := range v {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		v[i] = float32(state>>40)/(1<<24) - 0.4
	}
	return v
}

func metadataFilter(f *fixture) {
	withMeta := func(id string, meta map[string]any) index.Document {
		d := doc(id, "red")
		d.Meta = meta
		return d
	}
	f.replace(
		withMeta("a", map[string]any{"lang": "EN", "year": 2024, "tags": []any{"x", "y"}}),
		withMeta("b", map[string]any{"lang": "de", "year": "2025"}),
		withMeta("c", nil),
	)
	is := func(key, op, value string) index.Condition {
		return index.Condition{Key: key, Operator: op, Value: value}
	}
	for _, c := range []struct {
		filter index.Filter
		want   []string
	}{
		{index.Filter{}, []string{"a/0", "b/0", "c/0"}},
		{index.Filter{Conditions: []index.Condition{is("lang", "=", "en")}}, []string{"a/0"}},
		{index.Filter{Conditions: []index.Condition{is("lang", "is not", "en")}}, []string{"b/0"}},
		{index.Filter{Conditions: []index.Condition{is("year", ">", "2024")}}, []string{"b/0"}},
		{index.Filter{Conditions: []index.Condition{is("year", "≥", "999")}}, []string{"a/0", "b/0"}},
		{index.Filter{Conditions: []index.Condition{is("tags", "=", "y")}}, []string{"a/0"}},
		{index.Filter{Conditions: []index.Condition{is("lang", "in", "de, fr")}}, []string{"b/0"}},
		{index.Filter{Conditions: []index.Condition{is("year", "contains", "02")}}, []string{"a/0", "b/0"}},
		{index.Filter{Conditions: []index.Condition{is("lang", "contains", "EN")}}, []string{"a/0"}},
		{index.Filter{Conditions: []index.Condition{is("lang", "contains", "de, en")}}, []string{}},
		{index.Filter{Conditions: []index.Condition{is("lang", "not contains", "e, d")}}, []string{"a/0", "b/0"}},
		{index.Filter{Conditions: []index.Condition{is("lang", "start with", "e")}}, []string{"a/0"}},
		{index.Filter{Conditions: []index.Condition{is("lang", "=", "en"), is("year", "=", "2025")}}, []string{}},
		{
			index.Filter{Or: true, Conditions: []index.Condition{is("lang", "=", "fr"), is("year", "=", "2025")}},
			[]string{"b/0"},
		},
		{index.Filter{Conditions: []index.Condition{is("unknown", "=", "1"), is("lang", "=", "de")}}, []string{"b/0"}},
		{index.Filter{Conditions: []index.Condition{is("lang", "=", "fr")}}, []string{}},
		{
			index.Filter{Lenient: true, Conditions: []index.Condition{is("lang", "=", "fr")}},
			[]string{"a/0", "b/0", "c/0"},
		},
	} {
		require.Equal(f, c.want, f.find(index.Query{Text: "red", Filter: &c.filter}), "%+v", c.filter)
	}
	require.Equal(f, []string{"b/0"}, f.find(index.Query{
		Text: "red", Documents: []string{"b", "c"},
		Filter: &index.Filter{Conditions: []index.Condition{is("year", "≥", "2024")}},
	}))
	values, err := f.Metadata(f.Context(), ds)
	require.NoError(f, err)
	require.Equal(f, map[string]map[string]int{
		"lang": {"EN": 1, "de": 1}, "year": {"2024": 1, "2025": 1}, "tags": {"x": 1, "y": 1},
	}, values)
	h := f.search(index.Query{Text: "red", Documents: []string{"a"}}).Hits[0]
	require.Equal(f, "EN", h.Meta["lang"])
}
