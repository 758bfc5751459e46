package python

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/limit/memlimit"
)

// TestMain makes the test binary its own worker.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "python-worker" {
		if err := Work(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func workerOf(t *testing.T) []string {
	self, err := os.Executable()
	require.NoError(t, err)
	return []string{self, "python-worker"}
}

// built is the folder into which make installs the interpreter.
const built = "../../../../build/out"

// interpreter skips the test if make has not fetched the interpreter.
func interpreter(t *testing.T) string {
	t.Helper()
	path := filepath.Join(built, moduleName)
	if _, err := os.Stat(path); err != nil {
		t.Skip("no Python interpreter: make python fetches it")
	}
	return path
}

// patience is more time than a busy machine needs for a script.
const patience = 5 * time.Minute

func newRunner(t *testing.T, limits Limits) *Runner {
	t.Helper()
	interpreter(t)
	r := &Runner{Limits: limits, Worker: workerOf(t), Find: func() (*Module, error) { return Find(built) }}
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

func script(text string) *engine.CodeCall {
	return &engine.CodeCall{Language: "python", Script: text}
}

func TestWaitingInterpreterRunsNextScript(t *testing.T) {
	r := newRunner(t, Limits{Time: patience})
	_, err := r.RunCode(t.Context(), script("def main(): pass"))
	require.NoError(t, err)
	waiting := r.spares.waiting
	require.NotNil(t, waiting)
	require.NoError(t, waiting.ready(t.Context()))
	waiting.replies <- reply{} // as if it became ready just now

	start := time.Now()
	res, err := r.RunCode(t.Context(), script("marker = 1\ndef main(): return 'x' + 'y'"))
	t.Log("warm call:", time.Since(start))
	require.NoError(t, err)
	require.Equal(t, "xy", res.Value.Str())
	require.True(t, waiting.ended(), "an interpreter runs one script")
	require.NotSame(t, waiting, r.spares.waiting)

	res, err = r.RunCode(t.Context(), script("def main(): return 'marker' in globals()"))
	require.NoError(t, err)
	require.False(t, res.Value.True(), "scripts share nothing")

	last := r.spares.waiting
	require.NoError(t, r.Close())
	require.True(t, last.ended())
	require.Nil(t, r.spares.waiting)
}

func TestSpareIsLeftOutWithSmallBudget(t *testing.T) {
	r := newRunner(t, Limits{Time: patience})
	r.Memory = memlimit.New("scripts", 448<<20)
	res, err := r.RunCode(t.Context(), script("def main(): return len(bytearray(20 << 20))"))
	require.NoError(t, err)
	require.Equal(t, "20971520", res.Value.Text(), "a small budget leaves room for a script")
	require.Nil(t, r.spares.waiting)
	require.Zero(t, r.Memory.Used())
	_, err = r.RunCode(t.Context(), script("def main(): return len(bytearray(100 << 20))"))
	require.ErrorIs(t, err, engine.ErrLimit)
	require.ErrorContains(t, err, "more than 64 MB of memory")
}

func TestCancelEndsScript(t *testing.T) {
	r := newRunner(t, Limits{Time: time.Hour})
	_, err := r.RunCode(t.Context(), script("def main(): pass")) // the next one starts at once
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err = r.RunCode(ctx, script("def main():\n    while True: pass"))
	require.ErrorIs(t, err, context.Canceled)
}

func TestWorkerEndsWithoutScript(t *testing.T) {
	path := interpreter(t)
	m := Module{Path: path}
	p, err := start(workerOf(t), order{Path: path, CacheDir: m.cacheDir(), Limits: Limits{}.WithDefaults()})
	require.NoError(t, err)
	require.NoError(t, p.ready(t.Context()))
	require.NoError(t, p.stdin.Close())
	<-p.gone
	require.NoError(t, p.err)
	p.end()
}

func TestMissingInterpreter(t *testing.T) {
	r := &Runner{Worker: workerOf(t), Find: func() (*Module, error) { return Find("", t.TempDir()) }}
	_, err := r.RunCode(t.Context(), script("def main(): pass"))
	require.ErrorIs(t, err, ErrMissing)
	require.ErrorIs(t, err, engine.ErrNoPort)
	require.ErrorContains(t, err, "easel python install")
	require.ErrorIs(t, r.Missing(), ErrMissing)
}

// A failed worker is an error of the host, not a limit that the script exceeded.
func TestFailedWorkerIsNotALimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), moduleName)
	require.NoError(t, os.WriteFile(path, []byte("not WebAssembly"), 0o600))
	r := &Runner{Worker: workerOf(t), Find: func() (*Module, error) { return &Module{Path: path}, nil }}
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	_, err := r.RunCode(t.Context(), script("def main(): pass"))
	require.ErrorContains(t, err, "not a usable Python module")
	require.NotErrorIs(t, err, engine.ErrLimit)
}

func TestOutputIsTruncated(t *testing.T) {
	r := newRunner(t, Limits{Time: patience, Output: 100})
	res, err := r.RunCode(t.Context(), script("def main():\n    for i in range(1000): print('line', i)\n    return 1"))
	require.NoError(t, err)
	require.Equal(t, "1", res.Value.Text())
	require.Len(t, res.Stdout, 100+len(cutNote))
	require.True(t, strings.HasSuffix(res.Stdout, cutNote))
}

func TestLargeScriptIsRejected(t *testing.T) {
	r := &Runner{Limits: Limits{Script: 10}}
	_, err := r.RunCode(t.Context(), script("def main(): return 1"))
	require.ErrorIs(t, err, engine.ErrLimit)
	require.ErrorContains(t, err, "script of 20 bytes")
}

func TestHintForMissingModule(t *testing.T) {
	r := newRunner(t, Limits{Time: patience})
	res, err := r.RunCode(t.Context(), script("import numpy.linalg\ndef main(): pass"))
	require.NoError(t, err)
	require.Contains(t, res.Stderr, "No module named 'numpy'\n(numpy is not part of this Python;")
}
