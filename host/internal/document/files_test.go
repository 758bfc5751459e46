package document

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/block"
	"github.com/easel-canvas/easel/host/internal/document/fidelity"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// filesVariable names a folder of PDF files that are not part of this project, with a folder for
// each kind: manuals, papers, cards, docling. A file X.pdf may have X.txt and X.raw.txt (its words
// in the two orders of pdftotext), X.outline.txt (a line "level, tab, title" for each bookmark) and
// X.json (the ground truth of Docling).
const filesVariable = "EASEL_PDF_FILES"

// figures are the measures of a file, or the sums of a kind. A map has no measure that was not
// taken.
type figures struct {
	sums, counts map[string]float64
}

func newFigures() *figures { return &figures{map[string]float64{}, map[string]float64{}} }

func (f *figures) add(name string, value float64) {
	f.sums[name] += value
	f.counts[name]++
}

func (f *figures) addAll(o *figures) {
	for name, value := range o.sums {
		f.sums[name] += value
		f.counts[name] += o.counts[name]
	}
}

func (f *figures) mean(name string) float64 { return f.sums[name] / f.counts[name] }

func (f *figures) String() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(f.sums)) {
		if strings.HasPrefix(name, "n ") {
			fmt.Fprintf(&b, "  %s %.0f", name[2:], f.sums[name])
		} else {
			fmt.Fprintf(&b, "  %s %.3f", name, f.mean(name))
		}
	}
	return b.String()
}

