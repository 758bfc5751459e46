package servertest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // registers "pgx"
)

// ErrNoPostgres means that PostgreSQL is not installed; skip the test.
var ErrNoPostgres = errors.New("install Debian's postgresql, or put initdb and postgres on the path")

// Postgres is a PostgreSQL server with its own data directory, which it keeps across restarts.
// Writes are not synced to disk unless it was started by [StartSyncedPostgres].
type Postgres struct {
	*Process
	URL string // of an empty database, as its owner

	bin, dir, port string
	user           *syscall.Credential
	fsync          string
}

// StartPostgres creates a database and starts a server. When run as root it starts the server as
// the user postgres, since the server refuses to run as root.
//
// Errors: [ErrNoPostgres].
func StartPostgres() (*Postgres, error) {
	// Not in a directory of the test, which the user postgres cannot enter.
	return startPostgres("", "off")
}

// StartSyncedPostgres is StartPostgres with writes synced to disk as in production, and with its
// files below dir, which the user postgres must be able to access.
func StartSyncedPostgres(dir string) (*Postgres, error) { return startPostgres(dir, "on") }

func startPostgres(parent, fsync string) (*Postgres, error) {
	bin, err := findPostgres()
	if err != nil {
		return nil, err
	}
	port, err := FreePort()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(parent, "easel-pg-")
	if err != nil {
		return nil, err
	}
	s := &Postgres{
		bin: bin, dir: dir, port: strconv.Itoa(port), fsync: fsync,
		URL: fmt.Sprintf("postgres://easel@127.0.0.1:%d/postgres?sslmode=disable", port),
	}
	if s.user, err = ownDir(dir, serverUser); err == nil {
		err = s.initialise()
	}
	if err == nil {
		err = s.Restart()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// initialise makes an empty database.
func (s *Postgres) initialise() error {
	if s.fsync == "on" {
		return s.initdb()
	}
	pristine.Lock()
	defer pristine.Unlock()
	if pristine.files != nil {
		return pristine.files.write(s.data(), s.user)
	}
	if err := s.initdb("--no-sync"); err != nil {
		return err
	}
	files, err := readTree(s.data())
	pristine.files = files
	return err
}

func (s *Postgres) initdb(more ...string) error {
	args := append([]string{"-D", s.data(), "-U", "easel", "-A", "trust", "-E", "UTF8"}, more...)
	if out, err := s.command("initdb", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	return nil
}

func (s *Postgres) data() string { return filepath.Join(s.dir, "data") }

func (s *Postgres) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir, cmd.SysProcAttr = s.dir, &syscall.SysProcAttr{Credential: s.user}
	return cmd
}

// Restart starts the server again with its existing files. A running server must be killed first.
func (s *Postgres) Restart() error {
	for deadline := time.Now().Add(Patience); ; time.Sleep(50 * time.Millisecond) {
		p, err := Start(s.command("postgres", "-D", s.data(), "-p", s.port, "-k", s.dir,
			"-c", "listen_addresses=127.0.0.1", "-c", "fsync="+s.fsync, "-c", "max_connections=200"))
		if err != nil {
			return err
		}
		s.Process = p
		err = p.awaitDatabase("pgx", s.URL, "PostgreSQL")
		// Child processes of a killed server may hold its shared memory for a moment.
		if err == nil || time.Now().After(deadline) {
			return err
		}
		p.Kill()
	}
}

// Kill kills the server and its child processes, which have their own process groups and may
// otherwise wait for each other forever.
func (s *Postgres) Kill() {
	select {
	case <-s.Done():
		return
	default:
	}
	_ = s.Freeze() // prevents new children; the process may have exited
	// Without this file the children usually notice by themselves that the server is gone.
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", s.PID()))
	s.Process.Kill()
	for _, child := range strings.Fields(string(text)) {
		if pid, err := strconv.Atoi(child); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL) // may have exited
		}
	}
}

// Schema creates an empty schema and returns the address of a database that shows only that schema.
func (s *Postgres) Schema(ctx context.Context, name string) (url string, err error) {
	db, err := sql.Open("pgx", s.URL)
	if err != nil {
		return "", err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, `CREATE SCHEMA "`+name+`"`)
	return s.URL + "&search_path=" + name, err
}

// Remove kills the server and removes its files.
func (s *Postgres) Remove() error {
	s.Kill()
	return os.RemoveAll(s.dir)
}

func findPostgres() (string, error) {
	if found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb"); err == nil && len(found) > 0 {
		return filepath.Dir(found[len(found)-1]), nil
	}
	path, err := exec.LookPath("initdb")
	if err != nil {
		return "", ErrNoPostgres
	}
	return filepath.Dir(path), nil
}

// serverUser finds the user postgres.
func serverUser() (*user.User, error) {
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("%w (running as root, and the user postgres does not exist)", ErrNoPostgres)
	}
	return u, nil
}
