package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The steps that `easel plugin new` prints work unchanged: with only the program and a compiler in
// an empty directory, without network, and in a checkout, where the program is called by its path.
func TestPrintedStepsOfANewPlugin(t *testing.T) {
	path, err := exec.LookPath("go")
	require.NoError(t, err)
	bare := []string{
		"PATH=" + filepath.Dir(program(t)) + ":" + filepath.Dir(path) + ":/usr/bin:/bin", "GOMODCACHE=" + t.TempDir(),
		"GOPROXY=off",
		"GOFLAGS=-modcacherw", "GOTOOLCHAIN=local", "GOCACHE=" + goEnv(t, "GOCACHE"), "HOME=" + t.TempDir(),
	}
	// Git ignores the folder, and go and linters ignore names that begin with _: a commit or a
	// check at the same time does not see the files.
	const out = "../../build/out"
	require.NoError(t, os.MkdirAll(out, 0o755))
	checkout, err := os.MkdirTemp(out, "_plugin-new-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(checkout)) })
	relative, err := filepath.Rel(checkout, program(t))
	if err != nil {
		relative = program(t)
	}
	for _, c := range []struct {
		name, dir, call string
		missing         string
		env, args       []string
	}{
		{name: "Go, lone program", dir: t.TempDir(), call: "easel", env: bare},
		{name: "Go, in a checkout", dir: checkout, call: relative, env: bare},
		{
			name: "AssemblyScript", dir: t.TempDir(), call: program(t),
			env:  append(os.Environ(), "npm_config_prefer_offline=true"),
			args: []string{"--lang", "as"}, missing: lacks("npm"),
		},
		{
			name: "Rust", dir: t.TempDir(), call: program(t), env: os.Environ(), args: []string{"--lang", "rust"},
			missing: lacksRust(),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.missing != "" {
				t.Skip("the tools of this language are not installed: " + c.missing)
			}
			out := shell(t, c.dir, c.env, c.call+" plugin new hello "+strings.Join(c.args, " "))
			steps := 0
			for line := range strings.Lines(out) {
				if step, ok := strings.CutPrefix(line, "  "); ok {
					steps++
					out = shell(t, c.dir, c.env, step)
				}
			}
			require.Equal(t, 3, steps)
			require.Contains(t, out, "Hello, Oslo", "the last step calls the plugin for each line of its input")
		})
	}
}

// shell runs a printed command line, with one plugin call on standard input.
func shell(t testing.TB, dir string, env []string, line string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, env, strings.NewReader(`{"city": "Oslo"}`+"\n")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", line, out)
	return string(out)
}

func goEnv(t testing.TB, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

func lacks(tool string) (missing string) {
	if _, err := exec.LookPath(tool); err != nil {
		return tool + " is missing"
	}
	return ""
}

// lacksRust reports why the first step for Rust cannot work without network.
func lacksRust() (missing string) {
	out, err := exec.Command("rustup", "target", "list", "--installed").Output()
	if err != nil || !strings.Contains(string(out), "wasm32-unknown-unknown") {
		return "rustup has no target wasm32-unknown-unknown"
	}
	return ""
}
