package store

import (
	"context"

	"github.com/easel-canvas/easel/host/internal/access"
)

// groupRights are the columns of list_counts that decide about a group of objects.
var groupRights = rights{"", "", "owner", "shared = 1", "project"}

// groups counts the rows of a list by the numbers of rows that share what decides who may use them.
type groups struct {
	table  string // of list_counts
	rights rights // of its rows
	viewer access.Viewer
	// also adds the other conditions of the list, to those on groups or to those on rows.
	also func(w *where, group bool)
}

// count returns the number of rows that the viewer may use: those of groups, and those outside of
// these groups on which the viewer was given a role.
func (g *groups) count(ctx context.Context, q querier) (n int, err error) {
	w := g.where("of_table = ?", g.table)
	g.also(w, true)
	if !g.viewer.Whole {
		cond, args := groupRights.byPlace(g.viewer, access.ViewerRole)
		w.add("("+cond+")", args...)
	}
	query := `SELECT CAST(COALESCE(SUM(row_count), 0) AS BIGINT) FROM list_counts` + w.String()
	if err := q.QueryRowContext(ctx, query, w.args...).Scan(&n); err != nil {
		return 0, err
	}
	ids := g.viewer.ObjectsFor(g.rights.kind, access.ViewerRole)
	if g.viewer.Whole || len(ids) == 0 {
		return n, nil
	}
	given := g.where("")
	given.in("id", ids)
	g.also(given, false)
	cond, args := g.rights.byPlace(g.viewer, access.ViewerRole)
	given.add("NOT ("+cond+")", args...)
	var more int
	err = q.QueryRowContext(ctx, `SELECT COUNT(*) FROM `+g.table+given.String(), given.args...).Scan(&more)
	return n + more, err
}

// where returns the conditions of both: the tenant, and the project to which a key is limited.
func (g *groups) where(cond string, args ...any) *where {
	w := &where{}
	if cond != "" {
		w.add(cond, args...)
	}
	w.equal("tenant_id", g.viewer.Tenant)
	if only, limited := g.viewer.Grants.Limit(); limited && !g.viewer.Whole {
		w.add("project = ?", only)
	}
	return w
}
