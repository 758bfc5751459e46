package knowledge

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/easel-canvas/easel/host/internal/document"
)

// parse turns a file into passages by its kind. They are made while they are taken.
func (b *Base) parse(ctx context.Context, name string, source document.Source) (content, error) {
	text, err := b.text(ctx, name, source)
	if err != nil {
		return content{}, err
	}
	out := content{}
	switch extension := strings.ToLower(path.Ext(name)); extension {
	case ".csv", ".tsv":
		out.passages = rows(text, extension == ".tsv")
	case ".json":
		out.passages = jsonPassages(text)
	case ".jsonl":
		out.passages = lines(text)
	default:
		out.meta, text = frontMatter(text)
		out.passages = passages(text)
	}
	out.passages = bounded(out.passages, max(leastPassages, 4*source.Size))
	return out, nil
}

// leastPassages is how many bytes of passages any document may have. Columns and keys are repeated
// in each of them.
const leastPassages = 16 << 20

// passageCost is what a passage takes in the index beside its text, in bytes.
const passageCost = 128

// bounded fails when passages have more than most bytes.
func bounded(list iter.Seq2[passage, error], most int64) iter.Seq2[passage, error] {
	return func(yield func(passage, error) bool) {
		left := most
		for p, err := range list {
			if left -= int64(len(p.text)) + passageCost; err == nil && left < 0 {
				err = fmt.Errorf("%w: more than %d bytes of passages", document.ErrLimit, most)
			}
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}

// text is a file as text.
func (b *Base) text(ctx context.Context, name string, source document.Source) (string, error) {
	if isPlain(name) {
		return document.DecodeSource(ctx, source, largest)
	}
	return b.cfg.Reader.Read(ctx, source)
}

// largestBlock is how long a block of metadata at the beginning of a text is at most, in bytes.
const largestBlock = 64 << 10

// frontMatter takes a block of "key: value" lines between --- lines off the beginning of a text.
func frontMatter(text string) (map[string]any, string) {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return nil, text
	}
	block, after, ok := strings.Cut(rest, "\n---\n")
	if !ok || len(block) > largestBlock {
		return nil, text
	}
	meta := map[string]any{}
	for line := range strings.SplitSeq(block, "\n") {
		key, value, ok := strings.Cut(line, ":")
		if !ok && strings.TrimSpace(line) != "" {
			return nil, text // it is something else
		}
		if key = strings.TrimSpace(key); key == "" {
			continue
		}
		value = strings.TrimSpace(value)
		if list, ok := strings.CutPrefix(value, "["); ok && strings.HasSuffix(list, "]") {
			var values []any
			for v := range strings.SplitSeq(strings.TrimSuffix(list, "]"), ",") {
				values = append(values, unquoted(v))
			}
			meta[key] = values
			continue
		}
		meta[key] = unquoted(value)
	}
	return meta, after
}

func unquoted(v string) string { return strings.Trim(strings.TrimSpace(v), `"'`) }

const (
	// largestRow is how long a row of a table is at most, in bytes. A row of commas takes 40 times
	// of that.
	largestRow = 1 << 20
	// longestName is how much is shown of the name of a column, of a key or of a heading, in bytes.
	longestName = 200
)

// rows makes a passage of each row of a table: "column: value" lines. The first row names the
// columns.
func rows(text string, tabs bool) iter.Seq2[passage, error] {
	return func(yield func(passage, error) bool) {
		source := &rowReader{in: strings.NewReader(text)}
		in := csv.NewReader(source)
		in.FieldsPerRecord, in.LazyQuotes, in.TrimLeadingSpace = -1, true, true
		in.Comma = separator(text, tabs)
		head, err := in.Read()
		for i := range head {
			head[i] = clip(strings.TrimSpace(head[i]))
		}
		in.ReuseRecord = true
		for err == nil {
			source.read = 0
			var row []string
			if row, err = in.Read(); err == nil && !cut("", rowText(head, row), yield) {
				return
			}
		}
		if !errors.Is(err, io.EOF) {
			yield(passage{}, err)
		}
	}
}

// rowText is a row as lines; cells without text are left out.
func rowText(head, row []string) string {
	var b strings.Builder
	for i, v := range row {
		if v = strings.TrimSpace(v); v == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		if i < len(head) {
			b.WriteString(head[i])
		} else {
			b.WriteString("column " + strconv.Itoa(i+1))
		}
		b.WriteString(": ")
		b.WriteString(v)
	}
	return b.String()
}

// rowReader fails when a row is longer than largestRow, before the reader of the table has
// collected it.
type rowReader struct {
	in   io.Reader
	read int // bytes since the last row
}

func (r *rowReader) Read(p []byte) (int, error) {
	if r.read > largestRow {
		return 0, fmt.Errorf("%w: more than %d bytes in one row; a quotation mark may have no end", document.ErrLimit, largestRow)
	}
	n, err := r.in.Read(p)
	r.read += n
	return n, err
}

// clip shortens a name at a character.
func clip(name string) string {
	if len(name) <= longestName {
		return name
	}
	n := longestName
	for n > 0 && !utf8.RuneStart(name[n]) {
		n--
	}
	return name[:n]
}

// separator is the one of , ; and tab that the first line has most of.
func separator(text string, tabs bool) rune {
	if tabs {
		return '\t'
	}
	line, _, _ := strings.Cut(text, "\n")
	best, most := ',', 0
	for _, r := range ",;\t" {
		if n := strings.Count(line, string(r)); n > most {
			best, most = r, n
		}
	}
	return best
}
