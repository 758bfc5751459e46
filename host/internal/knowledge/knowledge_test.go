package knowledge

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/document"
)

// patience bounds every wait; what is waited for takes a small part of it on a slow machine.
const patience = time.Minute

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// folder writes files: name, text, name, text ...
func folder(t testing.TB, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		write(t, dir, files[i], files[i+1])
	}
	return dir
}

func open(t testing.TB, cfg Config) *Base {
	t.Helper()
	if cfg.Log == nil {
		cfg.Log = quiet
	}
	if cfg.Wait == 0 {
		cfg.Wait = patience
	}
	b, err := Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

// ask gives what is found as "document: first line".
func ask(t testing.TB, b *Base, query string, datasets ...string) []string {
	t.Helper()
	found, err := b.Retrieve(t.Context(), &engine.RetrievalQuery{Text: query, Datasets: datasets, TopN: 5, SimilarityThreshold: 0.2})
	require.NoError(t, err)
	return shown(found)
}

func shown(found engine.Found) []string {
	var out []string
	for _, c := range found.Chunks {
		line, _, _ := strings.Cut(c.Get("content_with_weight").Str(), "\n")
		out = append(out, c.Get("doc_id").Str()+": "+line)
	}
	return out
}

func TestRetrieve(t *testing.T) {
	b := open(t, Config{Root: folder(t,
		"shop/terms.md", "# Shipping\n\nShipping takes three days.\n\n# Returns\n\nReturns are free for thirty days.",
		"shop/deep/faq.txt", "Gift cards never expire.",
		"shop/logo.bin", "returns",
		"shop/.hidden/x.txt", "returns",
		"shop/中文.md", "# 退货\n\n鞋子可以在三十天内退货，退货是免费的。\n\n# 运费\n\n运费五元。",
		"shop/prices.csv", "article;price\nTent;120\nRope, thin;30\n",
		"shop/staff.json", `[{"name": "Ada", "city": "London"}, {"name": "Grace", "skills": ["sailing", "code"]}]`,
		"shop/log.jsonl", "{\"event\": \"opened branch Oslo\"}\n\n{\"event\": \"closed branch Rome\"}\n",
		"other/x.txt", "Returns of another shop.",
		"top.txt", "Returns at the top.",
	)})
	for _, c := range []struct {
		name, query string
		datasets    []string
		want        []string
	}{
		{"the passage with its heading", "How long for free returns?", []string{"shop"}, []string{"shop/terms.md: # Returns"}},
		{"files in folders below", "gift cards", []string{"shop"}, []string{"shop/deep/faq.txt: Gift cards never expire."}},
		{"several datasets, the most alike first", "another returns shop", []string{"shop", "other"}, []string{"other/x.txt: Returns of another shop.", "shop/terms.md: # Returns"}},
		{"files right inside the root", "returns", []string{"."}, []string{"top.txt: Returns at the top."}},
		{"another form of the word", "return", []string{"."}, []string{"top.txt: Returns at the top."}},
		{"a Chinese word of two characters", "退货", []string{"shop"}, []string{"shop/中文.md: # 退货"}},
		{"a Chinese question", "请问运费多少？", []string{"shop"}, []string{"shop/中文.md: # 运费"}},
		{"a row of a table", "price of the tent", []string{"shop"}, []string{"shop/prices.csv: article: Tent", "shop/prices.csv: article: Rope, thin"}},
		{"an element of JSON", "who can do sailing", []string{"shop"}, []string{"shop/staff.json: name: Grace"}},
		{"a line of JSON", "Oslo", []string{"shop"}, []string{"shop/log.jsonl: event: opened branch Oslo"}},
		{"a document's name", "faq", []string{"shop"}, []string{"shop/deep/faq.txt: Gift cards never expire."}},
		{"nothing fits", "weather", []string{"shop"}, nil},
		{"no words", "?!", []string{"shop"}, nil},
		{"what the query language of the index means", `returns" OR terms : * NEAR(x) -`, []string{"."}, []string{"top.txt: Returns at the top."}},
		{"no dataset", "returns", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ask(t, b, c.query, c.datasets...)
			require.Equal(t, c.want, got[:min(len(got), max(1, len(c.want)))])
		})
	}
	for _, dataset := range []string{"missing", "../" + "shop", "/etc", "shop/deep", "shop/terms.md", ".hidden", "", "top.txt"} {
		_, err := b.Retrieve(t.Context(), &engine.RetrievalQuery{Text: "returns", Datasets: []string{dataset}})
		require.ErrorContains(t, err, "does not exist", dataset)
		require.ErrorContains(t, err, "., other, shop")
	}
}

