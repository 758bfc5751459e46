package store

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
)

// KV is a key-value store of one owner, such as a plugin, for one tenant. It is safe for concurrent
// use.
type KV struct {
	s             *database
	tenant, owner string
}

// KV returns the key-value store of an owner.
func (s *Store) KV(tenant, owner string) *KV { return &KV{s.database, tenant, owner} }

// Get returns a value. Errors: [ErrNotFound].
func (kv *KV) Get(ctx context.Context, key string) (string, error) {
	var value []byte
	const query = `SELECT value FROM kv WHERE tenant_id = $1 AND owner = $2 AND name = $3`
	err := kv.s.read.QueryRowContext(ctx, query, kv.tenant, kv.owner, []byte(key)).Scan(&value)
	return string(value), fail(err, "value of %s", kv.owner)
}

// Set writes a value, or removes the key if value is nil. quota bounds the total size of keys and
// values of the owner in bytes.
//
// Errors: [ErrQuota].
func (kv *KV) Set(ctx context.Context, key string, value *string, quota int64) error {
	return kv.SetAll(ctx, map[string]*string{key: value}, quota)
}

// SetAll is [KV.Set] for several keys in one commit: all are written, or none.
func (kv *KV) SetAll(ctx context.Context, values map[string]*string, quota int64) error {
	return kv.s.write(ctx, fmt.Sprintf("keep values of %s", kv.owner), func(ctx context.Context, q querier) error {
		// Removed keys make room first.
		removedFirst := slices.SortedFunc(maps.Keys(values), func(a, b string) int {
			if byKind := cmp.Compare(presence(values[a]), presence(values[b])); byKind != 0 {
				return byKind
			}
			return cmp.Compare(a, b)
		})
		for _, key := range removedFirst {
			if err := kv.set(ctx, q, key, values[key], quota); err != nil {
				return err
			}
		}
		return nil
	})
}

// presence is 0 for a key that is removed and 1 for one that gets a value.
func presence(value *string) int {
	if value == nil {
		return 0
	}
	return 1
}

func (kv *KV) set(ctx context.Context, q querier, key string, value *string, quota int64) error {
	const remove = `DELETE FROM kv WHERE tenant_id = $1 AND owner = $2 AND name = $3`
	const upsert = `INSERT INTO kv (tenant_id, owner, name, value) VALUES ($1, $2, $3, $4)
		ON CONFLICT (tenant_id, owner, name) DO UPDATE SET value = excluded.value`
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
}

// size returns the bytes stored by the owner without one key. On PostgreSQL it blocks other writers
// of this owner, so that concurrent writes cannot exceed the quota together.
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

// DeleteKV removes what an owner stores for all tenants.
func (s *Store) DeleteKV(ctx context.Context, owner string) error {
	return s.writeAlways(ctx, "delete the values of "+owner, func(ctx context.Context, q querier) error {
		_, err := q.ExecContext(ctx, `DELETE FROM kv WHERE owner = $1`, owner)
		return err
	})
}

// Keys returns the keys with a prefix, in byte order.
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

// after returns the smallest string greater than all with the prefix; nil if no such string exists.
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
