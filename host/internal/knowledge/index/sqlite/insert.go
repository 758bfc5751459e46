package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/index/codes"
)

// insert adds a chunk that the document does not have. Its row is written by insertRows.
func (c *change) insert(ctx context.Context, doc int64, name string, chunk *index.Chunk) error {
	vector, err := chunk.UnitVector(&c.dims)
	if err != nil {
		return fmt.Errorf("chunk %q: %w", chunk.ID, err)
	}
	if err := c.findLastRow(ctx); err != nil {
		return err
	}
	c.lastRow++
	searched, lead := chunk.Text, ""
	if before, repeats := strings.CutSuffix(searched, chunk.Content); repeats && before != "" {
		searched, lead = "", before
	}
	c.chunks.add(c.lastRow, c.d.id, doc, chunk.ID, chunk.Content, searched, joinLines(chunk.Keywords),
		joinLines(chunk.Questions), !chunk.Disabled, chunk.Extra, lead)
	if vector != nil {
		c.vectors.add(c.lastRow, codes.AppendVector(nil, vector))
	}
	if c.chunks.full() {
		if err := c.insertRows(ctx); err != nil {
			return err
		}
	}
	c.appender.add(c.added, c.lastRow, doc, name, chunk, vector)
	if c.added.tail.size > c.x.flushSize {
		return c.flush(ctx)
	}
	return nil
}

// findLastRow reads the highest id that a chunk ever had. Changes are serialized, so it stays
// valid.
func (c *change) findLastRow(ctx context.Context) error {
	if c.lastRow > 0 {
		return nil
	}
	err := c.scanRow(ctx, selectLastRow, &c.lastRow)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}

// insertRows writes the rows of the chunks that were added.
func (c *change) insertRows(ctx context.Context) error {
	if err := c.chunks.insert(ctx, c); err != nil {
		return err
	}
	return c.vectors.insert(ctx, c)
}

// rowsAtOnce is the number of rows that a statement inserts: a statement for each row costs as much
// as the row.
const rowsAtOnce = 16

// rows are values to be inserted into a table.
type rows struct {
	table   string
	columns int
	values  []any
}

func newChunkRows() rows {
	const table = `chunks (id, dataset, document, key, content, searched, keywords, questions, enabled, extra,
		lead)`
	return rows{table: table, columns: 11}
}

func newVectorRows() rows { return rows{table: `vectors (id, data)`, columns: 2} }

func newPostingRows() rows { return rows{table: `postings (segment, term, data)`, columns: 3} }

func (r *rows) add(values ...any) { r.values = append(r.values, values...) }

func (r *rows) full() bool { return len(r.values) >= rowsAtOnce*r.columns }

// insert writes the values and forgets them.
func (r *rows) insert(ctx context.Context, c *change) error {
	for values := r.values; len(values) > 0; {
		n := 1
		if len(values) >= rowsAtOnce*r.columns {
			n = rowsAtOnce
		}
		if _, err := c.exec(ctx, r.statement(n), values[:n*r.columns]...); err != nil {
			return err
		}
		values = values[n*r.columns:]
	}
	clear(r.values)
	r.values = r.values[:0]
	return nil
}

// statement inserts n rows. OR FAIL needs no journal of the statement: a change that fails is
// rolled back as a whole.
func (r *rows) statement(n int) string {
	row := "(?" + strings.Repeat(", ?", r.columns-1) + ")"
	return `INSERT OR FAIL INTO ` + r.table + ` VALUES ` + row + strings.Repeat(", "+row, n-1)
}