func TestScoresAndLimits(t *testing.T) {
	b := open(t, Config{Root: folder(t, "a/1.txt", "red apple", "a/2.txt", "red pear", "a/3.txt", "red plum\n\n# Pie\n\nred apple pie")})
	find := func(n int, threshold float64) engine.Found {
		found, err := b.Retrieve(t.Context(), &engine.RetrievalQuery{Text: "red apple", Datasets: []string{"a"}, TopN: n, SimilarityThreshold: threshold})
		require.NoError(t, err)
		return found
	}
	all := find(10, 0)
	require.Len(t, all.Chunks, 4)
	best, _ := all.Chunks[0].Get("similarity").Float()
	require.InDelta(t, 1, best, 1e-9, "it holds every word")
	last, _ := all.Chunks[3].Get("similarity").Float()
	require.Greater(t, last, 0.0)
	require.Less(t, last, 0.5, "a word that all hold weighs less than half")
	require.Len(t, find(10, 0.5).Chunks, 2)
	require.Len(t, find(1, 0).Chunks, 1)
	require.Equal(t, `[{"doc_name":"1.txt","doc_id":"a/1.txt","count":1},{"doc_name":"3.txt","doc_id":"a/3.txt","count":2},{"doc_name":"2.txt","doc_id":"a/2.txt","count":1}]`,
		engine.List(find(10, 0).DocAggs...).JSON())
	found, err := b.Retrieve(t.Context(), &engine.RetrievalQuery{Text: "red apple", Memories: []string{"m"}, TopN: 3})
	require.NoError(t, err)
	require.Empty(t, found.Chunks, "no memories are kept here")
}

