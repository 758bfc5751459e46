package store

import (
	"context"
	"fmt"
)

// Secret is what may be shown of a secret.
type Secret struct {
	Name       string
	CreateTime int64 // Unix milliseconds
	UpdateTime int64 // Unix milliseconds
}

// PutSecret seals a value under a name, over what was there.
func (s *Store) PutSecret(ctx context.Context, tenant, name string, value []byte) error {
	if err := checkText("name", name); err != nil {
		return fail(err, "secret")
	}
	sealed, err := s.seal.close(value, "secret", tenant, name)
	if err != nil {
		return fail(err, "secret %q", name)
	}
	const upsert = `INSERT INTO secrets (tenant_id, name, sealed, create_time, update_time) VALUES ($1, $2, $3, $4, $4)
		ON CONFLICT (tenant_id, name) DO UPDATE SET sealed = excluded.sealed, update_time = excluded.update_time`
	return s.write(ctx, fmt.Sprintf("secret %q", name), func(ctx context.Context, q querier) error {
		_, err := q.ExecContext(ctx, upsert, tenant, name, sealed, s.ms())
		return err
	})
}

// Secrets lists a tenant's secrets by name; values stay sealed.
func (s *Store) Secrets(ctx context.Context, tenant string) ([]Secret, error) {
	out, err := queryAll(ctx, s.read, func(r row) (Secret, error) {
		var v Secret
		return v, r.Scan(&v.Name, &v.CreateTime, &v.UpdateTime)
	}, `SELECT name, create_time, update_time FROM secrets WHERE tenant_id = $1 ORDER BY create_time, name`, tenant)
	return out, fail(err, "secrets")
}

// OpenSecret gives the value to the place that uses it. It must not be put
// into an answer, an event or a log line.
//
// Errors: [ErrNotFound], [ErrWrongKey].
func (s *Store) OpenSecret(ctx context.Context, tenant, name string) ([]byte, error) {
	var sealed []byte
	err := s.read.QueryRowContext(ctx, `SELECT sealed FROM secrets WHERE tenant_id = $1 AND name = $2`, tenant, name).Scan(&sealed)
	if err != nil {
		return nil, fail(err, "secret %q", name)
	}
	value, err := s.seal.open(sealed, "secret", tenant, name)
	return value, fail(err, "secret %q", name)
}

// DeleteSecret removes a secret. Errors: [ErrNotFound].
func (s *Store) DeleteSecret(ctx context.Context, tenant, name string) error {
	return s.write(ctx, fmt.Sprintf("delete secret %q", name), func(ctx context.Context, q querier) error {
		res, err := q.ExecContext(ctx, `DELETE FROM secrets WHERE tenant_id = $1 AND name = $2`, tenant, name)
		return changed(res, err, ErrNotFound)
	})
}
