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
	"syscall"
	"time"

	_ "github.com/go-sql-driver/mysql" // registers "mysql"
)

// ErrNoMariaDB means that MariaDB is not installed; skip the test.
var ErrNoMariaDB = errors.New("install Debian's mariadb-server-core, or put mariadbd on the path")

// MariaDB is a MariaDB server with its own data directory.
type MariaDB struct {
	*Process
	Port int // on 127.0.0.1; user easel, password easel, database test

	dir string
}

// StartMariaDB creates a database and starts a server. When run as root it starts the server as an
// unprivileged user.
//
// Errors: [ErrNoMariaDB].
func StartMariaDB() (*MariaDB, error) {
	program, err := findMariaDB()
	if err != nil {
		return nil, err
	}
	port, err := FreePort()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "easel-mariadb-")
	if err != nil {
		return nil, err
	}
	s := &MariaDB{Port: port, dir: dir}
	if err = s.start(program); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

func (s *MariaDB) start(program string) error {
	credential, err := s.account()
	if err != nil {
		return err
	}
	data := filepath.Join(s.dir, "data")
	install := exec.Command(
		"mariadb-install-db",
		"--no-defaults",
		"--datadir="+data,
		"--auth-root-authentication-method=normal",
		"--skip-test-db",
		"--skip-name-resolve",
	)
	install.Dir, install.SysProcAttr = s.dir, &syscall.SysProcAttr{Credential: credential}
	if out, err := install.CombinedOutput(); err != nil {
		return fmt.Errorf("mariadb-install-db: %w: %s", err, out)
	}
	accounts := filepath.Join(s.dir, "accounts.sql")
	statements := "CREATE DATABASE test;\nCREATE USER easel@'127.0.0.1' IDENTIFIED BY 'easel';\n" +
		"GRANT ALL ON *.* TO easel@'127.0.0.1' WITH GRANT OPTION;\n"
	if err := os.WriteFile(accounts, []byte(statements), 0o644); err != nil {
		return err
	}
	cmd := exec.Command(
		program,
		"--no-defaults",
		"--datadir="+data,
		"--bind-address=127.0.0.1",
		"--port="+strconv.Itoa(s.Port),
		"--socket="+filepath.Join(s.dir, "socket"),
		"--skip-name-resolve",
		"--init-file="+accounts,
		"--innodb-flush-log-at-trx-commit=0",
		"--innodb-buffer-pool-size=32M",
		"--performance-schema=OFF",
	)
	cmd.Dir, cmd.SysProcAttr = s.dir, &syscall.SysProcAttr{Credential: credential}
	if s.Process, err = Start(cmd); err != nil {
		return err
	}
	if err := s.ready(); err != nil {
		s.Kill()
		return err
	}
	return nil
}

// account returns the user that runs the server, which refuses to run as root.
func (s *MariaDB) account() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.LookupId("65534")
	if err != nil {
		return nil, err
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, os.Chown(s.dir, uid, gid)
}

func (s *MariaDB) ready() error {
	db, err := sql.Open("mysql", fmt.Sprintf("easel:easel@tcp(127.0.0.1:%d)/test", s.Port))
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
			return fmt.Errorf("MariaDB ended: %s", s.Output())
		case <-ctx.Done():
			return fmt.Errorf("MariaDB is not ready: %w: %s", err, s.Output())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Remove kills the server and removes its files.
func (s *MariaDB) Remove() error {
	s.Kill()
	return os.RemoveAll(s.dir)
}

func findMariaDB() (string, error) {
	for _, name := range []string{"mariadbd", "/usr/sbin/mariadbd", "mysqld"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrNoMariaDB
}

// AddAccount creates an account with read access.
func (s *MariaDB) AddAccount(name, password string) error {
	db, err := sql.Open("mysql", fmt.Sprintf("easel:easel@tcp(127.0.0.1:%d)/test?multiStatements=true", s.Port))
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.Exec(
		fmt.Sprintf("CREATE USER '%[1]s'@'127.0.0.1' IDENTIFIED BY '%[2]s'; GRANT SELECT ON *.* TO '%[1]s'@'127.0.0.1'",
			name, password),
	)
	return err
}
