package store

import (
	"context"
	"slices"

	"github.com/easel-canvas/easel/host/internal/access"
)

// Readers has who may read what runs and sessions say, after they have read documents that not
// everyone may read.
type Readers struct{ *database }

// Add adds the lists of documents that a run has read to the run, and to its session unless that is
// empty. It is to be committed before the run gets the documents.
func (s Readers) Add(ctx context.Context, tenant, run, session string, lists []access.List) error {
	const insert = `INSERT INTO readers (tenant_id, object, list) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`
	return s.write(ctx, "readers of a run", func(ctx context.Context, q querier) error {
		for _, object := range []string{run, session} {
			if object == "" {
				continue
			}
			for _, list := range lists {
				if _, err := q.ExecContext(ctx, insert, tenant, object, string(list)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// inherit adds to a run that begins the lists of its session and of the run whose state it begins
// with: it may say what those have read.
func (s Readers) inherit(ctx context.Context, q querier, v *Run) error {
	const insert = `INSERT INTO readers (tenant_id, object, list) SELECT DISTINCT tenant_id, $1, list FROM readers
		WHERE tenant_id = $2 AND object IN ($3, $4, $5) AND object <> '' ON CONFLICT DO NOTHING`
	_, err := q.ExecContext(ctx, insert, v.ID, v.Tenant, v.Session, v.Base, v.Answers.Run)
	return err
}

// mostObjects bounds the objects that one query reads.
const mostObjects = 500

// Of returns the lists of runs and sessions, of those that have any.
func (s Readers) Of(ctx context.Context, tenant string, objects ...string) (map[string][]access.List, error) {
	out := map[string][]access.List{}
	for some := range slices.Chunk(objects, mostObjects) {
		w := &where{}
		w.in("object", some)
		w.equal("tenant_id", tenant)
		scan := func(r row) (_ struct{}, err error) {
			var object string
			var list access.List
			if err = r.Scan(&object, &list); err == nil {
				out[object] = append(out[object], list)
			}
			return struct{}{}, err
		}
		if _, err := queryAll(ctx, s.read, scan, `SELECT object, list FROM readers`+w.String(), w.args...); err != nil {
			return nil, fail(err, "readers")
		}
	}
	return out, nil
}
