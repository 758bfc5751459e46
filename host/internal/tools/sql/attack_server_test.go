package sql

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// postgresAttacks are run by the owner of the table attacked, so that only the node's reading mode
// stands between them and the data. {file} is a path that the server may write, {write} ends the
// transaction and inserts a row.
var postgresAttacks = []string{
	// a dollar inside a name, which is no quote
	"SELECT 1 AS a$$; {write}; SELECT 1 AS b$$", "SELECT 1 AS a$x$; {write}; SELECT 1 AS b$x$",
	"SELECT 1 AS _$$; ROLLBACK; DELETE FROM attacked; SELECT 1 AS b$$",
	"SELECT 1 AS é$$; COMMIT; DROP TABLE attacked; SELECT 1 AS b$$",
	"SELECT 1 AS a1$$; END; TRUNCATE attacked; SELECT 1 AS b$$",
	"SELECT 1 AS a$$; COMMIT; DO $x$ BEGIN INSERT INTO attacked VALUES (2); END $x$; SELECT 1 AS b$$",
	"SELECT 1 AS a$$; COMMIT AND CHAIN; INSERT INTO attacked VALUES (2); COMMIT; SELECT 1 AS b$$",
	"SELECT 1 AS a$$; COMMIT; CALL attacked_commit(); SELECT 1 AS b$$",
	"SELECT 1 AS a$$; COMMIT; SELECT lo_create(4711); SELECT 1 AS b$$",
	"SELECT 1 AS a$$; COMMIT; SELECT nextval('attacked_seq'); SELECT 1 AS b$$",
	"SELECT 1 AS a$$; COMMIT; ALTER ROLE canvas SET search_path = nowhere; SELECT 1 AS b$$",
	"SELECT 1 AS a$$; SELECT 1 AS b$$; {write}",
	// strings with escapes
	`SELECT E'\''; {write}; --'`, `SELECT e'\''; {write}; --'`,
	`SELECT E'a\'b'; COMMIT; DELETE FROM attacked; --'`, "SELECT E'a'\n'\\''; {write}; --'",
	`SELECT E'\\'; {write}; --`, `SELECT '\'; {write}; --'`, `SELECT U&'\0027'; {write}; --'`,
	`SELECT U&'x!0027' UESCAPE '!'; {write}; --'`, `SELECT 1 AS U&"x\0022"; {write}; --"`,
	`SELECT N'x', B'1', X'F'; {write}`, `SET standard_conforming_strings = off; SELECT '\''; {write}; --'`,
	"SELECT set_config('standard_conforming_strings', 'off', false); SELECT '\\''; {write}; --'",
	// comments
	"SELECT 1 --\r; {write}", "SELECT 1 --'\r; {write}; --'", "-- \r{write}\n; SELECT 1",
	"-- \rDO $x$ BEGIN PERFORM attacked_write(); END $x$ /*\nSELECT */",
	"-- \rCALL attacked_commit() /*\nSELECT */", "-- \rCALL attacked_commit() --\nSELECT 1",
	"SELECT 1 /* /* */ ; {write}; -- */ */", "SELECT 1 /* */ */ ; {write}", "SELECT 1 /*; {write}",
	"/**/ /* /**/ */ {write}", "SELECT 1 */*/ 1; {write} /**/",
	// other quotes and characters
	`SELECT 1 AS "a""; {write}; --"`, "SELECT $é$;$é$; {write}", "SELECT $a$ $$ ; $a$; {write}; -- $$",
	"SELECT $1$; {write}; -- $1$", "SELECT 1 AS [x']; {write}; --'", "SELECT 1 AS `x'`; {write}; --'",
	"SELECT 1\x00; {write}", "SELECT 1;\x00{write}", "\ufeff{write}", "SELECT 1\u200b; {write}",
	"SELECT 1\uff1b COMMIT\uff1b INSERT INTO attacked VALUES (2)", "SELECT \u2018;\u2019; {write}",
	"SELECT '\xff;'; {write}", "SELECT 1\u2028; {write}", "SELECT 1\v;\f{write}",
	// statements that end the transaction or the reading mode
	"{write}", "COMMIT AND CHAIN", "ABORT", "END", "SAVEPOINT a", "PREPARE TRANSACTION 'x'",
	"SET TRANSACTION READ WRITE", "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",
	"SELECT set_config('transaction_read_only', 'off', true), attacked_write()",
	"SELECT set_config('default_transaction_read_only', 'off', false); SELECT attacked_write()", "RESET ALL",
	"DISCARD ALL", "SET ROLE canvas", "SET SESSION AUTHORIZATION canvas",
	// writes in a statement that begins as a reading one
	"SELECT attacked_write()", "SELECT * FROM attacked, attacked_write()", "SELECT attacked_definer()",
	"WITH x AS (INSERT INTO attacked VALUES (2) RETURNING 1) SELECT * FROM x",
	"WITH x AS (SELECT 1) DELETE FROM attacked", "WITH x AS (SELECT 1) INSERT INTO attacked SELECT * FROM x",
	"EXPLAIN ANALYZE INSERT INTO attacked VALUES (2)", "EXPLAIN (ANALYZE) DELETE FROM attacked",
	"EXPLAIN ANALYZE CREATE TABLE attacked_new AS SELECT 1", "EXPLAIN ANALYZE SELECT attacked_write()",
	"SELECT * INTO attacked_new FROM attacked", "(SELECT 1 INTO attacked_new)",
	"TABLE attacked; DELETE FROM attacked", "SELECT 1 FROM attacked FOR UPDATE", "SELECT nextval('attacked_seq')",
	"SELECT setval('attacked_seq', 99)", "SELECT lo_create(4711)", "SELECT lo_from_bytea(4711, 'x')",
	"SELECT lo_unlink(4710)", "SELECT lo_put(4710, 0, 'y')",
	"SELECT query_to_xml('INSERT INTO attacked VALUES (2)', true, true, '')",
	"SELECT query_to_xml('COMMIT', true, true, '')",
	"SELECT query_to_xml('SELECT attacked_write()', true, true, '')",
	"SELECT dblink_exec('dbname=postgres', 'INSERT INTO attacked VALUES (2)')",
	"SELECT dblink_connect_u('dbname=postgres user=easel')",
	"SELECT xpath_table('n', 'n', 'attacked', '/n', '1=1; COMMIT')",
	"SELECT * FROM crosstab('INSERT INTO attacked VALUES (2) RETURNING 1, 1, 1') AS (a int, b int)",
	"SELECT * FROM ts_stat('SELECT attacked_write()::text::tsvector')",
	// other statements
	"DO $$ BEGIN {write}; END $$", "DO $$ BEGIN PERFORM attacked_write(); END $$", "CALL attacked_commit()",
	"PREPARE x AS INSERT INTO attacked VALUES (2); EXECUTE x", "EXPLAIN ANALYZE EXECUTE x",
	"MERGE INTO attacked USING (SELECT 2 AS n) x ON false WHEN NOT MATCHED THEN INSERT VALUES (2)",
	"CREATE TEMP TABLE t AS SELECT 1", "CREATE VIEW attacked_new AS SELECT 1", "LOCK TABLE attacked",
	"VACUUM attacked", "ANALYZE attacked", "REINDEX TABLE attacked", "CLUSTER attacked",
	"COMMENT ON TABLE attacked IS 'x'", "GRANT ALL ON attacked TO PUBLIC", "ALTER TABLE attacked ADD x int",
	"ALTER ROLE canvas SET search_path = nowhere", "LISTEN x", "NOTIFY x", "SELECT pg_notify('x', 'y')",
	"LOAD 'auto_explain'", "SECURITY LABEL ON TABLE attacked IS 'x'",
	"DECLARE c CURSOR WITH HOLD FOR SELECT attacked_write(); FETCH c", "COPY attacked FROM STDIN",
	"COPY attacked TO '{file}'", "COPY (SELECT 1) TO PROGRAM 'touch {file}'",
	"COPY attacked FROM PROGRAM 'echo 2'", "SELECT lo_export(4710, '{file}')",
	"SELECT pg_read_file('/etc/passwd')", "SELECT pg_file_write('{file}', 'x', false)", "SELECT pg_reload_conf()",
	"SELECT pg_switch_wal()", "ALTER SYSTEM SET work_mem = '1MB'", "CHECKPOINT",
}

