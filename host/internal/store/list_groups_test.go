package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// A list returns as many canvases and datasets as it counts, after any changes, for viewers with
// and without roles.
func TestCountsOfGroupsAreThoseOfRows(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		rng := rand.New(rand.NewPCG(7, 1))
		pick := func(of ...string) string { return of[rng.IntN(len(of))] }
		projects := []string{"", project(t, s, "p"), project(t, s, "q")}
		var canvases, datasets []string
		for i := range 120 {
			owner, place, title := pick("", "ann", "bob"), pick(projects...), fmt.Sprint("c", i)
			c, err := s.Canvases.Create(t.Context(), Canvas{
				Tenant: "t", User: owner, Project: place, Title: title, DSL: []byte("{}"),
				Permission: pick("me", "team"), Category: pick("agent_canvas", "dataflow_canvas"),
			}, "")
			require.NoError(t, err)
			canvases = append(canvases, c.ID)
			d := newDataset(t, s, "t", fmt.Sprintf("%032d", i), title)
			datasets = append(datasets, d.ID)
			for table, id := range map[string]string{"canvases": c.ID, "datasets": d.ID} {
				if rng.IntN(4) == 0 {
					_, err := s.commit.exec(t.Context(), `DELETE FROM `+table+` WHERE id = $1`, id)
					require.NoError(t, err)
				}
			}
			_, err = s.commit.exec(t.Context(), `UPDATE canvases SET project = $1, permission = $2 WHERE id = $3`,
				pick(projects...), pick("me", "team"), canvases[rng.IntN(len(canvases))])
			require.NoError(t, err)
			const move = `UPDATE datasets SET project = $1, team = $2, created_by = $3 WHERE id = $4`
			_, err = s.commit.exec(t.Context(), move, pick(projects...), rng.IntN(2), pick("", "ann", "bob"),
				datasets[rng.IntN(len(datasets))])
			require.NoError(t, err)
		}
		grant(t, s, UserSubject+"ann", "canvas:"+canvases[3], access.ViewerRole)
		grant(t, s, UserSubject+"ann", "canvas:"+canvases[5], access.Editor)
		grant(t, s, UserSubject+"bob", "dataset:"+datasets[4], access.ViewerRole)
		grant(t, s, UserSubject+"bob", "project:"+projects[1], access.Editor)
		viewers := []access.Viewer{access.All("t"), {Tenant: "t"}}
		for _, user := range []string{"ann", "bob", "eve"} {
			v, err := s.Projects.Viewer(t.Context(), Subject{Tenant: "t", User: user})
			require.NoError(t, err)
			viewers = append(viewers, v, access.Viewer{Tenant: "t", User: user})
		}
		for i, v := range viewers {
			for _, place := range []*string{nil, &projects[1]} {
				for _, f := range []CanvasFilter{
					{}, {User: "ann"}, {Permission: "team"}, {Categories: []string{"agent_canvas"}},
				} {
					f.Viewer, f.Project = v, place
					rows, _, err := s.Canvases.List(t.Context(), f, Page{Documents: NoDocuments})
					require.NoError(t, err)
					_, total, err := s.Canvases.List(t.Context(), f, Page{Limit: 1})
					require.NoError(t, err)
					require.Len(t, rows, total, "viewer %d: %+v", i, f)
				}
				f := DatasetFilter{Viewer: v, Project: place}
				rows, _, err := s.Datasets.List(t.Context(), f, Page{})
				require.NoError(t, err)
				_, total, err := s.Datasets.List(t.Context(), f, Page{Limit: 1})
				require.NoError(t, err)
				require.Len(t, rows, total, "viewer %d", i)
			}
		}
	})
}

func project(t *testing.T, s *Store, name string) string {
	t.Helper()
	p, err := s.Projects.Create(t.Context(), Project{Tenant: "t", Name: name})
	require.NoError(t, err)
	return p.ID
}

