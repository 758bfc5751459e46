package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
)

// Used reports whether an existing database has records of any tenant. It does not need a key.
func Used(ctx context.Context, cfg Config) (used bool, err error) {
	err = withoutKey(ctx, cfg, func(s *Store) error {
		list, err := s.Tenants.List(ctx)
		used = len(list) > 0
		return err
	})
	return used, err
}

// Wipe deletes all records of a database and the mark of its key, so that it is like a new one.
func Wipe(ctx context.Context, cfg Config) error {
	return withoutKey(ctx, cfg, func(s *Store) error {
		return s.write(ctx, "wipe", func(ctx context.Context, q querier) error {
			for _, table := range slices.Concat(dumped, undumped) {
				if _, err := q.ExecContext(ctx, `DELETE FROM `+table); err != nil {
					return err
				}
			}
			_, err := q.ExecContext(ctx, `DELETE FROM meta WHERE name = 'key'`)
			return err
		})
	})
}

// KeyOpens checks that key, the content of a key file, sealed the secrets of a dump. The dump may
// be truncated after its first line.
//
// Errors: [ErrWrongKey], [ErrCorrupt] if the input is not a dump.
func KeyOpens(key, dump []byte) error {
	line, _, _ := bytes.Cut(dump, []byte("\n"))
	var head dumpHead
	if err := json.Unmarshal(line, &head); err != nil || head.Easel != "records" {
		return fail(ErrCorrupt, "dump")
	}
	raw, err := parseKey(key)
	if err != nil {
		return fail(ErrWrongKey, "key: %v", err)
	}
	seal, err := newSealer(raw)
	if err != nil {
		return fail(err, "key")
	}
	return fail((&database{seal: seal}).fits(head.Key), "key")
}

// withoutKey opens a database and its tables without checking the key.
func withoutKey(ctx context.Context, cfg Config, f func(*Store) error) error {
	cfg.AsIs = true // without comparing the whole file
	all, err := schema()
	if err != nil {
		return err
	}
	s, err := connect(ctx, cfg)
	if err == nil {
		err = s.migrate(ctx, false, all)
	}
	if err == nil {
		err = f(s)
	}
	return errors.Join(err, s.Close())
}
