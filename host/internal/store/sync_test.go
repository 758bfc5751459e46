package store

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// TestSyncSettings reads the effective sync settings from the engines.
func TestSyncSettings(t *testing.T) {
	const sqlite, postgres = `PRAGMA synchronous`, `SHOW synchronous_commit`
	local := func(address string) string { return address + "&synchronous_commit=local" }
	for _, test := range []struct {
		name, engine, query string
		address             func(string) string // transforms the address; nil leaves it unchanged
		sync                Sync
		want                string
	}{
		{"SQLite syncs each commit", "sqlite", sqlite, nil, SyncAlways, "2"}, // FULL
		{"SQLite syncs at intervals", "sqlite", sqlite, nil, SyncInterval, "1"},
		{"PostgreSQL syncs as configured on the server", "postgres", postgres, nil, SyncAlways, "on"},
		{"PostgreSQL syncs as configured in the URL", "postgres", postgres, local, SyncAlways, "local"},
		{"PostgreSQL syncs asynchronously", "postgres", postgres, nil, SyncInterval, "off"},
		{
			"PostgreSQL syncs asynchronously, keyword connection string",
			"postgres", postgres, inWords, SyncInterval, "off",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := engineConfig(t, test.engine)
			cfg.Sync = test.sync
			if test.address != nil {
				cfg.URL = test.address(cfg.URL)
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

// inWords converts an address of PostgreSQL to keyword/value form.
func inWords(address string) string {
	c, err := pgx.ParseConfig(address)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("host=%s port=%d user=%s password='%s' dbname=%s sslmode=disable search_path=%s",
		c.Host, c.Port, c.User, c.Password, c.Database, c.RuntimeParams["search_path"])
}
