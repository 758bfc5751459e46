package indextest

import (
	"cmp"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// Corpus makes texts whose words are as unevenly frequent as those of a language.
type Corpus struct {
	rng  *rand.Rand
	zipf *rand.Zipf
}

const vocabulary = 200_000

// NewCorpus returns one that always makes the same texts for a seed.
func NewCorpus(seed uint64) *Corpus {
	rng := rand.New(rand.NewPCG(seed, 1))
	return &Corpus{rng, rand.NewZipf(rng, 1.07, 4, vocabulary-1)}
}

// Word returns the word of a rank; no two share a stem.
func Word(rank uint64) string {
	const syllables = "bacedofugahikolumenapirosatuvowexizo"
	var b strings.Builder
	for n := rank + 18; n > 0; n /= 18 {
		at := n % 18 * 2
		b.WriteString(syllables[at : at+2])
	}
	return b.String() + "k"
}

// Text returns a text of so many words.
func (c *Corpus) Text(words int) string {
	var b strings.Builder
	for range words {
		b.WriteString(Word(c.zipf.Uint64()))
		b.WriteByte(' ')
	}
	return b.String()
}

// Vector returns a vector near one of 200 topics.
func (c *Corpus) Vector(dims int) []float32 {
	topic := rand.New(rand.NewPCG(uint64(c.rng.IntN(200)), 2))
	v := make([]float32, dims)
	for i := range v {
		v[i] = float32(topic.NormFloat64() + 1.2*c.rng.NormFloat64())
	}
	return v
}

// Queries returns n queries of a kind: of common words, of rare ones, or of both for another kind.
func (c *Corpus) Queries(kind string, n int) (out []string) {
	pick := func(from, to int) string { return Word(uint64(from + c.rng.IntN(to-from))) }
	for range n {
		switch kind {
		case "common":
			out = append(out, pick(0, 100)+" "+pick(0, 100)+" "+pick(0, 100))
		case "rare":
			out = append(out, pick(5_000, 50_000)+" "+pick(5_000, 50_000))
		default:
			out = append(out, strings.Join([]string{
				pick(0, 100), pick(0, 1000), pick(100, 5000), pick(100, 5000), pick(1000, 50_000),
			}, " "))
		}
	}
	return out
}

// ScaleChunks returns the number of chunks of a scale test, from EASEL_SCALE_CHUNKS; without it the
// test is skipped.
func ScaleChunks(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv("EASEL_SCALE_CHUNKS"))
	if err != nil {
		t.Skip("EASEL_SCALE_CHUNKS is not set")
	}
	return n
}

// Documents returns n chunks in documents of 100, with vectors unless dims is 0.
func (c *Corpus) Documents(n, dims int) iter.Seq[index.Document] {
	const documentChunks = 100
	vectors := NewCorpus(2)
	return func(yield func(index.Document) bool) {
		for from := 0; from < n; from += documentChunks {
			chunks := make([]index.Chunk, documentChunks)
			for i := range chunks {
				chunks[i] = index.Chunk{ID: fmt.Sprint(i), Content: c.Text(60 + c.rng.IntN(80))}
				if dims > 0 {
					chunks[i].Vector = vectors.Vector(dims)
				}
			}
			if !yield(index.Document{ID: fmt.Sprint(from), Chunks: Chunks(chunks...)}) {
				return
			}
		}
	}
}

// Scale is a dataset whose searches are measured.
type Scale struct {
	Index   index.Index
	Dataset string
	Chunks  int // from [Corpus.Documents] with seed 1
	Dims    int // of vectors; 0 without any
	// Plain, unless nil, is measured for comparison with PlainQueries queries of words.
	Plain        func(query string)
	PlainQueries int
	// Server, unless nil, returns the processor time of the server behind the index.
	Server func() time.Duration
}

