package host

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A missing Python is listed with its reason, and a person who runs the host installs it.
func TestPythonIsInstalledFromThePage(t *testing.T) {
	dir := t.TempDir()
	installs, broken := 0, errors.New("no registry answers")
	_, url := open(t, Config{
		Python: []string{dir}, ScriptWorker: []string{"worker"},
		InstallPython: func(ctx context.Context) error {
			installs++
			require.NoError(t, ctx.Err())
			if broken != nil {
				return broken
			}
			return os.WriteFile(filepath.Join(dir, "python.wasm"), []byte("\x00asm"), 0o600)
		},
	})
	type language struct {
		Name, Missing string
		Installs      bool
	}
	list := func() []language {
		var found struct{ Items []language }
		call(t, "GET", url+"/api/v2/script-languages", "", &found)
		return found.Items
	}
	install := func() (done struct {
		OK    bool
		Error string
	},
	) {
		call(t, "POST", url+"/api/v2/script-languages/python/install", "", &done)
		return done
	}
	before := list()
	require.Equal(t, "python", before[0].Name)
	require.Contains(t, before[0].Missing, "python install")
	require.True(t, before[0].Installs)
	require.Equal(t, language{Name: "javascript"}, before[1])
	require.Equal(t, "no registry answers", install().Error)
	broken = nil
	require.True(t, install().OK)
	require.Equal(t, language{Name: "python"}, list()[0])
	require.True(t, install().OK)
	require.Equal(t, 2, installs, "Python that is there is not installed again")
}

// The menu of SQLite files lists databases of the folder, and nothing else in it or around it.
func TestFilesOfDatabases(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "databases")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "more"), 0o700))
	for _, name := range []string{"shop.db", "more/stock.sqlite", "../outside.db"} {
		db, err := sql.Open("sqlite", filepath.Join(dir, name))
		require.NoError(t, err)
		_, err = db.Exec("CREATE TABLE orders (id INTEGER)")
		require.NoError(t, err)
		require.NoError(t, db.Close())
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("no database"), 0o600))
	require.NoError(t, os.Symlink("../outside.db", filepath.Join(dir, "link.db")))
	_, url := open(t, Config{SQLiteDir: dir})
	var found struct{ Items []string }
	call(t, "GET", url+"/api/v2/databases/files", "", &found)
	require.Equal(t, []string{"more/stock.sqlite", "shop.db"}, found.Items)
	_, none := open(t, Config{})
	call(t, "GET", none+"/api/v2/databases/files", "", &found)
	require.Empty(t, found.Items)
}
