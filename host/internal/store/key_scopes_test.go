package store

import (
	"context"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// allScopes are the scopes of a key that could do everything before scopes had to be named.
var allScopes = []string{"read", "run", "edit", "admin", "host", "metrics", "read_traces"}

// A key that could do everything because it had no scopes keeps all rights under their names, and
// one that could read keeps seeing the steps of runs. A key made since without scopes has none.
func TestMigrationNamesScopesOfKeys(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			ctx := t.Context()
			cfg := engineConfig(t, engine)
			s, err := connect(ctx, cfg)
			t.Cleanup(func() { require.NoError(t, s.Close()) })
			require.NoError(t, err)
			want := map[string][]string{
				`[]`: allScopes, `["read"]`: {"read", "read_traces"}, `["run"]`: {"run"}, `["admin"]`: {"admin"},
				`["run","read","edit"]`: {"run", "read", "read_traces", "edit"}, `["metrics"]`: {"metrics"},
			}
			files, err := fs.Glob(migrations, "migrations/*.sql")
			require.NoError(t, err)
			last := slices.IndexFunc(files, func(name string) bool { return strings.Contains(name, "key_scopes") })
			require.NoError(t, s.write(ctx, "old tables", func(ctx context.Context, q querier) error {
				_, err := schemaVersion(ctx, q)
				require.NoError(t, err)
				for n, file := range files[:last] {
					require.NoError(t, applyMigration(ctx, q, s.engine, file, n+1))
				}
				for scopes := range want {
					const insert = `INSERT INTO keys
						(id, tenant_id, user_id, name, hint, scopes, create_time, expire_time, hash) VALUES ($1, 't', 'u', '', '', $1, 1, 0, $2)`
					_, err := q.ExecContext(ctx, insert, scopes, hashToken(scopes))
					require.NoError(t, err)
				}
				return nil
			}))
			require.NoError(t, s.prepare(ctx, cfg))
			for scopes, now := range want {
				k, err := s.Keys.ByText(ctx, scopes)
				require.NoError(t, err)
				require.Equal(t, now, k.Scopes, scopes)
			}
			_, text, err := s.Keys.Create(ctx, Key{Tenant: "t"}, "")
			require.NoError(t, err)
			require.NoError(t, s.migrate(ctx, false))
			k, err := s.Keys.ByText(ctx, text)
			require.NoError(t, err)
			require.Empty(t, k.Scopes)
		})
	}
}

// A dump of an older version loads as the migration converts a database.
func TestDumpNamesScopesOfKeys(t *testing.T) {
	dir := t.TempDir()
	from := openTest(t, Config{Dir: dir})
	_, text, err := from.Keys.Create(t.Context(), Key{Tenant: "t"}, "")
	require.NoError(t, err)
	var dump strings.Builder
	require.NoError(t, from.Dump(t.Context(), &dump))
	for schema, want := range map[string][]string{"18": allScopes, "": nil} {
		records := dump.String()
		if schema != "" {
			records = regexp.MustCompile(`"schema":\d+`).ReplaceAllString(records, `"schema":`+schema)
		}
		to := openTest(t, Config{Dir: t.TempDir(), KeyFile: filepath.Join(dir, "secret.key")})
		require.NoError(t, to.Load(t.Context(), strings.NewReader(records)))
		k, err := to.Keys.ByText(t.Context(), text)
		require.NoError(t, err)
		require.ElementsMatch(t, want, k.Scopes)
	}
}