func TestMetadata(t *testing.T) {
	b := open(t, Config{Root: folder(t,
		"a/old.md", "---\nyear: 2019\nlang: \"EN\"\ntags: [news, sport]\nurl: https://example.org/old\n---\nA report.",
		"a/new.md", "---\nyear: 2024\nlang: de\n---\n\nA report.",
		"a/side.txt", "A report.", "a/side.txt.meta.json", `{"year": 2021, "lang": "fr", "draft": true}`,
		"a/plain.md", "---\nA report, and no metadata above it.\n---\nMore.",
	)})
	meta, err := b.Metadata(t.Context(), []string{"a"})
	require.NoError(t, err)
	require.JSONEq(t, `{"draft": ["true"], "lang": ["EN", "de", "fr"], "tags": ["news", "sport"], "url": ["https://example.org/old"], "year": ["2019", "2021", "2024"]}`, meta.JSON())
	for _, c := range []struct{ name, filter, want string }{
		{"numbers", `{"method": "manual", "manual": [{"key": "year", "op": ">", "value": "2020"}]}`, "new side"},
		{"equal, without case", `{"method": "manual", "manual": [{"key": "lang", "op": "=", "value": "en"}]}`, "old"},
		{"not equal", `{"method": "manual", "manual": [{"key": "lang", "op": "≠", "value": "en"}]}`, "new side"},
		{"the document's value inside the condition's", `{"method": "manual", "manual": [{"key": "lang", "op": "contains", "value": "de, fr"}]}`, "new side"},
		{"one of a list", `{"method": "manual", "manual": [{"key": "tags", "op": "start with", "value": "spo"}]}`, "old"},
		{"and", `{"method": "manual", "logic": "and", "manual": [{"key": "year", "op": "≥", "value": "2021"}, {"key": "lang", "op": "=", "value": "fr"}]}`, "side"},
		{"or", `{"method": "manual", "logic": "or", "manual": [{"key": "year", "op": "<", "value": "2000"}, {"key": "lang", "op": "=", "value": "fr"}]}`, "side"},
		{"an unknown key is ignored", `{"method": "manual", "manual": [{"key": "colour", "op": "=", "value": "x"}, {"key": "lang", "op": "=", "value": "fr"}]}`, "side"},
		{"nothing fits a canvas's own conditions", `{"method": "manual", "manual": [{"key": "year", "op": "=", "value": "1900"}]}`, ""},
		{"nothing fits a model's conditions", `{"method": "auto", "manual": [{"key": "year", "op": "=", "value": "1900"}]}`, "new old plain side"},
		{"no conditions", `{"method": "manual", "manual": []}`, "new old plain side"},
		{"no filter", `null`, "new old plain side"},
	} {
		t.Run(c.name, func(t *testing.T) {
			filter, err := engine.ParseJSONText(c.filter)
			require.NoError(t, err)
			found, err := b.Retrieve(t.Context(), &engine.RetrievalQuery{Text: "report", Datasets: []string{"a"}, TopN: 9, Filter: filter})
			require.NoError(t, err)
			got := map[string]bool{}
			for _, chunk := range found.Chunks {
				name := chunk.Get("docnm_kwd").Str()
				got[name[:strings.IndexByte(name, '.')]] = true
			}
			require.Equal(t, c.want, strings.Join(sortedKeys(got), " "))
		})
	}
	found, err := b.Retrieve(t.Context(), &engine.RetrievalQuery{Text: "report old", Datasets: []string{"a"}, TopN: 1})
	require.NoError(t, err)
	require.Equal(t, "https://example.org/old", found.Chunks[0].Get("url").Str())
	require.Equal(t, "2019", found.Chunks[0].Get("document_metadata").Get("year").Str())
}

// The index follows the folder while it is open, and while it was not.
func TestFolderIsFollowed(t *testing.T) {
	dir, index := folder(t, "a/1.txt", "first", "a/2.txt", "second"), filepath.Join(t.TempDir(), "index.db")
	cfg := Config{Root: dir, Index: index, Poll: time.Millisecond, Wait: patience, Log: quiet}
	b, err := Open(t.Context(), cfg)
	require.NoError(t, err)
	becomes := func(query string, want ...string) {
		t.Helper()
		var got []string
		require.Eventually(t, func() bool {
			got = ask(t, b, query, "a")
			return fmt.Sprint(got) == fmt.Sprint(want)
		}, patience, 5*time.Millisecond, "%v", &got)
	}
	becomes("first", "a/1.txt: first")
	write(t, dir, "a/1.txt", "changed words")
	becomes("first")
	becomes("words", "a/1.txt: changed words")
	require.NoError(t, os.Remove(filepath.Join(dir, "a", "2.txt")))
	becomes("second")
	write(t, dir, "a/1.txt.meta.json", `{"k": "v"}`)
	require.Eventually(t, func() bool {
		meta, err := b.Metadata(t.Context(), []string{"a"})
		return err == nil && meta.Len() == 1
	}, patience, 5*time.Millisecond)
	require.NoError(t, b.Close())

	write(t, dir, "a/3.txt", "third")
	require.NoError(t, os.Remove(filepath.Join(dir, "a", "1.txt")))
	b, err = Open(t.Context(), cfg)
	require.NoError(t, err)
	becomes("third", "a/3.txt: third")
	becomes("words")
	require.NoError(t, b.Close())

	require.NoError(t, os.WriteFile(index, []byte(strings.Repeat("no database ", 500)), 0o600))
	b, err = Open(t.Context(), cfg)
	require.NoError(t, err, "an index that is broken is made anew")
	becomes("third", "a/3.txt: third")
	require.NoError(t, b.Close())
}

