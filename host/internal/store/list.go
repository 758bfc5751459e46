package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Page selects a part of a list. The zero value is the whole list, newest first.
type Page struct {
	Offset int
	Limit  int    // 0 means no limit
	Order  string // a column that the list accepts; "" means create_time
	Asc    bool   // ascending
	// After starts the page after the row at this position, regardless of rows added or removed
	// since; nil starts at Offset.
	After *Position
	// MostCounted bounds how many rows are counted: the number of a longer list is [Uncounted]. 0
	// counts all, and so does a page with an Offset, which is found by the counts.
	MostCounted int
	// Documents selects the documents to read.
	Documents DocumentChoice
	// Reserve is called with the size of the documents in bytes before they are read; nil means no
	// limit. Its error is returned.
	Reserve func(bytes int64) error
}

// Uncounted is the number of rows of a list that has more than [Page].MostCounted.
const Uncounted = -1

// DocumentChoice selects which documents of rows are read.
type DocumentChoice int

const (
	// AllDocuments reads complete rows.
	AllDocuments DocumentChoice = iota
	// WithoutDSL omits the documents of canvases.
	WithoutDSL
	// NoDocuments omits all columns that may be large.
	NoDocuments
)

// Position is the place of a row in an ordered list.
type Position struct {
	Value int64 // of the order column; unused if that is the id
	ID    string
}

// OrderError means that a list does not support an order. It is an [ErrInvalid].
type OrderError struct {
	Order    string
	Accepted []string // in alphabetical order
}

func (e *OrderError) Error() string {
	return fmt.Sprintf("order by %.40q (one of %s)", e.Order, strings.Join(e.Accepted, ", "))
}

func (e *OrderError) Unwrap() error { return ErrInvalid }

// listing describes a listed table, whose column id is unique.
type listing[T any] struct {
	table   string
	columns string
	large   []string          // columns that hold documents
	order   map[string]string // columns by the names that callers use
	scan    func(row) (T, error)
}

// list returns one page of a table and the number of all matching rows.
//
// It selects the ids of the page first. Indexes cover all filters and orders, so that rows before
// the page, whose documents may be large, are not read.
func list[T any](ctx context.Context, s *database, l *listing[T], w *where, p Page) ([]T, int, error) {
	q := s.read
	order, err := l.orderOf(p)
	if err != nil {
		return nil, 0, fail(err, "list %s", l.table)
	}
	if p.Offset > 0 {
		p.MostCounted = 0
	}
	if w.searched && p.Offset == 0 && p.After == nil && p.Limit > 0 && p.Reserve == nil {
		// Matches that fit on the page need no second look at all names.
		first := *w
		first.args = slices.Clip(w.args)
		chosen := order.choose(l.table, &first, p, Uncounted)
		query := `SELECT ` + l.shown(p) + ` FROM ` + l.table + chosen + order.by(p.Asc)
		out, err := queryAll(ctx, q, l.scan, query, first.args...)
		if err != nil || len(out) < p.Limit {
			return out, len(out), fail(err, "list %s", l.table)
		}
	}
	n, err := countRows(ctx, s, l.table, w, p.MostCounted)
	if err != nil {
		return nil, 0, fail(err, "count %s", l.table)
	}
	total := n.total
	if total == 0 || total != Uncounted && p.After == nil && p.Limit > 0 && p.Offset >= total {
		return nil, total, nil
	}
	if order == "create_time" {
		n.narrow(w, &p)
	}
	chosen := order.choose(l.table, w, p, n.total)
	if p.Reserve != nil {
		if err := l.reserve(ctx, q, chosen, w.args, p); err != nil {
			return nil, 0, err
		}
	}
	query := `SELECT ` + l.shown(p) + ` FROM ` + l.table + chosen + order.by(p.Asc)
	out, err := queryAll(ctx, q, l.scan, query, w.args...)
	return out, total, fail(err, "list %s", l.table)
}

// countRows counts all matching rows, or at most a number of them unless that is 0.
func countRows(ctx context.Context, s *database, table string, w *where, most int) (n counted, err error) {
	switch {
	case most > 0:
		query := fmt.Sprintf(`SELECT COUNT(*) FROM (SELECT 1 FROM %s%s LIMIT %d) AS capped`, table, w, most+1)
		if err = s.read.QueryRowContext(ctx, query, w.args...).Scan(&n.total); n.total > most {
			n.total = Uncounted
		}
	case w.count != nil:
		n.total, err = w.count(ctx, s.read)
	case w.known != "":
		err = s.read.QueryRowContext(ctx, w.known, w.args...).Scan(&n.total)
	case w.scope != nil && (w.except != nil || w.apart != nil):
		return countRest(ctx, s, w)
	case w.scope != nil:
		return countScope(ctx, s, *w.scope)
	case !w.changing:
		n.total, err = s.totals.count(ctx, s.read, table, w, s.now())
	default:
		err = s.read.QueryRowContext(ctx, `SELECT COUNT(*) FROM `+table+w.String(), w.args...).Scan(&n.total)
	}
	return n, err
}

