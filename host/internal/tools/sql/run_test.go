package sql

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var runner = &Runner{Network: anywhere{}}

// write runs statements that may change data.
func write(t *testing.T, s Settings, text string) {
	t.Helper()
	s.Write = true
	for _, statement := range statements(text, mySQL) {
		results, err := runner.Run(t.Context(), &s, statement)
		require.NoError(t, err)
		require.NoError(t, results[0].Err, statement)
	}
}

// cell returns the first cell of a statement's result, as JSON, or its error.
func cell(t *testing.T, s Settings, statement string) string {
	t.Helper()
	results, err := runner.Run(t.Context(), &s, statement)
	require.NoError(t, err)
	require.Len(t, results, 1)
	if results[0].Err != nil {
		return results[0].Err.Error()
	}
	if len(results[0].Rows) == 0 {
		return ""
	}
	return results[0].Rows[0][0].JSON()
}

func TestCellsKeepTheirValue(t *testing.T) {
	for kind, s := range servers(t) {
		t.Run(kind, func(t *testing.T) {
			for statement, want := range map[string]string{
				"SELECT 9007199254740993":                               "9007199254740993",
				"SELECT CAST(12345678901234567890.12 AS DECIMAL(30,2))": "12345678901234567890.12",
				"SELECT DATE '2026-02-03'":                              `"2026-02-03"`,
				"SELECT TIMESTAMP '2026-02-03 04:05:06'":                `"2026-02-03 04:05:06"`,
				"SELECT NULL":                                           "null",
				"SELECT 'a;b -- c'":                                     `"a;b -- c"`,
				"SELECT 'Ä漢🙂'":                                          `"Ä漢🙂"`,
				"SELECT 1.5":                                            "1.5",
			} {
				require.Equal(t, want, cell(t, s, statement), statement)
			}
		})
	}
	require.Equal(t, `{"a":[1,2]}`, cell(t, postgres(t), `SELECT '{"a": [1, 2]}'::jsonb`))
	require.Equal(t, "true", cell(t, postgres(t), `SELECT true`))
	require.Equal(t, "null", cell(t, postgres(t), `SELECT 'NaN'::float8`))
	require.Equal(t, `"/wA="`, cell(t, postgres(t), `SELECT '\xff00'::bytea`))
	require.Equal(t, `"/wA="`, cell(t, maria(t), `SELECT x'ff00'`))
	require.Equal(t, "18446744073709551615", cell(t, maria(t), `SELECT CAST(18446744073709551615 AS UNSIGNED)`))
}

func TestNodeThatReadsChangesNothing(t *testing.T) {
	for kind, s := range servers(t) {
		t.Run(kind, func(t *testing.T) {
			write(t, s, "DROP TABLE IF EXISTS readonly_test; CREATE TABLE readonly_test (n int);"+
				"INSERT INTO readonly_test VALUES (1)")
			for _, statement := range []string{
				"INSERT INTO readonly_test VALUES (2)", "DELETE FROM readonly_test", "UPDATE readonly_test SET n = 3",
				"DROP TABLE readonly_test", "TRUNCATE TABLE readonly_test", "COMMIT", "ROLLBACK", "BEGIN",
				"SET TRANSACTION READ WRITE", "/* x */ DELETE FROM readonly_test", "-- x\nDELETE FROM readonly_test",
				"/*!DELETE FROM readonly_test*/", "GRANT ALL ON readonly_test TO easel", "CALL x()",
				"DO $$ begin end $$",
				"SELECT 1 INTO OUTFILE '/tmp/easel'",
				"WITH gone AS (DELETE FROM readonly_test RETURNING *) SELECT * FROM gone",
				"EXPLAIN ANALYZE DELETE FROM readonly_test",
				"SELECT set_config('transaction_read_only', 'off', true)",
				"SELECT * INTO other FROM readonly_test",
			} {
				results, err := runner.Run(t.Context(), &s, statement)
				require.NoError(t, err)
				for _, r := range results {
					require.Error(t, r.Err, statement)
				}
			}
			require.Equal(t, "1", cell(t, s, "SELECT count(*) FROM readonly_test"))
			require.Equal(t, "1", cell(t, s, "SELECT n FROM readonly_test"))
		})
	}
}

