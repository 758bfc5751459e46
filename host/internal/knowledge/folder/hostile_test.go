package folder

import (
	"bytes"
	"context"
	"iter"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/document/hostile"
	"github.com/easel-canvas/easel/host/internal/knowledge/ingest"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// weighingCutter records what the pieces of a document are, and how much memory is in use while
// they are taken.
type weighingCutter struct {
	ingest.Cutter
	texts  []string // of the pieces, when record is set
	record bool
	pieces int
	bytes  int    // of all pieces
	most   uint64 // bytes of the heap in use
}

func (c *weighingCutter) Cut(ctx context.Context, in ingest.Input) iter.Seq2[ingest.Piece, error] {
	const weighEvery = 20_000 // pieces
	return func(yield func(ingest.Piece, error) bool) {
		defer func() { c.most = max(c.most, live()) }()
		for p, err := range c.Cutter.Cut(ctx, in) {
			if err == nil {
				if c.pieces%weighEvery == 0 {
					c.most = max(c.most, live())
				}
				c.pieces++
				c.bytes += len(p.Content) + len(p.Text)
				if c.record {
					c.texts = append(c.texts, p.Content)
				}
			}
			if !yield(p, err) {
				return
			}
		}
	}
}

// live returns the bytes of the heap that are in use.
func live() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// cutFile takes a folder with one file in, and returns its document.
func cutFile(t *testing.T, name string, data []byte, record bool) (*weighingCutter, dataset.Document) {
	t.Helper()
	root := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(root, "a"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(root, "a", name), data, 0o600))
	reader := &document.Reader{}
	t.Cleanup(func() { require.NoError(t, reader.Close()) })
	c := &weighingCutter{Cutter: ingest.DocumentCutter{Reader: reader}, record: record}
	f := opened(t, Config{Root: root, Cutter: c, Poll: -1, Wait: -1})
	require.NoError(t, f.Await(t.Context()))
	return c, f.document(t, "a", name)
}

// multiplying are documents within all limits of a reader whose chunks would repeat far more than
// the document has.
func multiplying() []hostile.File {
	return []hostile.File{
		{Name: "wide-head.csv", Make: func() []byte {
			head := strings.Repeat("x", 32<<10) + ",b\n"
			return append([]byte(head), bytes.Repeat([]byte("y,1\n"), 100_000)...)
		}},
		{Name: "deep-headings.md", Make: func() []byte {
			var b bytes.Buffer
			for level := range 5 {
				b.WriteString(strings.Repeat("#", level+1) + " " + strings.Repeat("long ", 50) + "\n")
			}
			b.Write(bytes.Repeat([]byte("###### a\n\nb\n\n"), 50_000))
			return b.Bytes()
		}},
		{Name: "long-member.json", Make: func() []byte {
			list := strings.TrimSuffix(strings.Repeat("1234567,", 200_000), ",")
			return []byte(`{"` + strings.Repeat("k", 64<<10) + `":[` + list + "]}")
		}},
	}
}

// Tables, JSON and texts that multiply when they are read take no more memory than their text, and
// their chunks stay in proportion to it.
func TestHostileTexts(t *testing.T) {
	const mostMemory, leastBound, growth = 100 << 20, 16 << 20, 16
	for _, f := range slices.Concat(hostile.Set(), multiplying()) {
		if !slices.Contains([]string{".csv", ".json", ".md", ".txt"}, path.Ext(f.Name)) {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			before := live()
			data := f.Make()
			size := len(data)
			c, d := cutFile(t, f.Name, data, false)
			t.Logf("%s: %d pieces of %d bytes, %d MB of the heap: %s", d.State, c.pieces, c.bytes,
				(int64(c.most)-int64(before))>>20, d.Messages)
			require.Contains(t, []dataset.State{dataset.Done, dataset.Failed}, d.State)
			require.Less(t, c.most, before+mostMemory)
			require.LessOrEqual(t, c.bytes, max(leastBound, growth*size))
		})
	}
}

// Ordinary tables and JSON are cut whole; what is broken fails and is not taken in by halves.
func TestTablesAndJSON(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
		says       string
	}{
		{
			"a.csv", "name;days\nshoes;30\n;\nhats;\"7\n8\";x\n",
			[]string{"| name | days |\n| --- | --- |\n| shoes | 30 |\n| hats | 7 8 | x |"},
			"",
		},
		{"a.tsv", "name\tdays\na,b\t3\n", []string{"| name | days |\n| --- | --- |\n| a,b | 3 |"}, ""},
		{"a.csv", "", nil, ""},
		{"a.csv", "name\n\"" + strings.Repeat("x", 5<<20), nil, "bytes in one row"},
		{
			"a.json", ` [ {"a": [1, "]," ]}, "x" , [2,{"b":{"c":null}}] ] `,
			[]string{
				"```json\n{\"a\": [1, \"],\" ]}\n```\n\n```json\n\"x\"\n```\n\n" +
					"```json\n[2,{\"b\":{\"c\":null}}]\n```",
			},
			"",
		},
		{"a.json", "[]", nil, ""},
		{"a.json", "[ ]", nil, ""},
		{
			"a.json", `{"a":{"b":1},"c":true}`,
			[]string{"# a\n\n```json\n{\"b\":1}\n```", "# c\n\n```json\ntrue\n```"},
			"",
		},
		{"a.json", "[1,]", nil, "damaged"},
		{"a.json", "[1", nil, "damaged"},
		{"a.json", "[1}", nil, "damaged"},
		{"a.json", `{"a":1`, nil, "damaged"},
		{"a.json", `{"a":1}]`, nil, "damaged"},
		{"a.json", "[1] 2", []string{"```json\n[1]\n```\n\n```json\n2\n```"}, ""},
		{"a.json", `["\""]`, []string{"```json\n\"\\\"\"\n```"}, ""},
		{"a.jsonl", "{\"a\":1}\n\n[2,3]\n", []string{"```json\n{\"a\":1}\n```\n\n```json\n[2,3]\n```"}, ""},
		{"a.jsonl", "[1,2]\n[3]\n", []string{"```json\n[1,2]\n```\n\n```json\n[3]\n```"}, ""},
		{"a.ndjson", `{"a":1,"b":2}`, []string{"```json\n{\"a\":1,\"b\":2}\n```"}, ""},
	} {
		t.Run(c.name+" "+c.text[:min(len(c.text), 20)], func(t *testing.T) {
			got, d := cutFile(t, c.name, []byte(c.text), true)
			require.Equal(t, c.want, got.texts, d.Messages)
			if c.says == "" {
				require.Equal(t, dataset.Done, d.State, d.Messages)
			} else {
				require.Equal(t, dataset.Failed, d.State)
				require.Contains(t, d.Messages, c.says)
			}
		})
	}
}
