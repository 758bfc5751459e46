package store

import (
	"context"
	"fmt"
)

// KV is what one owner, such as a plugin, keeps for one tenant: texts by key. It is safe for
// concurrent use.
type KV struct {
	s             *Store
	tenant, owner string
}

// KV gives the keys and values of an owner.
func (s *Store) KV(tenant, owner string) *KV { return &KV{s, tenant, owner} }

// Get reads a value. Errors: [ErrNotFound].
func (kv *KV) Get(ctx context.Context, key string) (string, error) {
	var value []byte
	const query = `SELECT value FROM kv WHERE tenant_id = $1 AND owner = $2 AND name = $3`
	err := kv.s.read.QueryRowContext(ctx, query, kv.tenant, kv.owner, []byte(key)).Scan(&value)
	return string(value), fail(err, "value of %s", kv.owner)
}

// Set writes a value, or removes the key when value is nil. All keys and values of the owner
// together may have quota bytes.
//
// Errors: [ErrQuota].
func (kv *KV) Set(ctx context.Context, key string, value *string, quota int64) error {
	const remove = `DELETE FROM kv WHERE tenant_id = $1 AND owner = $2 AND name = $3`
	const upsert = `INSERT INTO kv (tenant_id, owner, name, value) VALUES ($1, $2, $3, $4)
		ON CONFLICT (tenant_id, owner, name) DO UPDATE SET value = excluded.value`
	return kv.s.write(ctx, fmt.Sprintf("keep a value of %s", kv.owner), func(ctx context.Context, q querier) error {
		if value == nil {
			_, err := q.ExecContext(ctx, remove, kv.tenant, kv.owner, []byte(key))
			return err
		}
		held, err := kv.size(ctx, q, key)
		if err != nil {
			return err
		}
		if held+int64(len(key)+len(*value)) > quota {
			return fmt.Errorf("%w: %d bytes", ErrQuota, quota)
		}
		_, err = q.ExecContext(ctx, upsert, kv.tenant, kv.owner, []byte(key), []byte(*value))
		return err
	})
}

// size is how many bytes the owner keeps beside one key. On PostgreSQL it makes other writers of
// this owner wait, so that two cannot both take the last room.
func (kv *KV) size(ctx context.Context, q querier, but string) (n int64, err error) {
	if kv.s.engine == "postgres" {
		const lock = `SELECT pg_advisory_xact_lock(hashtextextended($1, 727473651))`
		if _, err := q.ExecContext(ctx, lock, kv.tenant+" "+kv.owner); err != nil {
			return 0, err
		}
	}
	const sum = `SELECT CAST(COALESCE(SUM(LENGTH(name) + LENGTH(value)), 0) AS BIGINT) FROM kv
		WHERE tenant_id = $1 AND owner = $2 AND name <> $3`
	err = q.QueryRowContext(ctx, sum, kv.tenant, kv.owner, []byte(but)).Scan(&n)
	return n, err
}

// Keys lists the keys that begin with prefix, in the order of their bytes.
func (kv *KV) Keys(ctx context.Context, prefix string) ([]string, error) {
	query, args := `SELECT name FROM kv WHERE tenant_id = $1 AND owner = $2 AND name >= $3`, []any{kv.tenant, kv.owner, []byte(prefix)}
	if end := after(prefix); end != nil {
		query, args = query+` AND name < $4`, append(args, end)
	}
	out, err := queryAll(ctx, kv.s.read, func(r row) (string, error) {
		var name []byte
		err := r.Scan(&name)
		return string(name), err
	}, query+` ORDER BY name`, args...)
	return out, fail(err, "keys of %s", kv.owner)
}

// after is the first text behind all that begin with prefix; nil when there is none.
func after(prefix string) []byte {
	b := []byte(prefix)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < 0xFF {
			b[i]++
			return b[:i+1]
		}
	}
	return nil
}
