//go:build soak

package packaging

import (
	"debug/elf"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The build command of the image produces a program without C library or loader.
func TestBuildOfTheImage(t *testing.T) {
	out := filepath.Join(t.TempDir(), "easel")
	command := ""
	for _, c := range only(t, dockerfile(t), "RUN") {
		if strings.HasPrefix(c, "go build ") {
			command, _, _ = strings.Cut(c, "&&")
		}
	}
	require.NotEmpty(t, command)
	cmd := exec.Command("sh", "-c", strings.ReplaceAll(command, "/out/easel", out))
	cmd.Dir, cmd.Env = "../..", append(imageEnvironment(t), "VERSION="+testVersion, "REVISION="+testRevision)
	output, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", output)
	requireVersion(t, out)
	f, err := elf.Open(out)
	if err != nil {
		t.Skip("the image is for Linux; programs of this system are not ELF files")
	}
	defer f.Close()
	libraries, err := f.ImportedLibraries()
	require.NoError(t, err)
	require.Empty(t, libraries)
	for _, p := range f.Progs {
		require.NotEqual(t, elf.PT_INTERP, p.Type, "the program needs a loader")
	}
}