// fakeReader reads documents of other kinds.
type fakeReader struct{}

func (fakeReader) Read(_ context.Context, s document.Source) (string, error) {
	text, err := document.DecodeSource(context.Background(), s, largest)
	if strings.HasPrefix(text, "broken") {
		err = fmt.Errorf("%s is damaged", s.Name)
	}
	return "read: " + text, err
}

func (fakeReader) Reserve(context.Context, int64) (func(), error) { return func() {}, nil }

// One document that cannot be read is told of once and keeps nobody from the others.
func TestBadDocuments(t *testing.T) {
	var said strings.Builder
	log := slog.New(slog.NewTextHandler(&said, nil))
	files := []string{
		"a/good.txt", "apple", "a/zero.txt", "apple \x00", "a/bad.json", `{"apple": `,
		"a/bad.jsonl", "1\n{apple", "a/x.pdf", "apple", "a/side.txt", "apple", "a/side.txt.meta.json", "{",
	}
	b := open(t, Config{Root: folder(t, files...), Poll: time.Millisecond, Log: log})
	require.Equal(t, []string{"a/good.txt: apple"}, ask(t, b, "apple", "a"))
	time.Sleep(20 * time.Millisecond)
	require.NoError(t, b.Close())
	for _, name := range []string{"zero.txt", "bad.json", "bad.jsonl", "side.txt"} {
		require.Equal(t, 1, strings.Count(said.String(), "document=a/"+name+" "), name)
	}

	b, err := Open(t.Context(), Config{Root: folder(t, "a/x.pdf", "apple", "a/y.pdf", "broken apple"), Reader: fakeReader{}, Wait: patience, Log: quiet})
	require.NoError(t, err)
	require.Equal(t, []string{"a/x.pdf: read: apple"}, ask(t, b, "apple", "a"))
	require.NoError(t, b.Close())

	_, err = Open(t.Context(), Config{Root: filepath.Join(t.TempDir(), "missing"), Log: quiet})
	require.ErrorContains(t, err, "missing")
}

// stuckReader says when it begins and never ends by itself.
type stuckReader chan struct{}

func (r stuckReader) Reserve(context.Context, int64) (func(), error) { return func() {}, nil }

func (r stuckReader) Read(ctx context.Context, _ document.Source) (string, error) {
	r <- struct{}{}
	<-ctx.Done()
	return "", ctx.Err()
}

func TestSearchDuringTheFirstIndexing(t *testing.T) {
	begun := make(stuckReader, 1)
	b := open(t, Config{Root: folder(t, "a/x.pdf", "apple"), Reader: begun, Wait: time.Millisecond})
	<-begun
	_, err := b.Retrieve(t.Context(), &engine.RetrievalQuery{Text: "apple", Datasets: []string{"a"}})
	require.ErrorIs(t, err, ErrIndexing)
	require.ErrorContains(t, err, "0 of 1")
}

func TestLinksAreNotFollowed(t *testing.T) {
	secret := folder(t, "s.txt", "apple")
	dir := folder(t, "a/good.txt", "apple")
	require.NoError(t, os.Symlink(filepath.Join(secret, "s.txt"), filepath.Join(dir, "a", "link.txt")))
	require.NoError(t, os.Symlink(secret, filepath.Join(dir, "b")))
	b := open(t, Config{Root: dir})
	require.Equal(t, []string{"a/good.txt: apple"}, ask(t, b, "apple", "a"))
	_, err := b.Retrieve(t.Context(), &engine.RetrievalQuery{Text: "apple", Datasets: []string{"b"}})
	require.ErrorContains(t, err, "does not exist")
}