func grant(t *testing.T, s *Store, subject, object string, role access.Role) {
	t.Helper()
	_, err := s.Projects.Grant(t.Context(), Grant{Tenant: "t", Subject: subject, Object: object, Role: role})
	require.NoError(t, err)
}

// copied returns a statement that adds so many copies of a row, with some columns changed.
func copied(table, columns, id string, n int, change map[string]string) string {
	names := strings.Split(strings.Join(strings.Fields(columns), ""), ",")
	values := make([]string, len(names))
	for i, name := range names {
		values[i] = cmp.Or(change[name], name)
	}
	return fmt.Sprintf(`WITH RECURSIVE c(g) AS (SELECT 1 UNION ALL SELECT g + 1 FROM c WHERE g < %d)
		INSERT INTO %s (%s) SELECT %s FROM %s, c WHERE id = '%s'`,
		n, table, strings.Join(names, ", "), strings.Join(values, ", "), table, id)
}

// fillObjects adds so many canvases, datasets and documents of a dataset, of which 20 have failed.
func fillObjects(t testing.TB, s *Store, n int) {
	t.Helper()
	c, err := s.Canvases.Create(t.Context(), Canvas{
		Tenant: "t", User: "ann", Title: "a", DSL: []byte("{}"), Permission: "team",
	}, "")
	require.NoError(t, err)
	ds := newDataset(t, s, "t", "d", "many")
	first := dataset.Document{ID: "x", Dataset: ds.ID, Name: "n", State: dataset.Done}
	v, err := (&Document{Tenant: "t", Document: first}).values()
	require.NoError(t, err)
	marks := make([]string, len(v))
	for i := range v {
		marks[i] = fmt.Sprintf("$%d", i+1)
	}
	times := map[string]string{"create_time": "1600000000000 + g", "update_time": "1600000000000 + g"}
	with := func(more map[string]string) map[string]string {
		maps.Copy(more, times)
		return more
	}
	require.NoError(t, s.write(t.Context(), "fill", func(ctx context.Context, q querier) error {
		insert := `INSERT INTO documents (` + documentColumns + `) VALUES (` + strings.Join(marks, ", ") + `)`
		if _, err := q.ExecContext(ctx, insert, v...); err != nil {
			return err
		}
		for _, query := range []string{
			copied("canvases", canvasColumns+`, title_fold, find`, c.ID, n, with(map[string]string{"id": "'c' || g"})),
			copied("datasets", datasetColumns, ds.ID, n, with(map[string]string{
				"id": "'d' || g", "name_key": "'d' || g",
			})),
			copied("documents", documentColumns, "x", n, with(map[string]string{
				"id": "'x' || g", "name": "'number ' || g", "name_key": "'number ' || g",
				"state": fmt.Sprintf("CASE WHEN g %% %d = 1 THEN 'failed' ELSE 'done' END", n/20),
			})),
			fmt.Sprintf(`UPDATE datasets SET document_count = %d WHERE id = 'd'`, n+1),
		} {
			if _, err := q.ExecContext(ctx, query); err != nil {
				return fmt.Errorf("%s: %w", query, err)
			}
		}
		return nil
	}))
	if s.engine == "postgres" {
		_, err := s.read.ExecContext(t.Context(), `VACUUM ANALYZE`)
		require.NoError(t, err)
	}
}

// rowsRead counts the rows that the queries of a store on PostgreSQL read from tables and indexes.
type rowsRead struct {
	querier
	rows float64
}

func (r *rowsRead) explain(ctx context.Context, query string, args []any) {
	var text []byte
	row := r.querier.QueryRowContext(ctx, `EXPLAIN (ANALYZE, FORMAT JSON) `+query, args...)
	if err := row.Scan(&text); err != nil {
		panic(err)
	}
	var plans []struct{ Plan planNode }
	if err := json.Unmarshal(text, &plans); err != nil {
		panic(err)
	}
	r.rows += plans[0].Plan.read()
}