// TestFilesOfOthers measures how files read, prints it, and checks each kind.
func TestFilesOfOthers(t *testing.T) {
	folder := os.Getenv(filesVariable)
	if folder == "" {
		t.Skip(filesVariable + " is not set")
	}
	files, err := filepath.Glob(filepath.Join(folder, "*", "*.pdf"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	r := newReader(t, Limits{Time: patient})
	kinds := map[string]*figures{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		before := servertest.ProcessorTime()
		list, err := r.Blocks(t.Context(), Bytes("a.pdf", "", data))
		if err != nil {
			t.Logf("%s: %v", file, err)
			continue
		}
		f := figuresOf(t, strings.TrimSuffix(file, ".pdf"), list)
		f.add("n seconds", (servertest.ProcessorTime() - before).Seconds())
		kind := filepath.Base(filepath.Dir(file))
		t.Logf("%s %s:%s", kind, filepath.Base(file), f)
		if kinds[kind] == nil {
			kinds[kind] = newFigures()
		}
		kinds[kind].addAll(f)
		if value, ok := f.sums["order to truth"]; ok && !strings.HasPrefix(filepath.Base(file), "right_to_left") {
			require.GreaterOrEqual(t, value, 0.9, file)
		}
	}
	for kind, f := range kinds {
		t.Logf("%s:%s", kind, f)
		if least, ok := map[string]float64{"manuals": 0.99, "papers": 0.95, "cards": 0.99}[kind]; ok {
			require.GreaterOrEqual(t, f.mean("pairs"), least, kind)
		}
		if entries := f.sums["n entries"]; entries > 0 {
			require.GreaterOrEqual(t, f.sums["n entries right"]/entries, 0.999, kind)
			require.GreaterOrEqual(t, f.sums["n entries right"]/f.sums["n headings of outlines"], 0.9, kind)
		}
		require.LessOrEqual(t, f.sums["n headings above 120 bytes"], 1+f.sums["n headings"]/1000, kind)
	}
}

// figuresOf measures the blocks of a file that has a truth.
func figuresOf(t *testing.T, base string, list []block.Block) *figures {
	f := newFigures()
	headings := fidelity.HeadingsOf(list)
	f.add("n headings", float64(len(headings)))
	long, tables := 0, 0
	for _, h := range headings {
		if len(h.Title) > 120 {
			long++
		}
	}
	for i := range list {
		if list[i].Kind == block.Table {
			tables++
		}
	}
	f.add("n headings above 120 bytes", float64(long))
	f.add("n tables", float64(tables))
	got := fidelity.Words(block.Plain(list))
	var truths [][]string
	for _, end := range []string{".txt", ".raw.txt"} {
		if text, err := os.ReadFile(base + end); err == nil {
			truths = append(truths, fidelity.Words(string(text)))
		}
	}
	if len(truths) > 0 {
		f.add("pairs", fidelity.Pairs(got, truths...))
	}
	if lines, err := os.ReadFile(base + ".outline.txt"); err == nil {
		f.outline(string(lines), headings)
	}
	if data, err := os.ReadFile(base + ".json"); err == nil {
		var d doclingDocument
		require.NoError(t, json.Unmarshal(data, &d))
		f.docling(&d, got, headings, list)
	}
	return f
}

// outline counts the entries that are headings of their level, in order.
func (f *figures) outline(lines string, headings []fidelity.Heading) {
	const number = 12 // characters of a number that bookmarks lack
	key := func(s string) string { return strings.Join(fidelity.Words(s), "") }
	at, entries, right := 0, 0, 0
	for line := range strings.Lines(lines) {
		level, title, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		entries++
		for i := at; i < len(headings); i++ {
			h, e := key(headings[i].Title), key(title)
			if strings.HasSuffix(h, e) && len(h)-len(e) < number &&
				strconv.Itoa(headings[i].Level) == min(level, strconv.Itoa(block.DeepestHeading)) {
				right++
				at = i + 1
				break
			}
		}
	}
	f.add("n entries", float64(entries))
	f.add("n entries right", float64(right))
	f.add("n headings of outlines", float64(len(headings)))
}

// doclingDocument is the part of a document of Docling that has words.
type doclingDocument struct {
	Body                            doclingNode
	Groups, Texts, Tables, Pictures []doclingNode
}

type doclingNode struct {
	Children []struct {
		Ref string `json:"$ref"`
	}
	Layer string `json:"content_layer"`
	Label string
	Text  string
	Orig  string
	Data  struct {
		Grid [][]struct {
			Text   string
			Row    int `json:"start_row_offset_idx"`
			Column int `json:"start_col_offset_idx"`
		}
	}
}

// doclingTruth collects a document in its order, without headers and footers. Captions of
// tables go before them, as they do on the pages.
type doclingTruth struct {
	text     strings.Builder
	headings []fidelity.Heading
	tables   [][][]string
}

func (d *doclingDocument) walk(n *doclingNode, out *doclingTruth) {
	if n.Layer == "furniture" {
		return
	}
	out.text.WriteString(n.Orig + "\n")
	if n.Label == "section_header" || n.Label == "title" {
		out.headings = append(out.headings, fidelity.Heading{Level: 1, Title: n.Text})
	}
	for _, c := range n.Children {
		list, number, _ := strings.Cut(strings.TrimPrefix(c.Ref, "#/"), "/")
		i, _ := strconv.Atoi(number)
		d.walk(&map[string][]doclingNode{
			"groups": d.Groups, "texts": d.Texts, "tables": d.Tables, "pictures": d.Pictures,
		}[list][i], out)
	}
	var rows [][]string
	for r, row := range n.Data.Grid {
		var cells []string
		for k, c := range row {
			if cells = append(cells, c.Text); c.Row == r && c.Column == k {
				out.text.WriteString(c.Text + " ")
			}
		}
		rows = append(rows, cells)
	}
	if n.Label == "table" && len(rows) > 0 {
		out.tables = append(out.tables, rows)
	}
}

func (f *figures) docling(d *doclingDocument, got []string, headings []fidelity.Heading, list []block.Block) {
	var truth doclingTruth
	d.walk(&d.Body, &truth)
	f.add("order to truth", fidelity.Indel(got, fidelity.Words(truth.text.String())))
	flat := slices.Clone(headings) // like the expected ones
	for i := range flat {
		flat[i].Level = 1
	}
	f.add("headings to truth", fidelity.Headings(flat, truth.headings))
	f.add("n true tables", float64(len(truth.tables)))
	for _, want := range truth.tables {
		best := 0.0
		for i := range list {
			if list[i].Kind == block.Table {
				best = max(best, fidelity.Tables(list[i].Rows, want))
			}
		}
		f.add("tables to truth", best)
	}
}