// countRest counts the rows of a scope but for the exceptions, which are few. The counts are of
// different moments: the exceptions may change in between.
func countRest(ctx context.Context, s *database, w *where) (counted, error) {
	exceptions := 0
	for _, cond := range w.except {
		left := w.scope.where()
		left.add(cond)
		var n int
		query := `SELECT COUNT(*) FROM ` + w.scope.table + left.String()
		if err := s.read.QueryRowContext(ctx, query, left.args...).Scan(&n); err != nil {
			return counted{}, err
		}
		exceptions += n
	}
	for _, canvas := range w.apart {
		n, err := countScope(ctx, s, scope{w.scope.table, w.scope.tenant, canvas})
		if err != nil {
			return counted{}, err
		}
		exceptions += n.total
	}
	all, err := countScope(ctx, s, *w.scope)
	return counted{total: max(0, all.total-exceptions)}, err
}

// reserve calls p.Reserve with the size of the documents of the chosen rows.
func (l *listing[T]) reserve(ctx context.Context, q querier, chosen string, args []any, p Page) error {
	sizes := []string{"0"}
	for _, c := range l.large {
		if !l.leavesOut(c, p) {
			sizes = append(sizes, "LENGTH("+c+")")
		}
	}
	var bytes int64
	query := `SELECT CAST(COALESCE(SUM(` + strings.Join(sizes, "+") + `), 0) AS BIGINT) FROM ` + l.table + chosen
	if err := q.QueryRowContext(ctx, query, args...).Scan(&bytes); err != nil {
		return fail(err, "measure %s", l.table)
	}
	return p.Reserve(bytes)
}

// shown returns the columns of a page.
func (l *listing[T]) shown(p Page) string {
	columns := strings.Split(l.columns, ",")
	for i, c := range columns {
		if l.leavesOut(strings.TrimSpace(c), p) {
			columns[i] = " ''"
		}
	}
	return strings.Join(columns, ",")
}

// leavesOut reports whether a page omits a column.
func (l *listing[T]) leavesOut(column string, p Page) bool {
	if p.Documents == WithoutDSL {
		return column == "dsl"
	}
	return p.Documents == NoDocuments && slices.Contains(l.large, column)
}

// ordering is the order column of a list. The id breaks ties.
type ordering string

func (l *listing[T]) orderOf(p Page) (ordering, error) {
	name := p.Order
	if name == "" {
		name = "create_time"
	}
	column, ok := l.order[name]
	if !ok {
		return "", &OrderError{p.Order, slices.Sorted(maps.Keys(l.order))}
	}
	return ordering(column), nil
}

func (o ordering) by(asc bool) string {
	dir := " DESC"
	if asc {
		dir = " ASC"
	}
	if o == "id" {
		return " ORDER BY id" + dir
	}
	return " ORDER BY " + string(o) + dir + ", id" + dir
}

// choose returns the condition for the rows of a page.
func (o ordering) choose(table string, w *where, p Page, total int) string {
	if p.After != nil {
		o.behind(w, *p.After, p.Asc)
		p.Offset = 0
	}
	if p.Limit <= 0 {
		return w.String()
	}
	limit, offset, asc := p.Limit, p.Offset, p.Asc
	if total != Uncounted && offset > total/2 { // skip fewer rows, from the other end
		limit = min(limit, total-offset)
		offset, asc = total-offset-limit, !asc
	}
	cond := w.String()
	w.args = append(w.args, limit, offset)
	n := len(w.args)
	return fmt.Sprintf(" WHERE id IN (SELECT id FROM %s%s%s LIMIT $%d OFFSET $%d)", table, cond, o.by(asc), n-1, n)
}

// behind adds the condition that rows come after a position.
func (o ordering) behind(w *where, k Position, asc bool) {
	sign := "<"
	if asc {
		sign = ">"
	}
	if o == "id" {
		w.add("id "+sign+" ?", k.ID)
		return
	}
	w.add("("+string(o)+", id) "+sign+" (?, ?)", k.Value, k.ID)
}
