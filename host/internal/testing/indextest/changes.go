package indextest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
)

var changeTests = []test{{"ManyChanges", manyChanges}}

// manyChanges makes small changes of all kinds to a dataset and compares searches of it with those
// of one that was written at once.
func manyChanges(f *fixture) {
	c := &changes{fixture: f, rng: rand.New(rand.NewPCG(5, 6)), documents: map[string]map[string]index.Chunk{}}
	for step := range 240 {
		switch n := c.rng.IntN(100); {
		case step < 10 || n < 40:
			c.replaceOne()
		case n < 50 && len(c.documents) > 5:
			id, _ := c.pick()
			delete(c.documents, id)
			require.NoError(f, f.Delete(f.Context(), ds, id))
		case n < 70:
			id, chunks := c.pick()
			a, b := c.chunk(fmt.Sprint(c.rng.IntN(10))), c.chunk(fmt.Sprint(c.rng.IntN(10)))
			chunks[a.ID] = a
			chunks[b.ID] = b
			require.NoError(f, f.Put(f.Context(), ds, id, a, b))
		case n < 85:
			id, chunks := c.pick()
			key := fmt.Sprint(c.rng.IntN(6))
			delete(chunks, key)
			_, err := f.Remove(f.Context(), ds, id, key)
			require.NoError(f, err)
		default:
			id, chunks := c.pick()
			key, on := fmt.Sprint(c.rng.IntN(6)), c.rng.IntN(2) == 0
			if known, ok := chunks[key]; ok {
				known.Disabled = !on
				chunks[key] = known
			}
			_, err := f.Enable(f.Context(), ds, id, on, key)
			require.NoError(f, err)
		}
		if step%40 == 39 {
			c.compare()
		}
	}
}

// changes holds a dataset and its expected contents.
type changes struct {
	*fixture
	rng       *rand.Rand
	documents map[string]map[string]index.Chunk
	number    int
}

// chunk returns a new chunk.
func (c *changes) chunk(id string) index.Chunk {
	c.number++
	word := func(n uint64) string { return Word(c.rng.Uint64N(n)) }
	out := index.Chunk{ID: id, Content: fmt.Sprintf("%s %s %s n%d", word(5), word(9), word(20), c.number)}
	if c.rng.IntN(4) > 0 {
		out.Vector = c.vector()
	}
	return out
}

func (c *changes) vector() []float32 {
	v := make([]float32, 12)
	for i := range v {
		v[i] = float32(c.rng.NormFloat64())
	}
	return v
}

// pick returns one of the documents.
func (c *changes) pick() (string, map[string]index.Chunk) {
	ids := slices.Sorted(maps.Keys(c.documents))
	id := ids[c.rng.IntN(len(ids))]
	return id, c.documents[id]
}

func (c *changes) document(id string) index.Document {
	chunks := c.documents[id]
	list := make([]index.Chunk, 0, len(chunks))
	for _, key := range slices.Sorted(maps.Keys(chunks)) {
		list = append(list, chunks[key])
	}
	return index.Document{ID: id, Name: id + ".md", Chunks: Chunks(list...)}
}

func (c *changes) replaceOne() {
	id := fmt.Sprint("d", c.rng.IntN(30))
	c.documents[id] = map[string]index.Chunk{}
	for i := range 1 + c.rng.IntN(8) {
		key := fmt.Sprint(i)
		c.documents[id][key] = c.chunk(key)
	}
	c.replace(c.document(id))
}

// compare writes all documents into another dataset and searches both.
func (c *changes) compare() {
	const fresh = "tenant/fresh"
	require.NoError(c, c.Drop(c.Context(), fresh))
	require.NoError(c, c.Create(c.Context(), fresh, index.Settings{}))
	var all []index.Document
	for _, id := range slices.Sorted(maps.Keys(c.documents)) {
		all = append(all, c.document(id))
	}
	require.NoError(c, c.Replace(c.Context(), fresh, all...))
	scores := func(q index.Query, dataset string) map[string]float64 {
		q.Datasets = []string{dataset}
		out := map[string]float64{}
		for _, h := range c.search(q).Hits {
			out[h.Document+"/"+h.Chunk.ID] = h.Score
		}
		return out
	}
	for i := range 6 {
		q := index.Query{Limit: 1000, Hidden: c.rng.IntN(2) == 0, VectorWeight: 0.5}
		if i%3 != 0 {
			q.Text = Word(c.rng.Uint64N(5)) + " " + Word(c.rng.Uint64N(20))
		}
		if i%3 != 1 {
			q.Vector = c.vector()
		}
		require.InDeltaMapValues(c, scores(q, fresh), scores(q, ds), 1e-5, "%+v", q)
	}
}
