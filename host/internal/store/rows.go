package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"unicode/utf8"
)

// row is one result line: *sql.Row and *sql.Rows both are.
type row interface{ Scan(dest ...any) error }

// queryAll reads every line of a query through scan.
func queryAll[T any](ctx context.Context, q querier, scan func(row) (T, error), query string, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

// changed turns "no row was changed" into none.
func changed(res sql.Result, err error, none error) error {
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	if n == 0 {
		return none
	}
	return nil
}

// where collects conditions joined by AND, each with its arguments.
type where struct {
	conds []string
	args  []any
	// changing says that rows can begin to match, or cease to, other than by their creation and
	// deletion.
	changing bool
	// scope says that the conditions choose the rows of a scope, nil that they do not.
	scope *scope
}

// add appends a condition; each ? in it becomes the next $n.
func (w *where) add(cond string, args ...any) {
	for _, a := range args {
		w.args = append(w.args, a)
		cond = strings.Replace(cond, "?", fmt.Sprintf("$%d", len(w.args)), 1)
	}
	w.conds = append(w.conds, cond)
}

// equal appends "column is value"; an empty value means no condition.
func (w *where) equal(column, value string) {
	if value != "" {
		w.add(column+" = ?", value)
	}
}

// in appends "column is one of values"; no values means no condition.
func (w *where) in(column string, values []string) {
	if len(values) == 0 {
		return
	}
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(values)), ", ")
	args := make([]any, len(values))
	for i, v := range values {
		args[i] = v
	}
	w.add(column+" IN ("+marks+")", args...)
}

// contains appends a search for text in a folded column.
func (w *where) contains(column, text string) {
	if text == "" {
		return
	}
	w.changing = true
	w.add(column+` LIKE ? ESCAPE '!'`, "%"+quoted(fold(text))+"%")
}

// begins appends that a column's text begins with another.
func (w *where) begins(column, text string) {
	w.add(column+` LIKE ? ESCAPE '!'`, quoted(text)+"%")
}

// quoted takes the meaning from what LIKE would not read as itself.
func quoted(text string) string {
	return strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(text)
}

func (w *where) String() string {
	if len(w.conds) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.conds, " AND ")
}

// fold is the form in which names are compared and searched: lower case, and
// without what a text column cannot hold.
func fold(s string) string { return strings.ToLower(printable(s)) }

// printable drops the zero byte and bytes that are no UTF-8; PostgreSQL
// refuses both in text and SQLite does not, and here both must agree.
func printable(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\uFFFD")
}

// checkText refuses what a text column cannot hold. Pairs of field name, value.
func checkText(pairs ...string) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		if v := pairs[i+1]; !utf8.ValidString(v) || strings.ContainsRune(v, 0) {
			return fmt.Errorf("%s is not UTF-8 text without zero bytes: %w", pairs[i], ErrInvalid)
		}
	}
	return nil
}

// bytesOf keeps nil out of columns that may not be null.
func bytesOf(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
