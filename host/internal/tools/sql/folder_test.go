package sql_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/easel-canvas/easel/host/internal/tools/sql"
)

// A list of files reads a bounded part of the folder: any editor can ask for it.
func TestFilesReadsABoundedPart(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.db", "SQLite format 3\x00")
	for i := range 10_000 {
		write(fmt.Sprintf("m%05d", i), "")
	}
	write("z.db", "SQLite format 3\x00")
	names, err := (&sql.Runner{Dir: dir}).Files()
	if err != nil || !slices.Equal(names, []string{"a.db"}) {
		t.Errorf("got %v, %v, want a.db alone", names, err)
	}
}