func (r *rowsRead) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	r.explain(ctx, query, args)
	return r.querier.QueryContext(ctx, query, args...)
}

func (r *rowsRead) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	r.explain(ctx, query, args)
	return r.querier.QueryRowContext(ctx, query, args...)
}

type planNode struct {
	Type    string     `json:"Node Type"`
	Rows    float64    `json:"Actual Rows"`
	Loops   float64    `json:"Actual Loops"`
	Removed float64    `json:"Rows Removed by Filter"`
	Plans   []planNode `json:"Plans"`
}

// read returns the rows that scans below a node have read.
func (n *planNode) read() (rows float64) {
	if strings.HasSuffix(n.Type, "Scan") {
		rows = (n.Rows + n.Removed) * n.Loops
	}
	for i := range n.Plans {
		rows += n.Plans[i].read()
	}
	return rows
}

// objectLists are the first pages of long lists.
func objectLists(s *Store) map[string]func(context.Context) (int, error) {
	ann := access.Viewer{Tenant: "t", User: "ann"}
	documents := func(p Page, states ...dataset.State) func(context.Context) (int, error) {
		return func(ctx context.Context) (int, error) {
			_, n, err := s.Documents.List(ctx, DocumentFilter{Tenant: "t", Dataset: "d", States: states}, p)
			return n, err
		}
	}
	return map[string]func(context.Context) (int, error){
		"canvases": func(ctx context.Context) (int, error) {
			_, n, err := s.Canvases.List(ctx, CanvasFilter{Viewer: ann}, Page{Limit: 30, Order: "update_time"})
			return n, err
		},
		"datasets": func(ctx context.Context) (int, error) {
			_, n, err := s.Datasets.List(ctx, DatasetFilter{Viewer: access.All("t")}, Page{Limit: 30})
			return n, err
		},
		"documents":        documents(Page{Limit: 30}),
		"done documents":   documents(Page{Limit: 30}, dataset.Done),
		"failed documents": documents(Page{Limit: 30}, dataset.Failed),
	}
}

// A first page of 100,000 rows reads about as many rows as one of 1,000, with the exact total.
func TestFirstPagesReadFewRows(t *testing.T) {
	few := openTest(t, engineConfig(t, "postgres"))
	fillObjects(t, few, 1_000)
	many := openTest(t, engineConfig(t, "postgres"))
	fillObjects(t, many, 100_000)
	read := func(s *Store, name string) (rows float64, total int) {
		r := &rowsRead{querier: s.read}
		s.read = r
		defer func() { s.read = r.querier }()
		total, err := objectLists(s)[name](t.Context())
		require.NoError(t, err)
		return r.rows, total
	}
	for name := range objectLists(few) {
		t.Run(name, func(t *testing.T) {
			small, n := read(few, name)
			large, m := read(many, name)
			t.Log(small, "rows of", n, "and", large, "rows of", m)
			require.LessOrEqual(t, large, max(small, 1100)*1.2)
			if name != "failed documents" {
				require.Greater(t, m, 90_000)
			}
		})
	}
}

// On SQLite, these pages and their totals are ranges of indexes.
func TestFirstPagesUseIndexes(t *testing.T) {
	s := openTest(t, engineConfig(t, "sqlite"))
	fillObjects(t, s, 1_000)
	for name, index := range map[string]string{
		"canvases":         "canvases_updated",
		"datasets":         "datasets_created",
		"documents":        "documents_created",
		"done documents":   "documents_state",
		"failed documents": "documents_state",
	} {
		t.Run(name, func(t *testing.T) {
			p := &plans{querier: s.read}
			s.read = p
			defer func() { s.read = p.querier }()
			_, err := objectLists(s)[name](t.Context())
			require.NoError(t, err)
			text := strings.Join(p.lines, "\n")
			require.Contains(t, text, index)
			require.NotRegexp(t, `SCAN (canvases|datasets|documents)`, text)
		})
	}
}