// A pair of settings may change the session: the next statement must be read-only all the same.
func TestReadOnlySurvivesTheSessionsSettings(t *testing.T) {
	s := postgres(t)
	write(t, s, "DROP TABLE IF EXISTS session_test; CREATE TABLE session_test (n int)")
	_, err := runner.Run(t.Context(), &s, "SELECT set_config('default_transaction_read_only', 'off', false); "+
		"SELECT 1; WITH x AS (INSERT INTO session_test VALUES (1) RETURNING n) SELECT n FROM x")
	require.NoError(t, err)
	require.Equal(t, "0", cell(t, s, "SELECT count(*) FROM session_test"))
}

func TestFailingStatementLeavesTheNext(t *testing.T) {
	for kind, s := range servers(t) {
		t.Run(kind, func(t *testing.T) {
			results, err := runner.Run(t.Context(), &s, "SELECT broken FROM nowhere; SELECT 2")
			require.NoError(t, err)
			require.Len(t, results, 2)
			require.ErrorContains(t, results[0].Err, "nowhere")
			require.Equal(t, "2", results[1].Rows[0][0].JSON())
		})
	}
}

func TestCancelEndsTheStatementOnTheServer(t *testing.T) {
	for kind, c := range map[string]struct{ sleep, running string }{
		"postgres": {
			"SELECT pg_sleep(60)",
			"SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query = 'SELECT pg_sleep(60)'",
		},
		"mariadb": {
			"SELECT SLEEP(60)",
			"SELECT count(*) FROM information_schema.processlist WHERE info = 'SELECT SLEEP(60)'",
		},
	} {
		t.Run(kind, func(t *testing.T) {
			s := servers(t)[kind]
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				_, err := runner.Run(ctx, &s, c.sleep)
				ended <- err
			}()
			await(t, func() bool { return cell(t, s, c.running) == "1" })
			cancel()
			require.ErrorIs(t, <-ended, context.Canceled)
			await(t, func() bool { return cell(t, s, c.running) == "0" })
		})
	}
}

// await polls a server for the expected answer, because there is no event.
func await(t *testing.T, reached func() bool) {
	t.Helper()
	require.Eventually(t, reached, 2*time.Minute, 20*time.Millisecond)
}

