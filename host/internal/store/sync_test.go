package store

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSyncSettings asks the engines themselves what they were told about their disks.
func TestSyncSettings(t *testing.T) {
	const sqlite, postgres = `PRAGMA synchronous`, `SHOW synchronous_commit`
	for _, test := range []struct {
		name, engine, query, param string
		sync                       Sync
		want                       string
	}{
		{"SQLite syncs each commit", "sqlite", sqlite, "", SyncAlways, "2"}, // FULL
		{"SQLite syncs now and then", "sqlite", sqlite, "", SyncInterval, "1"},
		{"PostgreSQL syncs as its server says", "postgres", postgres, "", SyncAlways, "on"},
		{"PostgreSQL syncs as its address says", "postgres", postgres, "local", SyncAlways, "local"},
		{"PostgreSQL syncs later", "postgres", postgres, "", SyncInterval, "off"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := engineConfig(t, test.engine)
			cfg.Sync = test.sync
			if test.param != "" {
				cfg.URL = addParam(cfg.URL, "synchronous_commit", test.param)
			}
			s := openTest(t, cfg)
			for range 3 {
				var got string
				require.NoError(t, s.write(t.Context(), "ask", func(ctx context.Context, q querier) error {
					return q.QueryRowContext(ctx, test.query).Scan(&got)
				}))
				require.Equal(t, test.want, got)
			}
		})
	}
}
