package servertest

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

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
	credential, err := ownDir(s.dir, func() (*user.User, error) { return user.LookupId("65534") })
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
	if err := s.awaitDatabase("mysql", s.url(), "MariaDB"); err != nil {
		s.Kill()
		return err
	}
	return nil
}

func (s *MariaDB) url() string { return fmt.Sprintf("easel:easel@tcp(127.0.0.1:%d)/test", s.Port) }

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
	db, err := sql.Open("mysql", s.url()+"?multiStatements=true")
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
