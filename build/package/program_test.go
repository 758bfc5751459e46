package packaging

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// built is the program, compiled once with the flags of the other tests, so that its packages are
// in the build cache; go run keeps the program there as well.
var built struct {
	sync.Once
	dir string
	err error
	out []byte
}

func program(t testing.TB) string {
	t.Helper()
	built.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "easel-package-"); built.err != nil {
			return
		}
		cmd := exec.Command("go", "run", "-exec", "cp", "-ldflags", stamp(t), "./host/cmd/easel",
			filepath.Join(built.dir, "easel"))
		cmd.Dir = "../.."
		built.out, built.err = cmd.CombinedOutput()
	})
	require.NoError(t, built.err, "%s", built.out)
	return filepath.Join(built.dir, "easel")
}

var flagLine = regexp.MustCompile(`(?m)^  --([a-z-]+)( \S)?`)

// serveFlags returns the flags of `easel serve`, without dashes, and whether each takes a value.
func serveFlags(t testing.TB) map[string]bool {
	t.Helper()
	out, err := exec.Command(program(t), "help", "serve").Output()
	require.NoError(t, err)
	flags := map[string]bool{}
	for _, m := range flagLine.FindAllStringSubmatch(string(out), -1) {
		flags[m[1]] = m[2] != ""
	}
	require.NotEmpty(t, flags)
	return flags
}

// requireVariable checks that a variable sets a flag of serve, or is one of those without a flag.
func requireVariable(t testing.TB, name string) {
	t.Helper()
	if name == "EASEL_API_KEY" {
		return
	}
	require.Contains(t, serveFlags(t), strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, "EASEL_"), "_",
		"-")), name)
}

// imageEnvironment returns the variables that the image sets for the compiler.
func imageEnvironment(t testing.TB) []string {
	t.Helper()
	for _, e := range only(t, dockerfile(t), "ENV") {
		if strings.Contains(e, "CGO_ENABLED=0") {
			return append(os.Environ(), strings.Fields(e)...)
		}
	}
	t.Fatal("the image does not disable cgo")
	return nil
}

// All packages are available without the workspace and without C: go.sum is complete, and nothing
// needs a C library. TestBuildOfTheImage in make soak builds the image's program, because that
// compiles everything again.
func TestPackagesOfTheImage(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "-f", "{{if .CgoFiles}}{{.ImportPath}}{{end}}", "./host/cmd/easel")
	cmd.Dir, cmd.Env = "../..", imageEnvironment(t)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Empty(t, strings.TrimSpace(string(out)))
}

func TestProgramHasNoTestPackages(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "./host/cmd/easel")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	require.NoError(t, err)
	for _, pkg := range strings.Fields(string(out)) {
		for _, test := range []string{"testing", "/stretchr/testify", "/plugins/wattest", "/internal/testing"} {
			require.False(t, pkg == test || strings.Contains(pkg, test+"/") || strings.HasSuffix(pkg, test), pkg)
		}
	}
}

// The program starts with the command and only the environment of the image, passes the image's
// health check, and exits on the image's stop signal.
func TestStart(t *testing.T) {
	env := []string{"EASEL_ADDR=127.0.0.1:0", "EASEL_DATA=" + filepath.Join(t.TempDir(), "data")}
	easel := program(t) // building it takes minutes on a busy machine
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, easel, "serve")
	cmd.Env, cmd.Stderr, cmd.Dir = env, os.Stderr, t.TempDir()
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer func() { _ = cmd.Process.Kill() }() // already exited on success
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	_, addr, ok := strings.Cut(strings.TrimSpace(line), "address: http://")
	require.True(t, ok, line)

	health := exec.CommandContext(ctx, easel, "health")
	health.Env = []string{"EASEL_ADDR=" + addr}
	output, err := health.CombinedOutput()
	require.NoError(t, err, "%s", output)
	require.Contains(t, string(output), "ok")

	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, cmd.Wait())
	output, err = exec.CommandContext(ctx, easel, "health", "--addr", addr).CombinedOutput()
	require.Error(t, err, "%s", output)
}
