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

// ErrNoPostgres says that PostgreSQL cannot be had here; skip the test with it.
var ErrNoPostgres = errors.New("install Debian's postgresql, or put initdb and postgres on the path")

// Postgres is a PostgreSQL server on a directory of its own, which it keeps
// when it is started again. Its disk writes are not synced, but for
// [StartSyncedPostgres].
type Postgres struct {
	*Process
	URL string // of an empty database, for its owner

	bin, dir, port string
	user           *syscall.Credential
	fsync          string
}

// StartPostgres makes a database and runs a server on it. As root it runs as
// the user postgres, since the server refuses to be root.
//
// Errors: [ErrNoPostgres].
func StartPostgres() (*Postgres, error) {
	// Not below a directory of the test: the user postgres could not enter it.
	return startPostgres("", "off")
}

// StartSyncedPostgres is StartPostgres in a directory of dir, which the user
// postgres must be able to reach, with its disk writes synced as they are in
// earnest.
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
	s := &Postgres{bin: bin, dir: dir, port: strconv.Itoa(port), fsync: fsync, URL: fmt.Sprintf("postgres://easel@127.0.0.1:%d/postgres?sslmode=disable", port)}
	if s.user, err = serverUser(dir); err == nil {
		var out []byte
		args := []string{"-D", s.data(), "-U", "easel", "-A", "trust", "-E", "UTF8"}
		if fsync == "off" {
			args = append(args, "--no-sync")
		}
		out, err = s.command("initdb", args...).CombinedOutput()
		if err != nil {
			err = fmt.Errorf("initdb: %w: %s", err, out)
		}
	}
	if err == nil {
		err = s.Restart()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

func (s *Postgres) data() string { return filepath.Join(s.dir, "data") }

func (s *Postgres) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir, cmd.SysProcAttr = s.dir, &syscall.SysProcAttr{Credential: s.user}
	return cmd
}

// Restart runs the server again on the files it left. One that runs must have
// been killed.
func (s *Postgres) Restart() error {
	for late := time.Now().Add(Patience); ; time.Sleep(50 * time.Millisecond) {
		p, err := Start(s.command("postgres", "-D", s.data(), "-p", s.port, "-k", s.dir,
			"-c", "listen_addresses=127.0.0.1", "-c", "fsync="+s.fsync, "-c", "max_connections=200"))
		if err != nil {
			return err
		}
		s.Process = p
		err = s.ready()
		// A killed server's own children may hold its memory for a moment.
		if err == nil || time.Now().After(late) {
			return err
		}
		p.Kill()
	}
}

func (s *Postgres) ready() error {
	db, err := sql.Open("pgx", s.URL)
	if err != nil {
		return err
	}
	defer db.Close()
	ctx, stop := context.WithTimeout(context.Background(), Patience)
	defer stop()
	for {
		if err = db.PingContext(ctx); err == nil {
			return nil
		}
		select {
		case <-s.Done():
			return fmt.Errorf("PostgreSQL ended: %s", s.Output())
		case <-ctx.Done():
			return fmt.Errorf("PostgreSQL is not ready: %w: %s", err, s.Output())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Kill ends the server at once, and its children, which have process groups of
// their own and may wait for each other for ever.
func (s *Postgres) Kill() {
	select {
	case <-s.Done():
		return
	default:
	}
	_ = s.Freeze() // it makes no more of them; it may be gone already
	// Where the system does not tell, they notice by themselves, most often.
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", s.PID()))
	s.Process.Kill()
	for _, child := range strings.Fields(string(text)) {
		if pid, err := strconv.Atoi(child); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL) // as above
		}
	}
}

// Schema makes an empty schema and returns the address of a database that has
// nothing else.
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

// serverUser gives dir to the user postgres when the tests run as root.
func serverUser(dir string) (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("%w (running as root, and there is no user postgres)", ErrNoPostgres)
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
