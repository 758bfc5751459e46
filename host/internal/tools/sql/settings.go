package sql

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/sqltext"
)

// Settings name a database and how it is used.
type Settings struct {
	Kind     string // db_type: postgres, mysql, mariadb, oceanbase, sqlite
	Host     string
	Port     int // 0 is the port of the kind
	Database string
	User     string
	Password string
	Rows     int  // rows of a result at most; 0 is 1024
	Write    bool // statements may change data
}

const (
	defaultRows = 1024
	mostRows    = 100_000
)

// SettingsOf reads the params of an ExeSQL node. Errors: [ErrSettings], [ErrDriver].
func SettingsOf(params engine.Value) (Settings, error) {
	s := Settings{
		Kind: params.Get("db_type").Text(), Host: params.Get("host").Text(),
		Database: params.Get("database").Text(), User: params.Get("username").Text(),
		Password: params.Get("password").Text(),
	}
	if s.Kind == "" {
		s.Kind = "mysql"
	}
	if readOnly := params.Get("read_only"); readOnly.Kind() == engine.KindBool {
		s.Write = !readOnly.Truthy()
	}
	var err error
	if s.Port, err = positive(params, "port", 65535); err != nil {
		return s, err
	}
	if s.Rows, err = positive(params, "max_records", mostRows); err != nil {
		return s, err
	}
	return s, s.check()
}

// positive reads a positive integer, which forms also write as a string; 0 is an absent one.
func positive(params engine.Value, name string, most int) (int, error) {
	text := params.Get(name).Text()
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("%w: %s %q is not an integer from 1 to %d", ErrSettings, name, text, most)
	}
	return n, nil
}

func (s *Settings) check() error {
	kind, err := kindOf(s.Kind)
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		"database": s.Database, "host": s.Host, "username": s.User, "password": s.Password,
	} {
		if strings.ContainsRune(text, 0) {
			return fmt.Errorf("%w: %s has a NUL character", ErrSettings, name)
		}
	}
	if s.Database == "" {
		return fmt.Errorf("%w: database is empty", ErrSettings)
	}
	if kind == sqliteFile {
		return nil
	}
	if s.Host == "" {
		return fmt.Errorf("%w: host is empty", ErrSettings)
	}
	if s.User == "" {
		return fmt.Errorf("%w: username is empty", ErrSettings)
	}
	if s.Port == 0 {
		s.Port = portOf(kind)
	}
	return nil
}

func (s *Settings) address() string { return net.JoinHostPort(s.Host, strconv.Itoa(s.Port)) }

// socket reports whether the host is the path of a Unix socket, as clients of servers write it.
func (s *Settings) socket() bool {
	return strings.HasPrefix(s.Host, "/") || strings.HasPrefix(s.Host, "@") || strings.ContainsRune(s.Host, '\\')
}

func (s *Settings) rows() int {
	if s.Rows == 0 {
		return defaultRows
	}
	return s.Rows
}

// kind is a family of databases that share a protocol.
type kind = sqltext.Dialect

const (
	postgreSQL = sqltext.PostgreSQL
	mySQL      = sqltext.MySQL
	sqliteFile = sqltext.SQLite
)

// portOf returns the usual port of a kind.
func portOf(k kind) int {
	if k == postgreSQL {
		return 5432
	}
	return 3306
}

// Supports returns nil for a db_type that has a driver here, and else [ErrDriver].
func Supports(dbType string) error {
	_, err := kindOf(dbType)
	return err
}

func kindOf(name string) (kind, error) {
	switch name {
	case "postgres", "postgresql":
		return postgreSQL, nil
	case "mysql", "mariadb", "oceanbase":
		return mySQL, nil
	case "sqlite":
		return sqliteFile, nil
	}
	return 0, fmt.Errorf("%w: db_type %q (one of postgres, mysql, mariadb, oceanbase, sqlite)", ErrDriver, name)
}
