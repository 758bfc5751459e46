package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/easel-canvas/easel/host/internal/access"
)

// row is one result row; *sql.Row and *sql.Rows implement it.
type row interface{ Scan(dest ...any) error }

// queryAll reads all rows of a query with scan.
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

// changed returns none if no row was changed.
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

// where collects conditions joined by AND, with their arguments.
type where struct {
	conds []string
	args  []any
	// changing means that rows can start or stop matching other than by creation and deletion.
	changing bool
	// scope is the scope whose rows the conditions select; nil if they do not select exactly those
	// of one.
	scope *scope
	// except are disjoint conditions with an index: together they select the rows of scope that the
	// conditions do not.
	except []string
	// apart are canvases, few, whose rows of scope the conditions do not select.
	apart []string
	// known is a query of the number of rows with the arguments of the conditions; "" means that
	// nothing counts them.
	known string
}

// add appends a condition; each ? in it becomes the next $n.
func (w *where) add(cond string, args ...any) {
	for _, a := range args {
		w.args = append(w.args, a)
		cond = strings.Replace(cond, "?", fmt.Sprintf("$%d", len(w.args)), 1)
	}
	w.conds = append(w.conds, cond)
}

// equal adds "column is value"; an empty value adds nothing.
func (w *where) equal(column, value string) {
	if value != "" {
		w.add(column+" = ?", value)
	}
}

// in adds "column is one of values"; no values add nothing.
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

// between adds that a column is in a range with both its ends; 0 is no end.
func (w *where) between(column string, from, to int64) {
	if from > 0 {
		w.add(column+" >= ?", from)
	}
	if to > 0 {
		w.add(column+" <= ?", to)
	}
}

// usable adds that a viewer of the tenant may use an object, as [access.Viewer.May] decides; shared
// is the condition for one that belongs to the team.
func (w *where) usable(v access.Viewer, owner, shared string) {
	if !v.Whole {
		w.add("("+shared+" OR "+owner+" IN (?, ''))", v.User)
	}
}

// opened adds that a gate opens a document with a list in a column; nil adds nothing.
func (w *where) opened(g *access.Gate, column string) {
	if g == nil || g.Reader.Whole {
		return
	}
	w.changing = true
	var conds []string
	var args []any
	if g.Open("") {
		conds = append(conds, column+" = ''")
	}
	for _, entry := range g.Reader.Entries() {
		conds, args = append(conds, column+` LIKE ? ESCAPE '!'`), append(args, "%\n"+quoted(entry)+"\n%")
	}
	w.add("("+strings.Join(conds, " OR ")+")", args...)
}

// ofUsable adds that a viewer may use the canvas of a row, or could when it was deleted. The zero
// value adds nothing.
func (w *where) ofUsable(v access.Viewer) {
	if v == (access.Viewer{}) {
		return
	}
	w.changing = true
	mine := &where{args: w.args}
	mine.add("of.id = canvas_id")
	mine.equal("of.tenant_id", v.Tenant)
	mine.usable(v, "of.user_id", "of.permission = 'team'")
	w.args = mine.args
	w.add("(EXISTS (SELECT 1 FROM canvases of" + mine.String() + ") OR EXISTS (SELECT 1 FROM deleted_canvases of" +
		mine.String() + "))")
}

// mostApart is the number of canvases that a count leaves out one by one.
const mostApart = 64

// othersOf returns canvases of the tenant that a viewer may not use, as far as there are not more
// than mostApart + 1, and makes the viewer the zero value without any: no row is to be left
// out then.
func (s *database) othersOf(ctx context.Context, v *access.Viewer) ([]string, error) {
	if *v == (access.Viewer{}) || v.Whole {
		*v = access.Viewer{}
		return nil, nil
	}
	var parts []string
	for _, table := range []string{"canvases", "deleted_canvases"} {
		for _, owner := range []string{"user_id > '' AND user_id < $2", "user_id > $2"} { // ranges of an index
			parts = append(parts, `SELECT id FROM `+table+` WHERE tenant_id = $1 AND permission = 'me' AND `+owner)
		}
	}
	query := strings.Join(parts, " UNION ALL ") + fmt.Sprintf(" LIMIT %d", mostApart+1)
	others, err := queryAll(ctx, s.read, scanName, query, v.Tenant, v.User)
	if err == nil && len(others) == 0 {
		*v = access.Viewer{}
	}
	return others, err
}

// texts returns the texts of values.
func texts[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

// contains adds a substring search in a folded column.
func (w *where) contains(column, text string) {
	if text == "" {
		return
	}
	w.changing = true
	w.add(column+` LIKE ? ESCAPE '!'`, "%"+quoted(fold(text))+"%")
}

// begins adds that a column starts with a prefix.
func (w *where) begins(column, text string) {
	w.add(column+` LIKE ? ESCAPE '!'`, quoted(text)+"%")
}

// quoted escapes the wildcards of LIKE.
func quoted(text string) string {
	return strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(text)
}

func (w *where) String() string {
	if len(w.conds) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.conds, " AND ")
}

// fold returns the form in which names are compared and searched: lower case, without bytes that a
// text column cannot store.
func fold(s string) string { return strings.ToLower(printable(s)) }

// printable drops zero bytes and invalid UTF-8. PostgreSQL rejects both in text columns and SQLite
// accepts them; the engines must behave the same.
func printable(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\uFFFD")
}

// checkText rejects strings that a text column cannot store. The arguments are pairs of field name
// and value.
func checkText(pairs ...string) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		if v := pairs[i+1]; !utf8.ValidString(v) || strings.ContainsRune(v, 0) {
			return fmt.Errorf("%s is not UTF-8 text without zero bytes: %w", pairs[i], ErrInvalid)
		}
	}
	return nil
}

// bytesOf replaces nil for columns that are not nullable.
func bytesOf(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