// postgresAttacked are the functions and objects that attacks use, made by the operator.
const postgresAttacked = `
DROP TABLE IF EXISTS attacked; DROP SEQUENCE IF EXISTS attacked_seq;
CREATE TABLE attacked (n int); INSERT INTO attacked VALUES (1); ALTER TABLE attacked OWNER TO canvas;
CREATE SEQUENCE attacked_seq; ALTER SEQUENCE attacked_seq OWNER TO canvas;
CREATE OR REPLACE FUNCTION attacked_write() RETURNS int LANGUAGE plpgsql AS
	$$ BEGIN INSERT INTO attacked VALUES (2); RETURN 1; END $$;
CREATE OR REPLACE FUNCTION attacked_definer() RETURNS int LANGUAGE plpgsql SECURITY DEFINER AS
	$$ BEGIN SET LOCAL transaction_read_only = off; INSERT INTO attacked VALUES (2); RETURN 1; END $$;
CREATE OR REPLACE PROCEDURE attacked_commit() LANGUAGE plpgsql AS
	$$ BEGIN COMMIT; INSERT INTO attacked VALUES (2); COMMIT; END $$;
DO $$ DECLARE e text; BEGIN
	FOR e IN SELECT name FROM pg_available_extensions
		WHERE name IN ('dblink', 'xml2', 'tablefunc', 'adminpack') LOOP
		EXECUTE 'CREATE EXTENSION IF NOT EXISTS ' || e;
	END LOOP; END $$;
SELECT lo_from_bytea(4710, 'x') WHERE NOT EXISTS (SELECT FROM pg_largeobject_metadata WHERE oid = 4710)`

