package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Page cuts a list. The zero value is everything, newest first.
type Page struct {
	Offset int
	Limit  int    // 0 means no limit
	Order  string // a column that the list names; "" means create_time
	Asc    bool   // oldest, smallest or first letter first
	// After begins the page behind the row with this position, whatever was added or removed
	// meanwhile; nil begins at Offset.
	After *Position
	// Documents says which of the documents in rows are read.
	Documents Documents
	// Reserve is asked for memory, in bytes, before documents are read; nil reads them without
	// asking. Its error ends the list.
	Reserve func(bytes int64) error
}

// Documents are those of the rows in a list.
type Documents int

const (
	// AllDocuments reads rows as a whole.
	AllDocuments Documents = iota
	// WithoutDSL leaves out the documents of canvases.
	WithoutDSL
	// NoDocuments leaves out everything that may be large.
	NoDocuments
)

// Position says where a row stands in an ordered list.
type Position struct {
	Value int64 // of the column that the list is ordered by; of no meaning when that is the id
	ID    string
}

// OrderError says that a list has no such order. It is an [ErrInvalid].
type OrderError struct {
	Order    string
	Accepted []string // in alphabetical order
}

func (e *OrderError) Error() string {
	return fmt.Sprintf("order by %.40q (one of %s)", e.Order, strings.Join(e.Accepted, ", "))
}

func (e *OrderError) Unwrap() error { return ErrInvalid }

// listing is what [list] has to know of a table, whose column id is unique.
type listing[T any] struct {
	table   string
	columns string
	large   []string          // columns that hold documents
	order   map[string]string // columns by the names that a caller may use
	scan    func(row) (T, error)
}

// list reads one page of a table and the number of all rows that match.
//
// The ids of a page are found first. Indices hold all that a filter or an order needs, so that rows
// before the page, whose documents may be large, are not read.
func list[T any](ctx context.Context, s *Store, l *listing[T], w *where, p Page) ([]T, int, error) {
	q := s.read
	order, err := l.orderOf(p)
	if err != nil {
		return nil, 0, fail(err, "list %s", l.table)
	}
	n, err := countRows(ctx, s, l.table, w)
	if err != nil {
		return nil, 0, fail(err, "count %s", l.table)
	}
	total := n.total
	if total == 0 || p.After == nil && p.Limit > 0 && p.Offset >= total {
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

// countRows counts all rows that match.
func countRows(ctx context.Context, s *Store, table string, w *where) (n counted, err error) {
	switch {
	case w.scope != nil:
		return countScope(ctx, s, *w.scope)
	case !w.changing:
		n.total, err = s.totals.count(ctx, s.read, table, w, s.now())
	default:
		err = s.read.QueryRowContext(ctx, `SELECT COUNT(*) FROM `+table+w.String(), w.args...).Scan(&n.total)
	}
	return n, err
}

// reserve asks for the memory of the documents of the chosen rows.
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

// shown are the columns of a page.
func (l *listing[T]) shown(p Page) string {
	columns := strings.Split(l.columns, ",")
	for i, c := range columns {
		if l.leavesOut(strings.TrimSpace(c), p) {
			columns[i] = " ''"
		}
	}
	return strings.Join(columns, ",")
}

// leavesOut reports whether a page is without a column.
func (l *listing[T]) leavesOut(column string, p Page) bool {
	if p.Documents == WithoutDSL {
		return column == "dsl"
	}
	return p.Documents == NoDocuments && slices.Contains(l.large, column)
}

// ordering is the column that a list is ordered by. The id makes the order of equal values certain.
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

// choose is the condition for the rows of a page.
func (o ordering) choose(table string, w *where, p Page, total int) string {
	if p.After != nil {
		o.behind(w, *p.After, p.Asc)
		p.Offset = 0
	}
	if p.Limit <= 0 {
		return w.String()
	}
	limit, offset, asc := p.Limit, p.Offset, p.Asc
	if offset > total/2 { // fewer rows are passed over from the other end
		limit = min(limit, total-offset)
		offset, asc = total-offset-limit, !asc
	}
	cond := w.String()
	w.args = append(w.args, limit, offset)
	n := len(w.args)
	return fmt.Sprintf(" WHERE id IN (SELECT id FROM %s%s%s LIMIT $%d OFFSET $%d)", table, cond, o.by(asc), n-1, n)
}

// behind adds that rows come after a position.
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
