package store

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A wiped database accepts the records and the key of another one.
func TestWipe(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			ctx, cfg := t.Context(), engineConfig(t, engine)
			s := openTest(t, cfg)
			used, err := Used(ctx, cfg)
			require.NoError(t, err)
			require.False(t, used)
			_, err = s.Tenants.Put(ctx, Tenant{ID: "t", Name: "t"})
			require.NoError(t, err)
			require.NoError(t, s.Secrets.Put(ctx, "t", "n", []byte("v"), nil))
			used, err = Used(ctx, cfg)
			require.NoError(t, err)
			require.True(t, used)
			var dump bytes.Buffer
			require.NoError(t, s.Dump(ctx, &dump))
			require.NoError(t, s.Close())

			file := cfg.KeyFile
			if file == "" {
				file = filepath.Join(cfg.Dir, "secret.key")
			}
			key, err := os.ReadFile(file)
			require.NoError(t, err)
			require.NoError(t, KeyOpens(key, dump.Bytes()))
			require.ErrorIs(t, KeyOpens(bytes.Repeat([]byte("ab"), 32), dump.Bytes()), ErrWrongKey)
			require.ErrorIs(t, KeyOpens([]byte("short"), dump.Bytes()), ErrWrongKey)
			require.ErrorIs(t, KeyOpens(nil, dump.Bytes()), ErrWrongKey)
			require.ErrorIs(t, KeyOpens(key, []byte("{}")), ErrCorrupt)

			require.NoError(t, Wipe(ctx, cfg))
			used, err = Used(ctx, cfg)
			require.NoError(t, err)
			require.False(t, used)
			require.NoError(t, os.Remove(file))
			again := openTest(t, cfg)
			_, err = again.Secrets.Open(ctx, "t", "n")
			require.ErrorIs(t, err, ErrNotFound)
		})
	}
}