// postgresState is all that an attack may have changed.
const postgresState = `SELECT json_build_array((SELECT json_agg(n) FROM attacked),
	(SELECT json_agg(c.relname ORDER BY 1) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
		WHERE nspname = 'public' AND relkind IN ('r', 'v', 'S')),
	(SELECT json_agg(lo_get(oid) ORDER BY oid) FROM pg_largeobject_metadata),
	(SELECT json_build_array(last_value, is_called) FROM attacked_seq),
	(SELECT json_agg(s) FROM pg_db_role_setting s),
	(SELECT json_agg(relacl) FROM pg_class WHERE relname = 'attacked'),
	(SELECT count(*) FROM pg_attribute WHERE attrelid = 'attacked'::regclass))`

func TestAttacksOnPostgres(t *testing.T) {
	operator := postgresOperator(t)
	postgresScript(t, postgresAttacked)
	attack(t, postgres(t), postgresAttacks, func() string { return cell(t, operator, postgresState) })
}

// mariaAttacks are run by an account with all privileges on the database, and some by one that may
// also write files.
var mariaAttacks = []string{
	// files on the server
	"SELECT 1 INTO OUTFILE '{file}'", "SELECT 1 INTO/**/OUTFILE '{file}'",
	"SELECT 1 INTO/*x*/DUMPFILE/**/'{file}'", "SELECT 1 INTO -- x\nOUTFILE '{file}'",
	"SELECT 1 INTO#x\nOUTFILE '{file}'", "SELECT 1 INTO\vOUTFILE '{file}'", "SELECT 1 /*!INTO*/ OUTFILE '{file}'",
	"SELECT 1 /*!50000 INTO OUTFILE '{file}'*/", "SELECT 1 /*M!INTO*/ /*!OUTFILE*/ '{file}'",
	"SELECT 1 INTO /*!999999 x */ OUTFILE '{file}'", "SELECT 1 INTO/**/OUTFILE '{file}' FIELDS TERMINATED BY ','",
	"SELECT * FROM attacked INTO/**/OUTFILE '{file}'", "(SELECT 1 INTO/**/OUTFILE '{file}')",
	"(SELECT 1) INTO/**/OUTFILE '{file}'", "SELECT 1 UNION SELECT 2 INTO/**/OUTFILE '{file}'",
	"WITH x AS (SELECT 1) SELECT * FROM x INTO/**/OUTFILE '{file}'", "VALUES (1) INTO/**/OUTFILE '{file}'",
	"SELECT 1 INTO/**/DUMPFILE '{file}' -- '", "SELECT LOAD_FILE('/etc/passwd')",
	"EXPLAIN SELECT 1 INTO/**/OUTFILE '{file}'", "DESCRIBE SELECT 1 INTO/**/OUTFILE '{file}'",
	"ANALYZE SELECT 1 INTO/**/OUTFILE '{file}'", "SELECT attacked_file()",
	"LOAD DATA INFILE '/etc/passwd' INTO TABLE attacked",
	"LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE attacked",
	"LOAD/**/XML LOCAL INFILE '/etc/passwd' INTO TABLE attacked",
	// several statements in one
	`SELECT '\'; {write}; -- '`, `SELECT '\\'; {write}; -- '`, "SELECT \"a\\\"; {write}; -- \"",
	"SELECT 1 AS `a``; {write}; -- `", "SELECT 1 AS `a\\`; {write}; -- `", "SELECT 1 AS [x']; {write}; -- '",
	"SELECT 1--1; {write}", "SELECT 1 --\x01; {write}", "SELECT 1 # '\r; {write}; -- '",
	"SELECT 1 /* ' */; {write}; -- '", "SELECT 1 /*! ; {write} */", "SELECT 1 /*M! ; {write} */",
	"SELECT 1 /*!99999 /* */ ; {write} -- */", "SELECT 1 /* /* */ ; {write} -- */", "SELECT $$; {write}; -- $$",
	"SELECT N'a', _utf8mb4'b', x'41'; {write}", "SELECT _gbk'\xbf\\'; {write}; -- '",
	"SELECT '\xbf\\'; {write}; -- '", "SELECT 1\x00; {write}", "\ufeff{write}", "SELECT 1\u200b; {write}",
	"SELECT 1\uff1b COMMIT\uff1b INSERT INTO attacked VALUES (2)", "SELECT \u2018;\u2019; {write}",
	"DELIMITER // {write}",
	// the transaction or the session
	"{write}", "COMMIT AND CHAIN", "SET autocommit = 1", "START TRANSACTION READ WRITE",
	"SET TRANSACTION READ WRITE", "SET SESSION TRANSACTION READ WRITE", "SET GLOBAL general_log = 1",
	"SET PASSWORD = PASSWORD('x')", "SET @@session.sql_mode = 'ANSI_QUOTES'", "LOCK TABLES attacked WRITE",
	"UNLOCK TABLES", "FLUSH TABLES", "XA START 'x'", "BEGIN NOT ATOMIC {write}; END",
	"-- \rBEGIN NOT ATOMIC {write}; END", "/*M!100100 BEGIN NOT ATOMIC */ SELECT 1",
	"/*! CALL attacked_commit() */", "/*M! CALL attacked_commit() */ -- \nSELECT 1",
	"/*M! CALL attacked_commit() -- */ SELECT 1", "/**//*M! CALL attacked_commit() /* */ SELECT 1 */",
	// writes
	"CALL attacked_commit()", "SELECT attacked_write()",
	"EXECUTE IMMEDIATE 'INSERT INTO attacked VALUES (2)'",
	"PREPARE x FROM 'INSERT INTO attacked VALUES (2)'; EXECUTE x", "HANDLER attacked OPEN", "DO attacked_write()",
	"INSERT INTO attacked VALUES (2)", "REPLACE INTO attacked VALUES (2)", "INSERT INTO attacked_aria VALUES (2)",
	"WITH x AS (SELECT 1) DELETE FROM attacked", "EXPLAIN DELETE FROM attacked", "ANALYZE DELETE FROM attacked",
	"ANALYZE FORMAT=JSON DELETE FROM attacked", "EXPLAIN ANALYZE DELETE FROM attacked",
	"DESC FORMAT=JSON DELETE FROM attacked", "SELECT * FROM attacked PROCEDURE ANALYSE()",
	"SELECT NEXTVAL(attacked_seq)", "SELECT NEXT VALUE FOR attacked_seq", "SELECT SETVAL(attacked_seq, 99)",
	"CREATE TABLE attacked_new AS SELECT 1", "CREATE TEMPORARY TABLE t AS SELECT 1",
	"SELECT 1 FROM attacked FOR UPDATE", "SELECT 1 INTO @x", "TRUNCATE attacked", "RENAME TABLE attacked TO gone",
	"OPTIMIZE TABLE attacked", "ANALYZE TABLE attacked", "REPAIR TABLE attacked_aria", "KILL 1", "SHUTDOWN",
	"INSTALL SONAME 'ha_connect'", "CREATE FUNCTION f RETURNS STRING SONAME 'x.so'", "GRANT ALL ON *.* TO canvas",
	"ALTER EVENT x ENABLE", "CREATE EVENT e ON SCHEDULE EVERY 1 SECOND DO INSERT INTO attacked VALUES (2)",
	"CHANGE MASTER TO MASTER_HOST='x'", "PURGE BINARY LOGS BEFORE NOW()", "RESET QUERY CACHE",
}

