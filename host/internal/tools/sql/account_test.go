package sql

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPowerfulAccountsOnlyWrite(t *testing.T) {
	postgresScript(t, `
		DROP ROLE IF EXISTS reads_files, writes_files, runs_programs, programs, becomes_operator, hides, watches;
		CREATE ROLE reads_files LOGIN; GRANT pg_read_server_files TO reads_files;
		CREATE ROLE writes_files LOGIN; GRANT pg_write_server_files TO writes_files;
		CREATE ROLE programs NOLOGIN; GRANT pg_execute_server_program TO programs;
		CREATE ROLE runs_programs LOGIN NOINHERIT; GRANT programs TO runs_programs;
		CREATE ROLE becomes_operator LOGIN NOINHERIT; GRANT easel TO becomes_operator;
		CREATE ROLE hides LOGIN NOINHERIT; GRANT easel, canvas TO hides; ALTER ROLE hides SET role = canvas;
		CREATE ROLE watches LOGIN; GRANT pg_monitor, pg_read_all_data TO watches`)
	s := postgres(t)
	for user, want := range map[string]string{
		"easel": "SUPERUSER (role easel)", "becomes_operator": "SUPERUSER (role easel)",
		"hides":       "SUPERUSER (role easel)",
		"reads_files": "pg_read_server_files", "writes_files": "pg_write_server_files",
		"runs_programs": "pg_execute_server_program", "watches": "", "canvas": "",
	} {
		s.User = user
		refuses(t, s, want)
	}

	mariaScript(t, `
		CREATE OR REPLACE ROLE files; GRANT FILE ON *.* TO files;
		CREATE OR REPLACE ROLE outer_files; GRANT files TO outer_files;
		CREATE OR REPLACE ROLE harmless; GRANT SELECT ON *.* TO harmless;
		CREATE OR REPLACE USER direct@'127.0.0.1' IDENTIFIED BY 'canvas';
		GRANT SELECT, FILE ON *.* TO direct@'127.0.0.1';
		CREATE OR REPLACE USER super@'127.0.0.1' IDENTIFIED BY 'canvas'; GRANT SUPER ON *.* TO super@'127.0.0.1';
		CREATE OR REPLACE USER role@'127.0.0.1' IDENTIFIED BY 'canvas'; GRANT harmless TO role@'127.0.0.1';
		GRANT files TO role@'127.0.0.1';
		CREATE OR REPLACE USER nested@'127.0.0.1' IDENTIFIED BY 'canvas'; GRANT outer_files TO nested@'127.0.0.1';
		CREATE OR REPLACE USER standing@'127.0.0.1' IDENTIFIED BY 'canvas'; GRANT outer_files TO standing@'127.0.0.1';
		SET DEFAULT ROLE outer_files FOR standing@'127.0.0.1';
		CREATE OR REPLACE USER reader@'127.0.0.1' IDENTIFIED BY 'canvas'; GRANT harmless TO reader@'127.0.0.1';
		SET DEFAULT ROLE harmless FOR reader@'127.0.0.1'`)
	s = maria(t)
	for user, want := range map[string]string{
		"easel": "ALL PRIVILEGES", "direct": "FILE", "super": "SUPER", "standing": "FILE",
		"role": "", "nested": "", // the roles are not active, and only SET ROLE would change that
		"reader": "", "canvas": "",
	} {
		s.User, s.Database, s.Password = user, "information_schema", "canvas"
		if user == "easel" {
			s.Password = "easel"
		}
		refuses(t, s, want)
	}
	s.User, s.Password = "reader", "canvas"
	mariaScript(t, "GRANT FILE ON *.* TO PUBLIC")
	defer mariaScript(t, "REVOKE FILE ON *.* FROM PUBLIC")
	refuses(t, s, "FILE")
}

