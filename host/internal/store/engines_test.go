package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The tests run on both engines. PostgreSQL is started once per test program,
// on loopback, in a directory of its own, and stopped by its process id.

var postgres = sync.OnceValues(startPostgres)

var stopPostgres func()

func TestMain(m *testing.M) {
	if dir := os.Getenv(killVariable); dir != "" {
		if err := writeForever(dir); err != nil {
			panic(err)
		}
		return
	}
	code := m.Run()
	if stopPostgres != nil {
		stopPostgres()
	}
	os.Exit(code)
}

// onBoth runs a test on an empty store of each engine.
func onBoth(t *testing.T, test func(t *testing.T, s *Store)) {
	t.Helper()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) { test(t, openTest(t, engineConfig(t, engine))) })
	}
}

func openTest(t *testing.T, cfg Config) *Store {
	t.Helper()
	s, err := Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

var schemas atomic.Int64

// engineConfig is a configuration for an empty store.
func engineConfig(t *testing.T, engine string) Config {
	t.Helper()
	cfg := Config{Dir: t.TempDir()}
	if engine == "sqlite" {
		return cfg
	}
	base, err := postgres()
	if errors.Is(err, errNoPostgres) {
		t.Skip("PostgreSQL cannot be had here: ", err)
	}
	require.NoError(t, err)
	schema := fmt.Sprintf("t%d", schemas.Add(1))
	admin, err := (&Store{}).pool("pgx", base, 1)
	require.NoError(t, err)
	_, err = admin.ExecContext(t.Context(), "CREATE SCHEMA "+schema)
	require.NoError(t, err)
	require.NoError(t, admin.Close())
	cfg.URL = addParam(base, "search_path", schema)
	return cfg
}

var errNoPostgres = errors.New("install Debian's postgresql, or put initdb and postgres on the path")

// startPostgres returns the address of a new server.
func startPostgres() (string, error) {
	bin, err := findPostgres()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "easel-pg-")
	if err != nil {
		return "", err
	}
	cred, err := serverUser(dir)
	if err != nil {
		return "", err
	}
	run := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Credential: cred}
		return cmd
	}
	data := filepath.Join(dir, "data")
	out, err := run("initdb", "-D", data, "-U", "easel", "-A", "trust", "-E", "UTF8", "--no-sync").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("initdb: %w: %s", err, out)
	}
	port, err := freePort()
	if err != nil {
		return "", err
	}
	var log bytes.Buffer
	server := run("postgres", "-D", data, "-p", strconv.Itoa(port), "-k", dir,
		"-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "max_connections=200")
	server.Stderr = &log
	if err := server.Start(); err != nil {
		return "", err
	}
	stopPostgres = func() {
		_ = server.Process.Signal(syscall.SIGINT) // fast shutdown; Wait tells the rest
		_ = server.Wait()
		_ = os.RemoveAll(dir)
	}
	addr := fmt.Sprintf("postgres://easel@127.0.0.1:%d/postgres?sslmode=disable", port)
	if err := waitPostgres(addr); err != nil {
		return "", fmt.Errorf("%w: %s", err, log.String())
	}
	return addr, nil
}

func findPostgres() (string, error) {
	if found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb"); err == nil && len(found) > 0 {
		return filepath.Dir(found[len(found)-1]), nil
	}
	path, err := exec.LookPath("initdb")
	if err != nil {
		return "", errNoPostgres
	}
	return filepath.Dir(path), nil
}

// serverUser gives dir to the postgres user when the tests run as root, under
// which the server refuses to start.
func serverUser(dir string) (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("%w (running as root, and there is no user postgres)", errNoPostgres)
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, os.Chown(dir, uid, gid)
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

func waitPostgres(addr string) error {
	s := &Store{}
	db, err := s.pool("pgx", addr, 1)
	if err != nil {
		return err
	}
	defer db.Close()
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	defer stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if err = db.PingContext(ctx); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("PostgreSQL did not start: %w", err)
		case <-tick.C:
		}
	}
}
