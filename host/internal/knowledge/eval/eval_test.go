package eval

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/index/sqlite"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

func TestMeasures(t *testing.T) {
	found := []Found{{"x", 9}, {"b", 8}, {"c", 7}, {"a", 6}}
	m, ok := measure(found, map[string]int{"a": 3, "b": 1, "d": 2, "c": 0}, []int{1, 2, 4})
	require.True(t, ok)
	ideal := 3 + 2/math.Log2(3) + 0.5
	require.InDelta(t, (1/math.Log2(3)+3/math.Log2(5))/ideal, m.NDCG, 1e-12)
	require.Equal(t, 0.5, m.MRR)
	require.InDeltaMapValues(t, map[int]float64{1: 0, 2: 1.0 / 3, 4: 2.0 / 3}, m.Recall, 1e-12)
	_, ok = measure(found, map[string]int{"a": 0}, nil)
	require.False(t, ok, "a query without a relevant document does not count")
}

// Only the first ten count for the gain, of what was found and of the best order.
func TestGainOfTen(t *testing.T) {
	grades := map[string]int{}
	var found []Found
	for i := range 20 {
		id := string(rune('a' + i))
		grades[id] = 1
		found = append(found, Found{id, 1})
	}
	m, _ := measure(found, grades, []int{10})
	require.InDelta(t, 1, m.NDCG, 1e-12)
	require.InDelta(t, 0.5, m.Recall[10], 1e-12)
}

func TestFilesPlainAndGzipped(t *testing.T) {
	file := filepath.Join(t.TempDir(), "q.gz")
	f, err := os.Create(file)
	require.NoError(t, err)
	w := gzip.NewWriter(f)
	_, err = w.Write([]byte("{\"id\": 7, \"text\": \"x\"}\n\n{\"_id\": \"b\", \"text\": \"y\"}"))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, f.Close())
	queries, err := ReadQueries(file)
	require.NoError(t, err)
	require.Equal(t, []Query{{"7", "x"}, {"b", "y"}}, queries)
	for d, err := range ReadCorpus(write(t, "c", "\uFEFF{\"id\": \"a\", \"title\": \"T\", \"text\": \"x\"}\r\n")) {
		require.NoError(t, err)
		require.Equal(t, Document{"a", "T", "x"}, d)
	}
	j, err := ReadJudgements(write(t, "r", "query-id\tcorpus-id\tscore\nq 1\td\t2\nq 1\te\t0\n"))
	require.NoError(t, err)
	require.Equal(t, Judgements{"q 1": {"d": 2, "e": 0}}, j)
}

func TestBadFiles(t *testing.T) {
	for text, want := range map[string]string{
		"{\"id\": \"a\"}\nnonsense":           "line 2: not a JSON object with id and text",
		"{\"text\": \"a\"}":                   `line 1: no "id"`,
		"{\"id\": \"a\"}\n\n{\"_id\": \"a\"}": `line 3: id "a" is that of line 1`,
		"{\"id\": [1]}":                       "line 1: not a JSON object with id and text: id [1] is neither",
		"":                                    "it has no queries",
	} {
		file := write(t, "queries.jsonl", text)
		_, err := ReadQueries(file)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, file)
	}
	for text, want := range map[string]string{
		"a b 1":                "line 1: 1 fields between tabs, want query, document and grade",
		"a\tb\t1\na\tc\tx":     `line 2: grade "x" is not a whole number`,
		"a\tb\t1\na\tb\t2":     `line 2: document "b" is judged twice for query "a"`,
		"query\tdocument\tx\n": "it has no judgements",
	} {
		_, err := ReadJudgements(write(t, "r.tsv", text))
		require.ErrorContains(t, err, want)
	}
	_, err := ReadQueries("/nowhere/q.jsonl")
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = ReadQueries(write(t, "q.gz", "\x1f\x8b123456789012345"))
	require.ErrorContains(t, err, "gzip")
}

func TestSettings(t *testing.T) {
	s := Defaults()
	require.NoError(t,
		s.Set("mode=hybrid, k1=1.2,b=0,language=german,fusion=rrf,vector_weight=0.6,top_k=50,chunk=none"))
	require.Equal(t, "mode=hybrid,chunk=none,stemmer=german,k1=1.2,b=0,fusion=rrf,vector_weight=0.6", s.String())
	for list, want := range map[string]string{
		"mode":            `setting "mode" is not KEY=VALUE`,
		"mod=words":       `unknown setting "mod" (one of mode, chunk, language`,
		"mode=x":          "setting mode=x: unknown value (one of words, vectors, hybrid)",
		"vector_weight=2": "setting vector_weight=2: it is not a number from 0 to 1",
		"k1=NaN":          "setting k1=NaN: it is not a number",
	} {
		require.ErrorContains(t, s.Set(list), want)
	}
}

// letters is an embedding by letters: texts with the same letters are alike.
type letters struct{}

func (letters) Model() string { return "letters" }

func (letters) Embed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i] = make([]float32, 26)
		for _, r := range strings.ToLower(text) {
			if r >= 'a' && r <= 'z' {
				out[i][r-'a']++
			}
		}
	}
	return out, nil
}