// Searches reports how long searches take by words, and by words and vectors.
func Searches(t *testing.T, s *Scale) {
	t.Helper()
	for _, kind := range []string{"common", "rare", "mixed"} {
		queries := NewCorpus(3).Queries(kind, 200)
		ours := s.measure(queries, func(q string) {
			_, err := s.Index.Search(t.Context(), &index.Query{Datasets: []string{s.Dataset}, Text: q, Limit: 10})
			require.NoError(t, err)
		})
		t.Logf("%-7s %v", kind, ours)
		if s.Plain != nil {
			theirs := s.measure(queries[:s.PlainQueries], s.Plain)
			t.Logf("%-7s %v plain, ratio of p50 %.2f", kind, theirs, float64(ours.p50)/float64(theirs.p50))
		}
	}
	if s.Dims == 0 {
		return
	}
	s.recall(t)
	c := NewCorpus(4)
	queries := c.Queries("mixed", 100)
	for _, topK := range []int{1024, 128} {
		t.Logf("hybrid, top_k %d: %v", topK, s.measure(queries, func(q string) {
			_, err := s.Index.Search(t.Context(), &index.Query{
				Datasets: []string{s.Dataset}, Text: q, Vector: c.Vector(s.Dims), VectorWeight: 0.5,
				Limit: 10, TopK: topK,
			})
			require.NoError(t, err)
		}))
	}
}

// recall reports how many of the nearest chunks searches by vector find, of those that a comparison
// with all of them finds.
func (s *Scale) recall(t *testing.T) {
	t.Helper()
	const most, queries = 1024, 50
	c := NewCorpus(5)
	vectors, nearest := make([][]float32, queries), make([][]near, queries)
	for i := range vectors {
		vectors[i] = c.Vector(s.Dims)
	}
	for d := range NewCorpus(1).Documents(s.Chunks, s.Dims) {
		for chunk := range d.Chunks {
			unit, err := index.Unit(chunk.Vector)
			require.NoError(t, err)
			for i, q := range vectors {
				nearest[i] = append(nearest[i], near{d.ID + "/" + chunk.ID, dot(q, unit)})
				if len(nearest[i]) == 4*most {
					nearest[i] = best(nearest[i], most)
				}
			}
		}
	}
	for i := range nearest {
		nearest[i] = best(nearest[i], most)
	}
	for _, topK := range []int{1024, 128} {
		for _, n := range []int{10, 100, 1024} {
			if n > topK {
				continue
			}
			found := 0
			for i, q := range vectors {
				out, err := s.Index.Search(t.Context(), &index.Query{
					Datasets: []string{s.Dataset}, Vector: q, Limit: n, TopK: topK,
				})
				require.NoError(t, err)
				hits := map[string]bool{}
				for _, h := range out.Hits {
					hits[h.Document+"/"+h.Chunk.ID] = true
				}
				for _, c := range nearest[i][:min(n, len(nearest[i]))] {
					if hits[c.key] {
						found++
					}
				}
			}
			t.Logf("vectors, top_k %d: recall@%d %.4f", topK, n, float64(found)/float64(n*queries))
		}
	}
}

// near is a chunk with its cosine.
type near struct {
	key    string
	cosine float32
}

// best returns those with the highest cosines.
func best(list []near, most int) []near {
	slices.SortFunc(list, func(a, b near) int { return cmp.Compare(b.cosine, a.cosine) })
	return list[:min(most, len(list))]
}

func dot(a, b []float32) (sum float32) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// times of searches: on the clock, and of the processor for each, here and in the server.
type times struct{ p50, p99, processor, server time.Duration }

func (t times) String() string {
	return fmt.Sprintf("p50 %v p99 %v, %v of the processor, %v of the server", t.p50, t.p99, t.processor, t.server)
}

func (s *Scale) measure(queries []string, search func(string)) times {
	all := make([]time.Duration, len(queries))
	server := s.Server
	if server == nil {
		server = func() time.Duration { return 0 }
	}
	before, beforeThere := servertest.ProcessorTime(), server()
	for i, q := range queries {
		began := time.Now()
		search(q)
		all[i] = time.Since(began).Round(10 * time.Microsecond)
	}
	per := func(used time.Duration) time.Duration {
		return (used / time.Duration(len(all))).Round(10 * time.Microsecond)
	}
	used, usedThere := servertest.ProcessorTime()-before, server()-beforeThere
	slices.Sort(all)
	return times{all[len(all)/2], all[len(all)*99/100], per(used), per(usedThere)}
}
