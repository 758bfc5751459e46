package store

import (
	"context"
	"fmt"
)

// A file in the object store is loose while no record names it: it is being uploaded or written,
// or the record is gone. It is noted before it exists, so that a host that dies leaves nothing
// behind.

// LooseFile is a file to be deleted.
type LooseFile struct {
	Name, Tenant string
}

// LooseFiles has the notes of loose files.
type LooseFiles struct{ *database }

// Add notes a file that is deleted at a time in Unix milliseconds, unless a record names
// it by then.
func (s LooseFiles) Add(ctx context.Context, f LooseFile, due int64) error {
	return s.write(ctx, fmt.Sprintf("note file %q", f.Name), func(ctx context.Context, q querier) error {
		return addLooseFile(ctx, q, f, due)
	})
}

func addLooseFile(ctx context.Context, q querier, f LooseFile, due int64) error {
	if f.Name == "" {
		return nil
	}
	const upsert = `INSERT INTO loose_files (name, former_tenant, due_time) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE SET due_time = excluded.due_time`
	_, err := q.ExecContext(ctx, upsert, f.Name, f.Tenant, due)
	return err
}

// useFile is called in the transaction that stores a record of the file.
func useFile(ctx context.Context, q querier, name string) error {
	_, err := q.ExecContext(ctx, `DELETE FROM loose_files WHERE name = $1`, name)
	return err
}

// loosen makes the files of documents loose. which selects the documents, with arguments from $2
// on.
func loosen(ctx context.Context, q querier, now int64, which string, args ...any) error {
	for _, file := range [...]string{"file", "chunk_file", "next_file"} {
		insert := `INSERT INTO loose_files (name, former_tenant, due_time)
			SELECT ` + file + `, tenant_id, $1 FROM documents WHERE ` + which + ` AND ` + file + ` <> ''
			ON CONFLICT (name) DO UPDATE SET due_time = excluded.due_time`
		if _, err := q.ExecContext(ctx, insert, append([]any{now}, args...)...); err != nil {
			return err
		}
	}
	return nil
}

// Due lists loose files whose time has come, the oldest first.
func (s LooseFiles) Due(ctx context.Context, limit int) ([]LooseFile, error) {
	const query = `SELECT name, former_tenant FROM loose_files WHERE due_time <= $1 ORDER BY due_time LIMIT $2`
	out, err := queryAll(ctx, s.read, func(r row) (f LooseFile, err error) {
		return f, r.Scan(&f.Name, &f.Tenant)
	}, query, s.ms(), limit)
	return out, fail(err, "list loose files")
}

// Forget removes the note of a file that was deleted.
func (s LooseFiles) Forget(ctx context.Context, name string) error {
	return s.writeAlways(ctx, fmt.Sprintf("forget file %q", name), func(ctx context.Context, q querier) error {
		return useFile(ctx, q, name)
	})
}
