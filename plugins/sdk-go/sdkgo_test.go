package sdkgo

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "update sdk.txtar")

// sources are the files that a build of a plugin needs, and the licence of what is not ours.
func sources(t *testing.T) map[string][]byte {
	t.Helper()
	list := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/extism/go-pdk")
	list.Dir, list.Env = "../sdk", append(os.Environ(), "GOWORK=off")
	pdk, err := list.Output()
	require.NoError(t, err)
	files := map[string][]byte{}
	for module, root := range map[string]string{"sdk": "../sdk", "go-pdk": strings.TrimSpace(string(pdk))} {
		for _, pattern := range []string{"*.go", "go.mod", "LICENSE", "internal/*/*.go"} {
			found, err := filepath.Glob(filepath.Join(root, pattern))
			require.NoError(t, err)
			for _, path := range found {
				name, err := filepath.Rel(root, path)
				require.NoError(t, err)
				if strings.HasSuffix(name, "_test.go") {
					continue
				}
				content, err := os.ReadFile(path)
				require.NoError(t, err)
				if !strings.HasSuffix(string(content), "\n") { // the archive ends each file with a line break
					content = append(content, '\n')
				}
				files[module+"/"+filepath.ToSlash(name)] = content
			}
		}
	}
	return files
}

func TestFilesAreThoseOfTheSDK(t *testing.T) {
	want := sources(t)
	if *update {
		var out strings.Builder
		for _, name := range slices.Sorted(maps.Keys(want)) {
			fmt.Fprintf(&out, "-- %s --\n%s", name, want[name])
		}
		archive = out.String()
		require.NoError(t, os.WriteFile("sdk.txtar", []byte(archive), 0o644))
	}
	got := Files()
	require.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)),
		"run `go test ./plugins/sdk-go -update`")
	for name := range want {
		require.Equal(t, string(want[name]), string(got[name]), "%s: run `go test ./plugins/sdk-go -update`", name)
	}
	require.Contains(t, got, "sdk/go.mod")
	require.Contains(t, got, "go-pdk/LICENSE")
}
