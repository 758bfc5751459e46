package cli

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // registers "sqlite"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// TestComponentsOfTheHostRun reads a database and makes a document of the result.
func TestComponentsOfTheHostRun(t *testing.T) {
	folder, made := t.TempDir(), filepath.Join(t.TempDir(), "made")
	db, err := sql.Open("sqlite", filepath.Join(folder, "shop.db"))
	require.NoError(t, err)
	_, err = db.Exec("CREATE TABLE prices (item TEXT, price NUMERIC); INSERT INTO prices VALUES ('tea', 2.5)")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	canvas := file(t, "report.json", sketch.Canvas(
		"begin Begin -> ExeSQL:Q",
		`ExeSQL:Q ExeSQL {"db_type":"sqlite","database":"shop.db",
			"sql":"SELECT * FROM prices; DELETE FROM prices"} -> DocGenerator:D`,
		`DocGenerator:D DocGenerator {"output_format":"md","filename":"prices",
			"content":"{ExeSQL:Q@formalized_content}","title":"{sys.query}","add_timestamp":false} -> Message:M`,
		`Message:M Message {"content":["{ExeSQL:Q@formalized_content} // {DocGenerator:D@success}"]}`,
	))
	code, out, errs := easel(t, "run", canvas, "--sqlite", folder, "--save", made, "-q", "Prices of May")
	require.Equal(t, ExitOK, code, errs)
	require.Contains(t, out, "| tea | 2.5 |")
	require.Contains(t, out, "SQLite files are only read (DELETE)")
	require.Contains(t, errs, "saved "+filepath.Join(made, "prices.md"))
	text, err := os.ReadFile(filepath.Join(made, "prices.md"))
	require.NoError(t, err)
	require.Contains(t, string(text), "# Prices of May\n\n| item | price |\n")

	code, _, errs = easel(t, "run", canvas, "--sqlite", folder, "-q", "x")
	require.Equal(t, ExitFailed, code)
	require.Contains(t, errs, "easel run --save DIR")
	code, _, errs = easel(t, "run", canvas, "--save", made, "-q", "x")
	require.Equal(t, ExitFailed, code)
	require.Contains(t, errs, "no folder of SQLite files is configured")
}

// A canvas that somebody runs does not read the records of a host on the same machine.
func TestRunShowsNoRecordsOfTheHost(t *testing.T) {
	base := t.TempDir()
	s := serve(t, nil, "--data", filepath.Join(base, "easel-data"))
	require.NoError(t, s.stop())
	canvas := file(t, "read.json", sketch.Chain("begin Begin",
		`Q ExeSQL {"db_type":"sqlite","database":"easel-data/easel.db","sql":"SELECT * FROM users"}`,
		`M Message {"content":["{Q@formalized_content}"]}`))
	for _, env := range []string{filepath.Join(base, "easel-data"), ""} {
		t.Setenv("EASEL_DATA", env)
		t.Chdir(base)
		code, out, errs := easel(t, "run", canvas, "--sqlite", base, "-q", "x")
		require.Equal(t, ExitUsage, code, out+errs)
		require.Contains(t, errs, "contains the data directory")
	}
}
