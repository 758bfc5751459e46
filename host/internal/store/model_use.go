package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/host/internal/access"
)

// ModelUse is a canvas's use of a model on a day.
type ModelUse struct {
	Tenant string
	Day    int64  // days since 1970-01-01, UTC
	Canvas string // "" for calls outside of a canvas
	Model  string // name@provider
	Calls  int64
	Input  int64 // tokens
	Output int64 // tokens
	Cost   int64 // millionths of the currency of the price table
}

// ModelUses are the records of what canvases used of models.
type ModelUses struct{ *database }

// UseGroup is by what the rows of [ModelUses.List] are added up.
type UseGroup string

// Groups of rows.
const (
	UseByDay    UseGroup = "day"
	UseByCanvas UseGroup = "canvas_id"
	UseByModel  UseGroup = "model"
)

// Add adds to what was used before. Sums saturate at [MostTokens].
func (m ModelUses) Add(ctx context.Context, uses []ModelUse) error {
	// Hosts that write the same rows in the same order cannot deadlock.
	uses = slices.SortedFunc(slices.Values(uses), func(a, b ModelUse) int {
		return cmp.Or(strings.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Day, b.Day),
			strings.Compare(a.Canvas, b.Canvas), strings.Compare(a.Model, b.Model))
	})
	add := func(column string) string {
		return fmt.Sprintf("%s = CASE WHEN model_use.%[1]s > $9 - excluded.%[1]s THEN $9 "+
			"ELSE model_use.%[1]s + excluded.%[1]s END", column)
	}
	upsert := `INSERT INTO model_use (tenant_id, day, canvas_id, model, calls, input_tokens, output_tokens, cost)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (tenant_id, day, canvas_id, model) DO UPDATE SET ` +
		strings.Join([]string{add("calls"), add("input_tokens"), add("output_tokens"), add("cost")}, ", ")
	return m.write(ctx, "add model use", func(ctx context.Context, q querier) error {
		for _, u := range uses {
			_, err := q.ExecContext(ctx, upsert, u.Tenant, u.Day, printable(u.Canvas), printable(u.Model),
				u.Calls, u.Input, u.Output, u.Cost, int64(MostTokens))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// List returns what a tenant used from one day to another, both included, added up by day,
// canvas or model; only that member of the rows is set. Days are in order, others by cost and
// tokens, the largest first.
func (m ModelUses) List(ctx context.Context, tenant string, from, to int64, by UseGroup) ([]ModelUse, error) {
	order := "cost DESC, input_tokens + output_tokens DESC, " + string(by)
	var key func(*ModelUse) any
	switch by {
	case UseByDay:
		key, order = func(u *ModelUse) any { return &u.Day }, string(by)
	case UseByCanvas:
		key = func(u *ModelUse) any { return &u.Canvas }
	case UseByModel:
		key = func(u *ModelUse) any { return &u.Model }
	default:
		return nil, fail(ErrInvalid, "model use by %q", by)
	}
	query := fmt.Sprintf(`
		SELECT %[1]s, calls, input_tokens, output_tokens, cost FROM (
		SELECT %[1]s, CAST(SUM(calls) AS BIGINT) AS calls,
			CAST(SUM(input_tokens) AS BIGINT) AS input_tokens,
			CAST(SUM(output_tokens) AS BIGINT) AS output_tokens, CAST(SUM(cost) AS BIGINT) AS cost
		FROM model_use WHERE tenant_id = $1 AND day BETWEEN $2 AND $3 GROUP BY %[1]s) AS sums
		ORDER BY %[2]s`, by, order)
	out, err := queryAll(ctx, m.read, func(r row) (ModelUse, error) {
		u := ModelUse{Tenant: tenant}
		err := r.Scan(key(&u), &u.Calls, &u.Input, &u.Output, &u.Cost)
		return u, err
	}, query, tenant, from, to)
	return out, fail(err, "model use of tenant %q", tenant)
}

// Forget deletes what was used before a day.
func (m ModelUses) Forget(ctx context.Context, day int64) error {
	_, err := m.exec(ctx, `DELETE FROM model_use WHERE day < $1`, day)
	return fail(err, "forget model use")
}

// Titled is the title of a canvas, "" for a deleted one, and whose it is.
type Titled struct {
	Title  string
	Access access.Object
}

// Titles returns the titles of canvases of a tenant by id, without those that never existed.
func (m ModelUses) Titles(ctx context.Context, tenant string, ids []string) (map[string]Titled, error) {
	out := make(map[string]Titled, len(ids))
	for part := range slices.Chunk(ids, 500) { // SQLite bounds the arguments of a statement
		var w where
		w.equal("tenant_id", tenant)
		w.in("id", part)
		_, err := queryAll(ctx, m.read, func(r row) (struct{}, error) {
			var title string
			whose, err := scanAccess(r, &title)
			out[whose.ID] = Titled{title, whose}
			return struct{}{}, err
		}, `SELECT `+canvasAccess+`, title FROM canvases`+w.String()+
			` UNION ALL SELECT `+canvasAccess+`, '' FROM deleted_canvases`+w.String(), w.args...)
		if err != nil {
			return nil, fail(err, "titles of canvases")
		}
	}
	return out, nil
}
