package document

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/easel-canvas/easel/engine/block"
)

// textBlocks adds the blocks of a text to c; the name of the file determines the format.
func textBlocks(ctx context.Context, limits *Limits, name, text string, c *collector) error {
	switch extension := strings.ToLower(path.Ext(name)); extension {
	case ".md", ".markdown", ".mdx":
		return addBlocks(ctx, block.Parse(text), c)
	case ".csv", ".tsv":
		return csvBlocks(ctx, limits, text, extension == ".tsv", c)
	case ".json", ".jsonl", ".ndjson":
		return jsonBlocks(ctx, text, extension != ".json", c)
	case ".txt", ".text", ".log", "":
		return addBlocks(ctx, block.Paragraphs(text), c)
	default:
		if isCode[extension] {
			return c.append(block.Block{Kind: block.Code, Language: extension[1:], Text: strings.Trim(text, "\n")})
		}
	}
	return addBlocks(ctx, block.Paragraphs(text), c)
}

// isCode are the extensions of files that are one piece of code.
var isCode = map[string]bool{
	".py": true, ".js": true, ".java": true, ".c": true, ".cpp": true, ".h": true, ".php": true, ".go": true,
	".ts": true, ".sh": true, ".cs": true, ".kt": true, ".sql": true, ".rs": true, ".rb": true, ".yaml": true,
	".yml": true, ".toml": true, ".xml": true, ".css": true,
}

func addBlocks(ctx context.Context, list []block.Block, c *collector) error {
	for i := range list {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := addBlock(list[i], c); err != nil {
			return err
		}
	}
	return nil
}

// addBlock adds a whole block, which may be a table.
func addBlock(b block.Block, c *collector) error {
	size := 0
	for _, row := range b.Rows {
		size += cellOverhead * (1 + len(row))
		for _, cell := range row {
			size += len(cell)
		}
	}
	return errors.Join(c.append(b), c.count(size))
}

// csvBlocks adds one table. The first row is its head.
func csvBlocks(ctx context.Context, limits *Limits, text string, tabs bool, c *collector) error {
	in := csv.NewReader(&boundedRows{in: strings.NewReader(text), limits: limits})
	in.FieldsPerRecord, in.LazyQuotes, in.ReuseRecord = -1, true, true
	in.Comma = '\t'
	if !tabs {
		in.Comma = Separator(text)
	}
	for n, rows := 0, 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		row, err := in.Read()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, ErrLimit):
			return err
		case err != nil:
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		case strings.TrimSpace(strings.Join(row, "")) == "":
			continue
		}
		if err := c.row(row, nil, rows == 0, rows == 0); err != nil {
			return err
		}
		rows++
	}
}

// boundedRows fails when no row ends within the limit of a block: a quotation mark may have no end.
type boundedRows struct {
	in     io.Reader
	limits *Limits
	read   int // bytes since a line end
}

func (r *boundedRows) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	if at := strings.LastIndexByte(string(p[:n]), '\n'); at >= 0 {
		r.read = n - at
	} else {
		r.read += n
	}
	if r.read > r.limits.Block {
		return 0, exceeded(LimitBlock, r.limits.Block, "bytes in one row")
	}
	return n, err
}

// Separator returns the one of , ; and tab that the first line has most of.
func Separator(text string) rune {
	line, _, _ := strings.Cut(text, "\n")
	best, most := ',', 0
	for _, r := range ",;\t" {
		if n := strings.Count(line, string(r)); n > most {
			best, most = r, n
		}
	}
	return best
}

// jsonBlocks adds a block of code for each member of an object, with its key as heading, or for
// each element of a list. Of several values one after the other, and of lines, each is an element.
func jsonBlocks(ctx context.Context, text string, lines bool, c *collector) error {
	in := json.NewDecoder(strings.NewReader(text))
	first := ""
	if trimmed := strings.TrimSpace(text); !lines && trimmed != "" && json.Valid([]byte(trimmed)) {
		first = trimmed[:1]
	}
	if first == "[" || first == "{" {
		if _, err := in.Token(); err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}
	for in.More() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if first == "{" {
			key, err := in.Token()
			if err != nil {
				return fmt.Errorf("%w: %w", ErrDamaged, err)
			}
			name, _ := key.(string) // the decoder lets nothing else be a key
			if name = block.Line(name); name != "" {
				if err := c.append(block.Block{Kind: block.Heading, Level: 1, Text: name}); err != nil {
					return err
				}
			}
		}
		var value json.RawMessage
		if err := in.Decode(&value); err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		if err := c.append(block.Block{Kind: block.Code, Language: "json", Text: string(value)}); err != nil {
			return err
		}
	}
	if first == "" { // the decoder takes a stray bracket for the end
		if _, err := in.Token(); !errors.Is(err, io.EOF) {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}
	return nil
}