func TestPassages(t *testing.T) {
	var got []string
	for p := range passages("# One\n\nfirst\n\nsecond\n\n" + strings.Repeat("word ", 160) + "\n\nlast\n\n## Two\n\n\n\nthird") {
		got = append(got, p.heading+"|"+p.text[:min(len(p.text), 20)])
	}
	require.Equal(t, []string{"|# One\nfirst\nsecond", "One|word word word word ", "One|last", "|## Two\nthird"}, got)

	for name, text := range map[string]string{
		"sentences": strings.Repeat("A sentence of some words. ", 500), "Chinese": strings.Repeat("这是一个句子。", 2000),
		"no blank at all": strings.Repeat("x", 10_000), "no blank in Chinese": strings.Repeat("字", 10_000), "lines": strings.Repeat("row of a list\n", 1000),
	} {
		t.Run(name, func(t *testing.T) {
			joined := ""
			for p := range passages(text) {
				require.LessOrEqual(t, len(p.text), longestPart)
				require.True(t, strings.ToValidUTF8(p.text, "") == p.text)
				joined += p.text
			}
			clean := func(s string) string { return strings.Join(strings.Fields(s), "") }
			require.Equal(t, clean(text), clean(joined), "nothing is lost")
		})
	}
}

// Of many passages, words that most of them hold do not choose candidates.
func TestSelective(t *testing.T) {
	holding := map[string]int{"common": 9000, "rare": 3, "other": 8000}
	require.Equal(t, []string{"common", "rare"}, selective([]string{"common", "rare", "unknown"}, holding, 9000), "there are few")
	require.Equal(t, []string{"rare"}, selective([]string{"common", "rare", "unknown"}, holding, 20_000))
	require.Equal(t, []string{"common", "other"}, selective([]string{"common", "other", "unknown"}, holding, 20_000), "there are no others")
	require.Empty(t, selective([]string{"unknown"}, holding, 20_000))
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"# a\n\nb", "---\nk: v\n---\nx", "a,b\n1,\"2\n", `{"a":[1,{"b":null}]}`, "[[[", "字。字"} {
		for _, name := range []string{"x.md", "x.csv", "x.tsv", "x.json", "x.jsonl"} {
			f.Add(name, []byte(s))
		}
	}
	b := &Base{cfg: Config{Reader: fakeReader{}}}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		d, err := b.parse(t.Context(), name, document.Bytes(name, "", data))
		if err != nil {
			return
		}
		for p, err := range d.passages {
			if err != nil {
				return
			}
			if p.text == "" || len(p.text) > longestPart+longestPassage {
				t.Fatalf("a passage of %d bytes", len(p.text))
			}
		}
	})
}

// BenchmarkRetrieve searches 50,000 passages for words that few, some and most of them hold.
func BenchmarkRetrieve(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	dir := b.TempDir()
	for i := range 500 {
		var text strings.Builder
		for range 100 {
			for range 60 {
				// Words as often as in a language: the n-th one every n-th time.
				fmt.Fprintf(&text, "w%dx ", int(1/(random.Float64()+1e-5)))
			}
			text.WriteString("\n\n# next\n\n")
		}
		write(b, dir, fmt.Sprintf("a/%d.md", i), text.String())
	}
	began := time.Now()
	base := open(b, Config{Root: dir, Index: filepath.Join(b.TempDir(), "i.db"), Poll: -1, Wait: time.Hour})
	require.NoError(b, base.await(b.Context()))
	b.Logf("indexed in %v", time.Since(began))
	for _, query := range []string{"w50000x", "w300x w400x w500x", "w1x w2x w3x"} {
		b.Run(query, func(b *testing.B) {
			for b.Loop() {
				_, err := base.Retrieve(b.Context(), &engine.RetrievalQuery{Text: query, Datasets: []string{"a"}, TopN: 8})
				require.NoError(b, err)
			}
		})
	}
}
