package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// hostPrefix is the SQL of the application_name of host connections, up to the name of the host.
// PostgreSQL truncates such names to 63 bytes.
const hostPrefix = `left('easel serve, ' || current_schema() || ': ', 63)`

// sayHost sets the application_name of a connection.
func sayHost(name string) func(context.Context, *pgx.Conn) error {
	return func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `SELECT set_config('application_name', `+hostPrefix+` || $1, false)`, name)
		return err
	}
}

// hostsLeave bounds how long [Hosts] waits for closing connections: PostgreSQL removes the
// connections of a stopped host with a delay.
const hostsLeave = 5 * time.Second

// Hosts returns the names of the hosts connected to a PostgreSQL database, in alphabetical order:
// those with a [Config].Name that use the same schema. It returns none for SQLite, where the lock
// of the run log excludes other hosts.
//
// Errors: [ErrUnavailable].
func Hosts(ctx context.Context, cfg Config) ([]string, error) {
	if cfg.URL == "" {
		return nil, nil
	}
	s, err := connect(ctx, Config{URL: cfg.URL, Conns: 1})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	const query = `SELECT DISTINCT substr(application_name, length(` + hostPrefix + `) + 1) FROM pg_stat_activity
		WHERE datname = current_database() AND starts_with(application_name, ` + hostPrefix + `) ORDER BY 1`
	names, err := queryAll(ctx, s.read, scanName, query)
	for late := time.Now().Add(hostsLeave); err == nil && len(names) > 0 && time.Now().Before(late); {
		time.Sleep(hostsLeave / 50)
		names, err = queryAll(ctx, s.read, scanName, query)
	}
	return names, errors.Join(fail(err, "hosts"), s.Close())
}

func scanName(r row) (name string, err error) { return name, r.Scan(&name) }
