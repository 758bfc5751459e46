package main

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// A small program with embedded files replaces easel, which takes minutes; `make release-files`
// compares easel itself.
func TestBuildsDoNotDependOnTheDirectory(t *testing.T) {
	t.Chdir("../..")
	tmp := t.TempDir()
	copied := filepath.Join(tmp, "copy")
	require.NoError(t, copySources(copied))
	r := release{version: "1.2.3", revision: "4f2a0c7d9b5e"}
	here := runtime.GOOS + "/" + runtime.GOARCH
	require.NoError(t, r.same(".", copied, "./build/licences", here, tmp))

	changed := filepath.Join(copied, "build/licences/texts/zlib.txt")
	require.NoError(t, os.WriteFile(changed, []byte("other"), 0o644))
	require.ErrorContains(t, r.same(".", copied, "./build/licences", here, tmp),
		"two builds of the same sources differ")
}

func TestCompileRefusesAPlatformWithoutArchitecture(t *testing.T) {
	require.ErrorContains(t, (&release{}).compile(".", program, "linux", ""), `got "linux"`)
}
