package host

import (
	"database/sql"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Tables are listed as a run would read them: by people who may edit, in the folder of the host,
// with secrets that may go to the server, and from addresses that canvases may reach.
func TestTablesOfDatabase(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "databases")
	require.NoError(t, os.Mkdir(dir, 0o700))
	db, err := sql.Open("sqlite", filepath.Join(dir, "shop.db"))
	require.NoError(t, err)
	_, err = db.Exec("CREATE TABLE orders (id INTEGER)")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	_, url := open(t, Config{SQLiteDir: dir})
	type list struct {
		OK    bool
		Error string
		Items []string
	}
	ask := func(params string) (found list) {
		call(t, "POST", url+"/api/v2/databases/tables", `{"params":`+params+`}`, &found)
		return found
	}
	require.Equal(t, list{OK: true, Items: []string{"orders"}}, ask(`{"db_type":"sqlite","database":"shop.db"}`))
	require.NotEmpty(t, ask(`{"db_type":"sqlite","database":"../shop.db"}`).Error)
	private := `{"db_type":"postgres","database":"x","username":"x","host":"127.0.0.1","port":5432,"password":"`
	require.Contains(t, ask(private+`x"}`).Error, "allow-private")
	require.Contains(t, ask(private+`{{secret:NONE}}"}`).Error, `secret "NONE"`)
	put, err := http.NewRequestWithContext(t.Context(), "PUT", url+"/api/v2/secrets/DB",
		strings.NewReader(`{"value":"hush hush","hosts":["db.example.org"]}`))
	require.NoError(t, err)
	put.Header.Set("Authorization", "Bearer key")
	res, err := http.DefaultClient.Do(put)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusNoContent, res.StatusCode)
	bound := ask(private + `{{secret:DB}}"}`).Error
	require.Contains(t, bound, "db.example.org", "a secret goes to its hosts only")
	require.NotContains(t, bound, "hush")
}