// The accounts of the guide are accepted, read the tables and change nothing.
func TestAccountsOfTheGuide(t *testing.T) {
	guide, err := os.ReadFile("../../../../docs/operate/databases.md")
	require.NoError(t, err)
	block := func(kind string) string {
		_, text, found := strings.Cut(string(guide), "```sql "+kind+"\n")
		require.True(t, found, kind)
		text, _, _ = strings.Cut(text, "```")
		return text
	}
	operator := postgresOperator(t)
	write(t, operator, "DROP DATABASE IF EXISTS shop; DROP ROLE IF EXISTS canvas_reader; CREATE DATABASE shop")
	operator.Database = "shop"
	write(t, operator, "CREATE TABLE orders (n int); INSERT INTO orders VALUES (1);"+block("postgres")+
		"CREATE TABLE later (n int)")
	s := operator
	s.User, s.Password = "canvas_reader", "choose one"
	reader(t, s, "SELECT n FROM orders", "SELECT count(*) FROM later")

	operator = mariaOperator(t)
	write(t, operator, "DROP DATABASE IF EXISTS shop; DROP USER IF EXISTS 'canvas_reader'@'%'; CREATE DATABASE shop")
	operator.Database = "shop"
	write(t, operator, "CREATE TABLE orders (n int); INSERT INTO orders VALUES (1);"+block("mariadb"))
	s = operator
	s.User, s.Password = "canvas_reader", "choose one"
	reader(t, s, "SELECT n FROM orders", "SELECT 0")
}

// reader tests that an account reads 1 and 0, and inserts nothing even where the node may write.
func reader(t *testing.T, s Settings, one, zero string) {
	t.Helper()
	for _, s.Write = range []bool{false, true} {
		require.Equal(t, "1", cell(t, s, one))
		require.Equal(t, "0", cell(t, s, zero))
		require.Regexp(t, "not allowed|denied|read-only", cell(t, s, "INSERT INTO orders VALUES (2)"))
	}
	require.Equal(t, "1", cell(t, s, "SELECT count(*) FROM orders"))
}

// refuses tests that an account is refused to a node that only reads because of power, and accepted
// by one that may write; "" means that both accept it.
func refuses(t *testing.T, s Settings, power string) {
	t.Helper()
	err := runner.Test(t.Context(), &s)
	if power == "" {
		require.NoError(t, err, s.User)
		return
	}
	require.ErrorIs(t, err, ErrAccount, s.User)
	require.ErrorContains(t, err, `"`+s.User+`" has `+power)
	s.Write = true
	require.NoError(t, runner.Test(t.Context(), &s), s.User)
}

// The lines come from the manual of MySQL: no server of it can be installed for tests.
func TestPrivilegesInLinesOfMySQL(t *testing.T) {
	for line, want := range map[string][]string{
		"GRANT USAGE ON *.* TO `u`@`h`":                                         nil,
		"GRANT SELECT, FILE ON *.* TO `u`@`h`":                                  {"FILE"},
		"GRANT SELECT, RELOAD, FILE, SUPER ON *.* TO `u`@`h` WITH GRANT OPTION": {"FILE", "SUPER"},
		"GRANT ALL PRIVILEGES ON *.* TO 'root'@'localhost' WITH GRANT OPTION":   {"ALL PRIVILEGES"},
		"GRANT ALL PRIVILEGES ON `test`.* TO `u`@`h`":                           nil,
		"GRANT SELECT (`FILE`), INSERT ON `test`.`FILE` TO `u`@`h`":             nil,
		"GRANT AUDIT_ADMIN,BACKUP_ADMIN ON *.* TO `u`@`h`":                      nil,
		"GRANT PROXY ON ''@'' TO 'root'@'localhost' WITH GRANT OPTION":          nil,
	} {
		require.Equal(t, want, powersIn([]string{line}), line)
		require.Empty(t, rolesIn([]string{line}), line)
	}
	for line, want := range map[string][]string{
		"GRANT `r`@`%` TO `u`@`h`":                               {"`r`@`%`"},
		"GRANT `r1`@`%`,`r``2`@`%` TO `u`@`h` WITH ADMIN OPTION": {"`r1`@`%`", "`r``2`@`%`"},
		"GRANT `a ON *.* TO b`@`%` TO `u`@`h`":                   {"`a ON *.* TO b`@`%`"},
		"GRANT 'r'@'%' TO 'u'@'h'":                               {"'r'@'%'"},
		"GRANT `r` TO `u`@`h`":                                   nil, // MariaDB
	} {
		require.Equal(t, want, rolesIn([]string{line}), line)
	}
}