const mariaAttacked = `
CREATE OR REPLACE TABLE attacked (n int) ENGINE=InnoDB; INSERT INTO attacked VALUES (1);
CREATE OR REPLACE TABLE attacked_aria (n int) ENGINE=Aria; INSERT INTO attacked_aria VALUES (1);
CREATE OR REPLACE SEQUENCE attacked_seq;
CREATE OR REPLACE FUNCTION attacked_write() RETURNS INT
	BEGIN INSERT INTO attacked_aria VALUES (2); RETURN 1; END;
CREATE OR REPLACE FUNCTION attacked_file() RETURNS TEXT SQL SECURITY INVOKER RETURN LOAD_FILE('/etc/passwd');
CREATE OR REPLACE PROCEDURE attacked_commit() BEGIN COMMIT; INSERT INTO attacked VALUES (2); COMMIT; END`

const mariaState = `SELECT JSON_ARRAY((SELECT GROUP_CONCAT(n) FROM attacked),
	(SELECT GROUP_CONCAT(n) FROM attacked_aria),
	(SELECT GROUP_CONCAT(table_name ORDER BY 1) FROM information_schema.tables WHERE table_schema = 'test'),
	(SELECT next_not_cached_value FROM attacked_seq),
	(SELECT GROUP_CONCAT(event_name) FROM information_schema.events), @@global.general_log,
	(SELECT COUNT(*) FROM mysql.global_priv), (SELECT GROUP_CONCAT(Priv) FROM mysql.global_priv))`

func TestAttacksOnMariaDB(t *testing.T) {
	operator := mariaOperator(t)
	mariaScript(t, mariaAttacked)
	s := maria(t)
	for _, s.User = range []string{"canvas", "canvas_file"} {
		t.Run(s.User, func(t *testing.T) {
			attack(t, s, mariaAttacks, func() string { return cell(t, operator, mariaState) })
		})
	}
}

// attack runs attacks by a node that only reads. The state must stay as it is, no file may appear
// and no file of the server be read.
func attack(t *testing.T, s Settings, attacks []string, state func() string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "easel-attack-") // in a folder that the server may enter
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	require.NoError(t, os.Chmod(dir, 0o777))
	before := state()
	require.Regexp(t, `^"?\[`, before)
	for n, text := range attacks {
		text = strings.NewReplacer("{file}", filepath.Join(dir, fmt.Sprint("file", n)),
			"{write}", "COMMIT; INSERT INTO attacked VALUES (2)").Replace(text)
		require.NotContains(t, resultTexts(runner.Run(t.Context(), &s, text)), "root:", text)
		require.Equal(t, before, state(), text)
		require.Empty(t, contents(t, dir), text)
	}
}