func evaluation(t *testing.T) *Evaluation {
	t.Helper()
	e := &Evaluation{
		Corpus: func(yield func(Document, error) bool) {
			for _, d := range []Document{{"d1", "Returns", "goods go back"}, {"d2", "", "listen"}, {"d3", "", "42"}} {
				if !yield(d, nil) {
					return
				}
			}
		},
		Queries:    []Query{{"q1", "return of goods"}, {"q2", "silent"}, {"q3", "unjudged"}, {"q4", "??"}},
		Judgements: Judgements{"q1": {"d1": 1}, "q2": {"d2": 2}, "q4": {"d3": 1}},
		Depths:     []int{10},
		Open:       func(ctx context.Context) (index.Index, error) { return sqlite.Open(ctx, "") },
		Embed:      letters{},
	}
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e
}

func TestModes(t *testing.T) {
	e := evaluation(t)
	for mode, want := range map[Mode]float64{Words: 1.0 / 3, Vectors: 2.0 / 3, Hybrid: 2.0 / 3} {
		s := Defaults()
		s.Mode = mode
		run, err := e.Run(t.Context(), s)
		require.NoError(t, err)
		require.Equal(t, 3, run.Judged)
		require.InDelta(t, want, run.Mean.NDCG, 1e-9, mode)
	}
	require.Len(t, e.indexes, 2, "vectors and hybrid share an index")
}

func TestReport(t *testing.T) {
	e := evaluation(t)
	words := Defaults()
	first, err := e.Run(t.Context(), words)
	require.NoError(t, err)
	hybrid := words
	hybrid.Mode = Hybrid
	second, err := e.Run(t.Context(), hybrid)
	require.NoError(t, err)
	var table, data, run strings.Builder
	r := NewReport(e, first, second)
	require.NoError(t, r.WriteTable(&table))
	require.Contains(t, table.String(), "1 queries better, 0 worse, 2 equal")
	require.Contains(t, table.String(), "q2     0.0000  1.0000  +1.0000")
	require.NoError(t, NewReport(e, first, nil).WriteTable(&table))
	require.Contains(t, table.String(), "2 queries found nothing relevant among the first 10")
	require.NoError(t, r.WriteJSON(&data))
	var got map[string]any
	require.NoError(t, json.Unmarshal([]byte(data.String()), &got))
	require.Equal(t, []any{map[string]any{"id": "q2", "before": 0.0, "after": 1.0, "change": 1.0}}, got["differences"])
	require.NoError(t, r.WriteRun(&run, e.Queries))
	require.Regexp(t, `^q1 d1 [0-9.]+\n$`, run.String())
}

func TestFilesOfOtherCollections(t *testing.T) {
	e := evaluation(t)
	e.Judgements = Judgements{"q1": {"other": 1}}
	_, err := e.Run(t.Context(), Defaults())
	require.ErrorContains(t, err, "no judged document is in the corpus")
	e.Judgements = Judgements{"other": {"d1": 1}}
	_, err = e.Run(t.Context(), Defaults())
	require.ErrorContains(t, err, "no query has a judgement of a relevant document")
	e.Embed = nil
	s := Defaults()
	s.Mode = Vectors
	_, err = e.Run(t.Context(), s)
	require.ErrorContains(t, err, "mode vectors needs an embedding model")
}

// The project's own set has 150 questions: fault codes, paraphrases that share few words with the
// answer, Chinese, and rows of tables. The numbers are in docs/decisions; four of five paraphrases
// cannot be found by words.
func TestOwnSet(t *testing.T) {
	run := byWords(t, "set", 150)
	require.InDelta(t, 0.716, run.Mean.NDCG, 0.005)
	require.InDelta(t, 0.747, run.Mean.Recall[10], 0.005)
	for _, q := range run.Queries[:35] {
		require.InDelta(t, 1, q.NDCG, 1e-9, "exact codes are found: %s", q.ID)
	}
}

// Questions in Chinese in other words than the passage: 18 of 30 were found among the first five
// by pairs of characters alone.
func TestChineseSet(t *testing.T) {
	run := byWords(t, "chinese", 30)
	require.InDelta(t, 0.821, run.Mean.NDCG, 0.005)
	require.InDelta(t, 0.9, run.Mean.Recall[5], 0.001)
}

// byWords searches a set of questions by words.
func byWords(t *testing.T, name string, questions int) *Run {
	t.Helper()
	set := "testdata/" + name + "/"
	queries, err := ReadQueries(set + "queries.jsonl")
	require.NoError(t, err)
	require.Len(t, queries, questions)
	judgements, err := ReadJudgements(set + "qrels.tsv")
	require.NoError(t, err)
	e := &Evaluation{
		Corpus: ReadCorpus(set + "corpus.jsonl"), Queries: queries, Judgements: judgements, Depths: []int{5, 10, 100},
		Open: func(ctx context.Context) (index.Index, error) { return sqlite.Open(ctx, "") },
	}
	defer func() { require.NoError(t, e.Close()) }()
	run, err := e.Run(t.Context(), Defaults())
	require.NoError(t, err)
	require.Equal(t, questions, run.Judged)
	return run
}
