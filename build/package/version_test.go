package packaging

import (
	"encoding/json"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Version and revision that builds are given in these tests.
const testVersion, testRevision = "9.8.7", "4f2a0c7d9b5e"

var linked = regexp.MustCompile(`-X (\S+)=\$(VERSION|REVISION)\b`)

// stamp returns the linker flags of the image, with the version and revision of these tests.
func stamp(t testing.TB) string {
	t.Helper()
	build := ""
	for _, c := range only(t, dockerfile(t), "RUN") {
		if strings.HasPrefix(c, "go build ") {
			build = c
		}
	}
	matches := linked.FindAllStringSubmatch(build, -1)
	require.Len(t, matches, 2, build)
	var flags []string
	for _, m := range matches {
		flags = append(flags, "-X "+m[1]+"="+map[string]string{"VERSION": testVersion, "REVISION": testRevision}[m[2]])
	}
	return strings.Join(flags, " ")
}

func requireVersion(t testing.TB, program string) {
	t.Helper()
	out, err := exec.Command(program, "version", "--json").Output()
	require.NoError(t, err)
	var reported struct{ Version, Revision string }
	require.NoError(t, json.Unmarshal(out, &reported))
	require.Equal(t, testVersion, reported.Version)
	require.Equal(t, testRevision, reported.Revision)
}

// The program reports the version and revision of its build; make passes them like the image.
func TestVersionOfTheProgram(t *testing.T) {
	requireVersion(t, program(t))
	out, err := exec.Command("make", "-C", "../..", "-n", "build/out/easel", "VERSION="+testVersion,
		"REVISION="+testRevision).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), stamp(t))
}

// make and the image build the program with the flags of a release: without symbols and paths,
// reproducible in any directory.
func TestFlagsOfTheProgram(t *testing.T) {
	out, err := exec.Command("make", "-C", "../..", "-n", "build/out/easel").CombinedOutput()
	require.NoError(t, err, "%s", out)
	image := strings.Join(only(t, dockerfile(t), "ENV"), "\n") + strings.Join(only(t, dockerfile(t), "RUN"), "\n")
	for _, build := range []string{string(out), image} {
		for _, flag := range []string{"CGO_ENABLED=0", "-trimpath", "-buildvcs=false", `-ldflags="-s -w `} {
			require.Contains(t, build, flag)
		}
	}
}

// A release has one version: an image built without an explicit one has that of the chart, and
// contains the engine of the npm package.
func TestOneVersion(t *testing.T) {
	chart := readYAML(t, "chart/Chart.yaml")["appVersion"]
	require.Contains(t, only(t, dockerfile(t), "ARG"), "VERSION="+chart.(string))
	var npm struct{ Version string }
	require.NoError(t, json.Unmarshal([]byte(readFile(t, "../../wasm/js/package.json")), &npm))
	require.Equal(t, chart, npm.Version)
	require.Contains(t, readFile(t, "../../wasm/bridge.go"), `var version = "`+npm.Version+`"`)
}
