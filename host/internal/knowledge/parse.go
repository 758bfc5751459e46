package knowledge

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	texts "github.com/easel-canvas/easel/host/internal/document"
)

// parse turns a file into passages by its kind.
func (b *Base) parse(ctx context.Context, name string, data []byte) (document, error) {
	extension := strings.ToLower(path.Ext(name))
	text, err := b.text(ctx, name, data)
	if err != nil {
		return document{}, err
	}
	switch extension {
	case ".csv", ".tsv":
		list, err := rows(text, extension == ".tsv")
		return document{passages: list}, err
	case ".json":
		v, err := engine.ParseJSONText(text)
		if err != nil {
			return document{}, err
		}
		return document{passages: elements(v)}, nil
	case ".jsonl":
		return lines(text)
	}
	meta, text := frontMatter(text)
	return document{meta: meta, passages: passages(text)}, nil
}

// text is a file as text.
func (b *Base) text(ctx context.Context, name string, data []byte) (string, error) {
	if slices.Contains(plainTypes, strings.ToLower(path.Ext(name))) {
		return texts.Decode(data)
	}
	return b.cfg.Reader.Text(ctx, name, "", data)
}

// frontMatter takes a block of "key: value" lines between --- lines off the beginning of a text.
func frontMatter(text string) (map[string]any, string) {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return nil, text
	}
	block, after, ok := strings.Cut(rest, "\n---\n")
	if !ok {
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

// rows makes a passage of each row of a table: "column: value" lines. The first row names the columns.
func rows(text string, tabs bool) ([]passage, error) {
	in := csv.NewReader(strings.NewReader(text))
	in.FieldsPerRecord, in.LazyQuotes, in.TrimLeadingSpace = -1, true, true
	in.Comma = separator(text, tabs)
	head, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []passage
	for {
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		var lines []string
		for i, v := range row {
			name := fmt.Sprint("column ", i+1)
			if i < len(head) {
				name = strings.TrimSpace(head[i])
			}
			if v = strings.TrimSpace(v); v != "" {
				lines = append(lines, name+": "+v)
			}
		}
		if len(lines) > 0 {
			out = append(out, cut("", strings.Join(lines, "\n"))...)
		}
	}
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

// elements makes passages of JSON: one per element of a list, and one for everything else together.
func elements(v engine.Value) []passage {
	if v.Kind() != engine.KindList {
		var lines []string
		flatten(&lines, "", v)
		return passages(strings.Join(lines, "\n"))
	}
	var out []passage
	for _, e := range v.Elements() {
		var lines []string
		flatten(&lines, "", e)
		out = append(out, cut("", strings.Join(lines, "\n"))...)
	}
	return out
}

// flatten writes a value as "path: text" lines.
func flatten(lines *[]string, place string, v engine.Value) {
	switch v.Kind() {
	case engine.KindObject:
		for k, e := range v.Fields() {
			flatten(lines, strings.TrimPrefix(place+"."+k, "."), e)
		}
	case engine.KindList:
		for _, e := range v.Elements() {
			flatten(lines, place, e)
		}
	case engine.KindNull:
	default:
		if text := strings.TrimSpace(v.Text()); text != "" {
			*lines = append(*lines, strings.TrimPrefix(place+": "+text, ": "))
		}
	}
}

// lines makes passages of JSON values that stand one per line.
func lines(text string) (document, error) {
	var d document
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		if n++; strings.TrimSpace(line) == "" {
			continue
		}
		v, err := engine.ParseJSONText(line)
		if err != nil {
			return document{}, fmt.Errorf("line %d: %w", n, err)
		}
		d.passages = append(d.passages, elements(engine.List(v))...)
	}
	return d, nil
}
