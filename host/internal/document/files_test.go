package document

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/block"
	"github.com/easel-canvas/easel/host/internal/document/fidelity"
	"github.com/easel-canvas/easel/host/internal/servertest"
)

// filesVariable names a folder of PDF files that are not part of this project, one folder for each
// kind. A file X.pdf may have X.txt and X.raw.txt (its words in the two orders of pdftotext),
// X.outline.txt (a line "level, tab, title" for each bookmark) and X.json (ground truth of Docling).
const filesVariable = "EASEL_PDF_FILES"

// figures are the measures of a file; a negative one was not measured.
type figures struct {
	pairs, indel               float64
	entries, right, extra      int // of the outline
	headings, long             int
	mhs, teds                  float64
	tables, trueTables, pages_ int
	seconds                    float64
}

// TestFilesOfOthers measures how files read, and prints it.
func TestFilesOfOthers(t *testing.T) {
	folder := os.Getenv(filesVariable)
	if folder == "" {
		t.Skip(filesVariable + " is not set")
	}
	files, err := filepath.Glob(filepath.Join(folder, "*", os.Getenv("EASEL_PDF_ONLY")+"*.pdf"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	r := newReader(t, Limits{Time: patient})
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		before := servertest.ProcessorTime()
		list, err := r.Blocks(t.Context(), Bytes("a.pdf", "", data))
		used := servertest.ProcessorTime() - before
		if err != nil {
			t.Logf("%-40s %v", filepath.Base(file), err)
			continue
		}
		if dump := os.Getenv("EASEL_PDF_DUMP"); dump != "" {
			require.NoError(t, os.MkdirAll(dump, 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dump, filepath.Base(file)+".md"), []byte(dumped(list)), 0o644))
		}
		f := measured(t, strings.TrimSuffix(file, ".pdf"), list)
		f.seconds = used.Seconds()
		kind := filepath.Base(filepath.Dir(file))
		fmt.Printf("%-12s %-28s pairs %6.3f nid %6.3f outline %4d/%4d extra %4d headings %4d long %3d mhs %5.2f tables %3d of %3d teds %5.2f %6.2fs\n", kind, filepath.Base(file), f.pairs, f.indel, f.right, f.entries, f.extra, f.headings, f.long, f.mhs, f.tables, f.trueTables, f.teds, f.seconds)
	}
}

func dumped(list []block.Block) string {
	var b strings.Builder
	for i := range list {
		fmt.Fprintf(&b, "<<p%d %s%d>> %s\n", list[i].Page(), list[i].Kind, list[i].Level, list[i].Markdown())
	}
	return b.String()
}

func measured(t *testing.T, base string, list []block.Block) figures {
	f := figures{pairs: -1, indel: -1, mhs: -1, teds: -1, trueTables: -1}
	headings := fidelity.HeadingsOf(list)
	f.headings = len(headings)
	for _, h := range headings {
		if len(h.Title) > 120 {
			f.long++
		}
	}
	got := fidelity.Words(block.Plain(list))
	var truths [][]string
	for _, end := range []string{".txt", ".raw.txt"} {
		if text, err := os.ReadFile(base + end); err == nil {
			truths = append(truths, fidelity.Words(string(text)))
		}
	}
	if len(truths) > 0 {
		f.pairs = fidelity.Pairs(got, truths...)
	}
	for i := range list {
		if list[i].Kind == block.Table {
			f.tables++
		}
	}
	if lines, err := os.ReadFile(base + ".outline.txt"); err == nil {
		f.outline(string(lines), headings)
	}
	if data, err := os.ReadFile(base + ".json"); err == nil {
		f.docling(t, data, got, headings, list)
	}
	return f
}

func key(s string) string { return strings.Join(fidelity.Words(s), "") }

// outline counts the entries that are headings of their level, in order.
func (f *figures) outline(lines string, headings []fidelity.Heading) {
	at := 0
	for line := range strings.Lines(lines) {
		level, title, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		n, _ := strconv.Atoi(level)
		f.entries++
		for i := at; i < len(headings); i++ {
			h, e := key(headings[i].Title), key(title)
			if (h == e || strings.HasSuffix(h, e) && len(h)-len(e) < 12) && headings[i].Level == min(n, 6) {
				f.right++
				at = i + 1
				break
			}
		}
	}
	f.extra = f.headings - f.right
}

type doclingDocument struct {
	Body     doclingNode
	Groups   []doclingNode
	Texts    []doclingNode
	Tables   []doclingNode
	Pictures []doclingNode
}

type doclingNode struct {
	Children []struct {
		Ref string `json:"$ref"`
	}
	Layer string `json:"content_layer"`
	Label string
	Text  string
	Orig  string
	Level int
	Data  struct {
		Grid [][]struct {
			Text   string
			Row    int `json:"start_row_offset_idx"`
			Column int `json:"start_col_offset_idx"`
		}
	}
}

func (f *figures) docling(t *testing.T, data []byte, got []string, headings []fidelity.Heading, list []block.Block) {
	var d doclingDocument
	require.NoError(t, json.Unmarshal(data, &d))
	var text strings.Builder
	var tables [][][]string
	var want []fidelity.Heading
	var walk func(n *doclingNode)
	walk = func(n *doclingNode) {
		if n.Layer == "furniture" {
			return
		}
		text.WriteString(n.Orig + "\n")
		if n.Label == "section_header" || n.Label == "title" {
			want = append(want, fidelity.Heading{Level: max(n.Level, 1), Title: n.Text})
		}
		var rows [][]string
		for r, row := range n.Data.Grid {
			var cells []string
			for k, c := range row {
				cells = append(cells, c.Text)
				if c.Row == r && c.Column == k {
					text.WriteString(c.Text + " ")
				}
			}
			rows = append(rows, cells)
			text.WriteString("\n")
		}
		if n.Label == "table" && len(rows) > 0 {
			tables = append(tables, rows)
		}
		for _, c := range n.Children {
			parts := strings.Split(c.Ref, "/")
			i, _ := strconv.Atoi(parts[2])
			walk(&map[string][]doclingNode{"groups": d.Groups, "texts": d.Texts, "tables": d.Tables, "pictures": d.Pictures}[parts[1]][i])
		}
	}
	walk(&d.Body)
	f.indel = fidelity.Indel(got, fidelity.Words(text.String()))
	flat := slices.Clone(headings) // the truth has one level
	for i := range flat {
		flat[i].Level = 1
	}
	for i := range want {
		want[i].Level = 1
	}
	f.mhs = fidelity.Headings(flat, want)
	f.trueTables = len(tables)
	var mine [][][]string
	for i := range list {
		if list[i].Kind == block.Table {
			mine = append(mine, list[i].Rows)
		}
	}
	sum := 0.0
	for _, w := range tables {
		best := 0.0
		for _, m := range mine {
			best = max(best, fidelity.Tables(m, w))
		}
		sum += best
	}
	if len(tables) > 0 {
		f.teds = sum / float64(len(tables))
	}
}

var _ = slices.Sort[[]int]
var _ = time.Second
