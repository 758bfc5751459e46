package cli

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // registers "sqlite"
)

// TestComponentsOfTheHostRun reads a database and makes a document of the result.
func TestComponentsOfTheHostRun(t *testing.T) {
	folder, made := t.TempDir(), filepath.Join(t.TempDir(), "made")
	db, err := sql.Open("sqlite", filepath.Join(folder, "shop.db"))
	require.NoError(t, err)
	_, err = db.Exec("CREATE TABLE prices (item TEXT, price NUMERIC); INSERT INTO prices VALUES ('tea', 2.5)")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	canvas := file(t, "report.json", `{"components":{
		"begin":{"obj":{"component_name":"Begin","params":{}},"downstream":["ExeSQL:Q"],"upstream":[]},
		"ExeSQL:Q":{"obj":{"component_name":"ExeSQL","params":{"db_type":"sqlite","database":"shop.db",
			"sql":"SELECT * FROM prices; DELETE FROM prices"}},"downstream":["DocGenerator:D"],"upstream":["begin"]},
		"DocGenerator:D":{"obj":{"component_name":"DocGenerator","params":{"output_format":"md","filename":"prices",
			"content":"{ExeSQL:Q@formalized_content}","title":"{sys.query}","add_timestamp":false}},
			"downstream":["Message:M"],"upstream":["ExeSQL:Q"]},
		"Message:M":{"obj":{"component_name":"Message","params":{
			"content":["{ExeSQL:Q@formalized_content} // {DocGenerator:D@success}"]}},
			"downstream":[],"upstream":["DocGenerator:D"]}}}`)
	code, out, errs := easel(t, "run", canvas, "--sqlite", folder, "--save", made, "-q", "Prices of May")
	require.Equal(t, ExitOK, code, errs)
	require.Contains(t, out, "| tea | 2.5 |")
	require.Contains(t, out, "this node only reads (DELETE)")
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
