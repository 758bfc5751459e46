package files

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/offline"
	"github.com/easel-canvas/easel/host/internal/document"
)

// Folder is a directory whose sub-directories are datasets, by name; texts right inside it are the dataset ".".
// Passages are paragraphs of .md and .txt files, found by the words they share with the query. It reads the files
// anew for each search, so they may change meanwhile.
type Folder struct{ Root string }

var _ engine.Retriever = Folder{}

// longestPassage is where paragraphs are no longer put together, in bytes.
const longestPassage = 800

// passage is one paragraph, or several short ones that follow each other.
type passage struct {
	dataset, file string
	number        int
	text          string
}

// Retrieve finds passages. Memories are not kept here and find nothing.
func (f Folder) Retrieve(ctx context.Context, q *engine.RetrievalQuery) (engine.Found, error) {
	var all []passage
	for _, dataset := range q.Datasets {
		list, err := f.read(ctx, dataset)
		if err != nil {
			return engine.Found{}, err
		}
		all = append(all, list...)
	}
	texts := make([]string, len(all))
	for i, p := range all {
		texts[i] = p.text
	}
	var found engine.Found
	counts := map[string]int{}
	var documents []string
	for _, m := range offline.Rank(q.Text, texts) {
		if m.Score < q.SimilarityThreshold || len(found.Chunks) == max(1, q.TopN) {
			break
		}
		p := all[m.Index]
		found.Chunks = append(found.Chunks, p.chunk(m.Score))
		if counts[p.document()]++; counts[p.document()] == 1 {
			documents = append(documents, p.document())
		}
	}
	for _, d := range documents {
		found.DocAggs = append(found.DocAggs, engine.Object("doc_name", path.Base(d), "doc_id", d, "count", counts[d]))
	}
	return found, nil
}

func (p *passage) document() string { return path.Join(p.dataset, p.file) }

func (p *passage) chunk(score float64) engine.Value {
	id := sha1.Sum(fmt.Appendf(nil, "%s#%d", p.document(), p.number))
	return engine.Object(
		"chunk_id", hex.EncodeToString(id[:]), "content_with_weight", p.text, "doc_id", p.document(),
		"docnm_kwd", path.Base(p.file), "kb_id", p.dataset, "similarity", score, "term_similarity", score)
}

// read is every passage of a dataset.
func (f Folder) read(ctx context.Context, dataset string) ([]passage, error) {
	root, err := os.OpenRoot(f.Root)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	defer root.Close()
	tree := root.FS()
	if info, err := fs.Stat(tree, dataset); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("dataset %q does not exist; %s has %s", dataset, f.Root, strings.Join(f.datasets(tree), ", "))
	}
	var out []passage
	err = fs.WalkDir(tree, dataset, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case d.IsDir() && dataset == "." && name != ".":
			return fs.SkipDir
		case d.IsDir() || !slices.Contains([]string{".md", ".txt"}, strings.ToLower(path.Ext(name))):
			return nil
		}
		data, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		text, err := document.Decode(data)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		file := strings.TrimPrefix(name, dataset+"/")
		for i, p := range passages(text) {
			out = append(out, passage{dataset: dataset, file: file, number: i, text: p})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("dataset %q: %w", dataset, err)
	}
	return out, nil
}

func (f Folder) datasets(tree fs.FS) []string {
	names := []string{"."}
	entries, err := fs.ReadDir(tree, ".")
	if err != nil {
		return names
	}
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// passages cuts a text at blank lines; a heading stays with what follows it, short paragraphs stay together.
func passages(text string) []string {
	var out []string
	held := ""
	for part := range strings.SplitSeq(text, "\n\n") {
		part = strings.TrimSpace(part)
		switch {
		case part == "":
		case held == "":
			held = part
		case strings.HasPrefix(part, "#") || len(held)+len(part) > longestPassage:
			out = append(out, held)
			held = part
		default:
			held += "\n" + part
		}
	}
	if held != "" {
		out = append(out, held)
	}
	return out
}
