package engine_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// foreign are the packages outside the standard library that the engine may use, each with its
// reason.
var foreign = map[string]string{}

// forbiddenDirect must not be imported by the engine's files: their work belongs to ports.
var forbiddenDirect = []string{"net/http", "os", "os/exec", "text/template", "log", "net", "log/slog"}

// forbidden must not be linked at all: each adds hundreds of kilobytes to the browser module, or
// accesses the system.
var forbidden = []string{"net/http", "os/exec", "text/template", "log", "net"}

func TestDependencies(t *testing.T) {
	const prefix = "github.com/easel-canvas/easel/"
	packages := []string{
		"engine", "engine/component", "engine/template", "engine/enginetest", "engine/enginetest/sketch",
		"engine/scheduler", "engine/offline", "engine/stable", "engine/nearest", "engine/block", "engine/chunk",
		"engine/sqltext",
	}
	for _, target := range []string{"linux/amd64", "js/wasm", "wasip1/wasm"} {
		os, arch, _ := strings.Cut(target, "/")
		for _, pkg := range packages {
			deps := list(t, os, arch, `{{join .Deps "\n"}}`, prefix+pkg)
			for _, d := range deps {
				require.NotContains(t, forbidden, d, "%s links %s on %s", pkg, d, target)
				if strings.Contains(strings.Split(d, "/")[0], ".") && !strings.HasPrefix(d, prefix+"engine") &&
					foreign[d] == "" {
					t.Errorf("%s on %s links %s, which is neither standard library nor ours", pkg, target, d)
				}
			}
			for _, d := range list(t, os, arch, `{{join .Imports "\n"}}`, prefix+pkg) {
				require.NotContains(t, forbiddenDirect, d, "%s imports %s", pkg, d)
			}
		}
	}
}

func list(t *testing.T, goos, goarch, format, pkg string) []string {
	t.Helper()
	cmd := exec.Command("go", "list", "-f", format, pkg)
	cmd.Env = append(cmd.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return strings.Fields(string(out))
}