func TestTimeoutEndsTheStatement(t *testing.T) {
	s := postgres(t)
	r := &Runner{Network: anywhere{}, Timeout: 200 * time.Millisecond}
	_, err := r.Run(t.Context(), &s, "SELECT pg_sleep(60)")
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestResultsAreBounded(t *testing.T) {
	for kind, c := range map[string]struct{ rows, large string }{
		"postgres": {
			"SELECT * FROM generate_series(1, 5000)",
			"SELECT repeat('x', 1000000) FROM generate_series(1, 20)",
		},
		"mariadb": {"SELECT seq FROM seq_1_to_5000", "SELECT REPEAT('x', 1000000) FROM seq_1_to_20"},
	} {
		t.Run(kind, func(t *testing.T) {
			s := servers(t)[kind]
			results, err := runner.Run(t.Context(), &s, c.rows)
			require.NoError(t, err)
			require.NoError(t, results[0].Err)
			require.Len(t, results[0].Rows, defaultRows)
			s.Rows = 7
			results, err = runner.Run(t.Context(), &s, c.rows)
			require.NoError(t, err)
			require.Len(t, results[0].Rows, 7)
			s.Rows = 0
			results, err = runner.Run(t.Context(), &s, c.large)
			require.NoError(t, err)
			require.ErrorIs(t, results[0].Err, ErrTooLarge)
		})
	}
	s := postgres(t)
	results, err := runner.Run(t.Context(), &s, "SELECT repeat('x', 200000000)")
	require.NoError(t, err)
	require.ErrorIs(t, results[0].Err, ErrTooLarge)
}

var errRefused = errors.New("refused")

type refusing struct{}

func (refusing) Dial(context.Context, string, string) (net.Conn, error) { return nil, errRefused }

func TestOnlyTheNetworkDials(t *testing.T) {
	r := &Runner{Network: refusing{}}
	for _, s := range servers(t) {
		_, err := r.Run(t.Context(), &s, "SELECT 1")
		require.ErrorIs(t, err, errRefused)
	}
}

// A canvas does not choose a Unix socket, also where private addresses are allowed: servers take
// everybody there for the user of the host.
func TestSocketsAreForTheOperator(t *testing.T) {
	sockets := map[string]string{
		"postgres": cell(t, postgresOperator(t), "SHOW unix_socket_directories"),
		"mariadb":  cell(t, mariaOperator(t), "SELECT @@socket"),
	}
	for kind, s := range servers(t) {
		socket := strings.Trim(sockets[kind], `"`)
		require.True(t, filepath.IsAbs(socket), socket)
		for _, host := range []string{socket, "/", "/../" + socket, "@" + socket, `C:\pipe`, `\\.\pipe\MySQL`} {
			s.Host = host
			require.ErrorIs(t, runner.Test(t.Context(), &s), ErrSettings, host)
			require.ErrorContains(t, runner.Test(t.Context(), &s), "--sql-sockets", host)
		}
		for _, host := range []string{
			"", " ", "host=" + socket, "127.0.0.1," + socket, "%2Ftmp", "./" + socket, "x\x00" + socket,
		} {
			s.Host = host
			require.Error(t, runner.Test(t.Context(), &s), host)
		}
		s.Host = socket
		allowed := &Runner{Sockets: true} // and no network
		_, err := allowed.Run(t.Context(), &s, "SELECT 1")
		if kind == "postgres" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, "'canvas'@'localhost'", "the server answered, and has no such account")
		}
		s.Host = "127.0.0.1"
		_, err = allowed.Run(t.Context(), &s, "SELECT 1")
		require.ErrorContains(t, err, "is not allowed")
	}
}

// Settings reach the server as they are and add no others.
func TestSettingsAddNoOthers(t *testing.T) {
	for _, s := range servers(t) {
		for _, smuggled := range []string{
			"x\x00options\x00-c default_transaction_read_only=off", "x\x00replication\x00database", "x sslmode=disable",
			"x?multiStatements=true", "x host=/tmp", "postgres://u@/x?host=/tmp", "x&allowAllFiles=true",
		} {
			for _, change := range []func(s *Settings){
				func(s *Settings) { s.Database = smuggled }, func(s *Settings) { s.User = smuggled },
			} {
				changed := s
				change(&changed)
				require.Error(t, runner.Test(t.Context(), &changed), smuggled)
			}
		}
	}
}

func TestNoAccountReadsFilesOfTheHost(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(file, []byte(hostMark+"\n"), 0o644))
	s := mariaOperator(t)
	mariaScript(t, "CREATE OR REPLACE TABLE loaded (t TEXT)")
	results, err := runner.Run(t.Context(), &s, "LOAD DATA LOCAL INFILE '"+file+"' INTO TABLE loaded")
	require.NoError(t, err)
	require.ErrorContains(t, results[0].Err, "is not registered")
	require.Equal(t, "0", cell(t, s, "SELECT COUNT(*) FROM loaded"))
}

func TestRefusedLoginShowsTheReason(t *testing.T) {
	s := maria(t)
	s.Password = "s3cret-and-wrong"
	err := runner.Test(t.Context(), &s)
	require.ErrorContains(t, err, "Access denied")
	require.NotContains(t, err.Error(), s.Password)
	s.Password = "canvas"
	require.NoError(t, runner.Test(t.Context(), &s))
}

func TestTooManyStatements(t *testing.T) {
	_, err := runner.Run(
		t.Context(),
		&Settings{Kind: "postgres", Host: "h", User: "u", Database: "d"},
		strings.Repeat("SELECT 1;", 101),
	)
	require.EqualError(t, err, "101 statements, at most 100")
}
