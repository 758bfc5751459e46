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
	// searched means that all names have to be read to find the rows.
	searched bool
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
	// count returns the number of rows without counting all of them; nil means that nothing can.
	count func(ctx context.Context, q querier) (int, error)
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

// rights are the columns that decide about objects of a table.
type rights struct {
	kind                       access.Kind
	id, owner, shared, project string // shared is a condition
}

var (
	canvasRights  = rights{access.Canvas, "id", "user_id", "permission = 'team'", "project"}
	ofRights      = rights{access.Canvas, "of.id", "of.user_id", "of.permission = 'team'", "of.project"}
	datasetRights = rights{access.Dataset, "id", "created_by", "team = 1", "project"}
)

// usable adds that a viewer of the tenant has a role on an object, or a stronger one, as
// [access.Viewer.Role] decides.
func (w *where) usable(v access.Viewer, least access.Role, of rights) {
	if v.Whole {
		return
	}
	if only, limited := v.Grants.Limit(); limited {
		w.add(of.project+" = ?", only)
	}
	cond, args := of.byPlace(v, least)
	if ids := v.ObjectsFor(of.kind, least); len(ids) > 0 {
		cond += " OR " + among(of.id, ids, &args)
	}
	w.add("("+cond+")", args...)
}

// among returns the condition that a column has one of some values, and adds those to args.
func among(column string, values []string, args *[]any) string {
	for _, v := range values {
		*args = append(*args, v)
	}
	return column + " IN (" + strings.TrimSuffix(strings.Repeat("?, ", len(values)), ", ") + ")"
}

// byPlace returns the condition that a viewer has a role on an object by its owner, project and
// sharing, without grants on the object itself.
func (of *rights) byPlace(v access.Viewer, least access.Role) (cond string, args []any) {
	args = []any{v.User}
	in := func(least access.Role) string {
		ids := v.ProjectsFor(least)
		switch {
		case v.EachProject():
			return "1 = 1"
		case len(ids) == 0:
			return "1 = 0"
		}
		return among(of.project, ids, &args)
	}
	own := "(" + of.owner + " = ? AND " + of.owner + " <> '' AND (NOT " + of.shared + " OR " + in(access.ViewerRole) +
		"))"
	team := "((" + of.shared + " OR " + of.owner + " = '') AND " + in(least) + ")"
	return own + " OR " + team, args
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

// ofUsable adds that a viewer may read what was said to the canvas of a row, or could when it was
// deleted: as a reviewer of the canvas, or as a runner who said it. The zero value adds nothing.
func (w *where) ofUsable(v access.Viewer) {
	if v == (access.Viewer{}) {
		return
	}
	w.changing = true
	cond := w.ofCanvas(v, access.Reviewer)
	if v.Partial() && v.User != "" {
		w.args = append(w.args, v.User)
		mine := fmt.Sprintf("user_id = $%d", len(w.args))
		cond = "(" + cond + " OR " + mine + " AND " + w.ofCanvas(v, access.Runner) + ")"
	}
	w.add(cond)
}

// ofCanvas returns the condition that a viewer has a role on the canvas of a row.
func (w *where) ofCanvas(v access.Viewer, least access.Role) string {
	mine := &where{args: w.args}
	mine.add("of.id = canvas_id")
	mine.equal("of.tenant_id", v.Tenant)
	mine.usable(v, least, ofRights)
	w.args = mine.args
	return "(EXISTS (SELECT 1 FROM canvases of" + mine.String() + ") OR EXISTS (SELECT 1 FROM deleted_canvases of" +
		mine.String() + "))"
}

// mostApart is the number of canvases that a count leaves out one by one.
const mostApart = 64

// othersOf returns canvases of the tenant whose conversations a viewer may not read, as far as
// there are not more than mostApart + 1, and makes the viewer the zero value without any: no row is
// to be left out then.
func (s *database) othersOf(ctx context.Context, v *access.Viewer) ([]string, error) {
	if *v == (access.Viewer{}) || v.Whole {
		*v = access.Viewer{}
		return nil, nil
	}
	var parts []string
	var args []any
	// Ranges of indexes: private canvases of others, and all of named projects.
	ranges := []struct{ cond, value string }{
		{"permission = 'me' AND user_id > '' AND user_id < ? AND project = ''", v.User},
		{"permission = 'me' AND user_id > ? AND project = ''", v.User},
		{"project > ?", ""},
	}
	if only, limited := v.Grants.Limit(); limited && only != "" {
		ranges = ranges[2:]
		ranges[0].cond = "project >= ?"
	}
	for _, table := range []string{"canvases", "deleted_canvases"} {
		for _, some := range ranges {
			w := &where{args: args}
			w.equal("tenant_id", v.Tenant)
			w.add(some.cond, some.value)
			mine := &where{args: w.args}
			mine.usable(*v, access.Reviewer, canvasRights)
			w.conds, args = append(w.conds, "NOT ("+strings.Join(mine.conds, " AND ")+")"), mine.args
			parts = append(parts, `SELECT id FROM `+table+w.String())
		}
	}
	query := strings.Join(parts, " UNION ALL ") + fmt.Sprintf(" LIMIT %d", mostApart+1)
	others, err := queryAll(ctx, s.read, scanName, query, args...)
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
	w.changing, w.searched = true, true
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
