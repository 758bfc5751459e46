package store

import (
	"bytes"
	"context"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// A later migration changes the records of a database and those of a dump in the same way.
func TestMigrate(t *testing.T) {
	released, err := schema()
	require.NoError(t, err)
	last := released[len(released)-1].number
	all := append(released[:len(released):len(released)], migration{last + 1, "next", `
-- A column with values of its own, and an index that only one engine gets.
ALTER TABLE keys ADD COLUMN label TEXT NOT NULL DEFAULT '';
UPDATE keys SET label = name;
-- only: sqlite
CREATE INDEX keys_label ON keys (label);
`})
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			ctx := t.Context()
			cfg := engineConfig(t, engine)
			s := openTest(t, cfg)
			_, _, err := s.Keys.Create(ctx, Key{Tenant: "t", Name: "Ann's"}, "")
			require.NoError(t, err)
			var dump bytes.Buffer
			require.NoError(t, s.Dump(ctx, &dump))
			require.ErrorIs(t, s.migrate(ctx, true, all), ErrOlder, "as it is")
			require.NoError(t, s.migrate(ctx, false, all))
			require.NoError(t, s.migrate(ctx, false, all), "once")
			requireLabels(t, s)
			require.ErrorIs(t, s.migrate(ctx, false, released), ErrNewer)

			other := engineConfig(t, engine)
			other.KeyFile = filepath.Join(cfg.Dir, "secret.key")
			to := openTest(t, other)
			require.NoError(t, to.migrate(ctx, false, all))
			require.NoError(t, to.Load(ctx, &dump))
			require.NoError(t, to.write(ctx, "catch up", func(ctx context.Context, q querier) error {
				return catchUp(ctx, q, last, all)
			}))
			requireLabels(t, to)
		})
	}
}

func requireLabels(t *testing.T, s *Store) {
	t.Helper()
	labels, err := queryAll(t.Context(), s.read, scanName, `SELECT label FROM keys`)
	require.NoError(t, err)
	require.Equal(t, []string{"Ann's"}, labels)
}

// Tables and dumps from before the first release are refused, and nothing is changed.
func TestRecordsOfNoRelease(t *testing.T) {
	all, err := schema()
	require.NoError(t, err)
	before := strconv.Itoa(all[0].number - 1)
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		var dump bytes.Buffer
		require.NoError(t, s.Dump(ctx, &dump))
		former := bytes.Replace(dump.Bytes(), []byte(`"schema":`+strconv.Itoa(all[len(all)-1].number)),
			[]byte(`"schema":`+before), 1)
		require.ErrorIs(t, CheckDump(ctx, bytes.NewReader(former)), ErrOlder)
		require.ErrorIs(t, s.Load(ctx, bytes.NewReader(former)), ErrOlder)
		_, err := s.commit.exec(ctx, `UPDATE meta SET value = '`+before+`' WHERE name = 'schema'`)
		require.NoError(t, err)
		require.ErrorIs(t, s.migrate(ctx, false, all), ErrOlder)
		seen, _, err := schemaVersion(ctx, s.read)
		require.NoError(t, err)
		require.Equal(t, before, strconv.Itoa(seen))
	})
}

// Tables without a number that easel has written are damaged or of another program: they are
// refused as they are, so that an operator may restore a backup over them.
func TestTablesWithoutANumber(t *testing.T) {
	all, err := schema()
	require.NoError(t, err)
	for set, want := range map[string]error{
		`DELETE FROM meta WHERE name = 'schema'`:               ErrCorrupt,
		`UPDATE meta SET value = 'x' WHERE name = 'schema'`:    ErrCorrupt,
		`UPDATE meta SET value = '0' WHERE name = 'schema'`:    ErrOlder,
		`UPDATE meta SET value = '-1' WHERE name = 'schema'`:   ErrOlder,
		`UPDATE meta SET value = '1000' WHERE name = 'schema'`: ErrNewer,
	} {
		onBoth(t, func(t *testing.T, s *Store) {
			_, _, err := s.Keys.Create(t.Context(), Key{Tenant: "t", Name: "Ann's"}, "")
			require.NoError(t, err)
			_, err = s.commit.exec(t.Context(), set)
			require.NoError(t, err)
			for _, asIs := range []bool{true, false} {
				require.ErrorIs(t, s.migrate(t.Context(), asIs, all), want, set)
			}
			names, err := queryAll(t.Context(), s.read, scanName, `SELECT name FROM keys`)
			require.NoError(t, err)
			require.Equal(t, []string{"Ann's"}, names)
		})
	}
}
