package python

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
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

// built is where make puts the interpreter.
const built = "../../../build/out"

// newRunner returns a runner for the interpreter that make has fetched.
func newRunner(t *testing.T, limits Limits) *Runner {
	t.Helper()
	if _, err := os.Stat(filepath.Join(built, moduleName)); err != nil {
		t.Skip("no Python interpreter: make python fetches it")
	}
	r := &Runner{Limits: limits, Worker: workerOf(t), Find: func() (*Module, error) { return Find(built) }}
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

func script(text string) *engine.CodeCall {
	return &engine.CodeCall{Language: "python", Script: text, Arguments: engine.Object("n", 2)}
}

func TestX(t *testing.T) {
	r := newRunner(t, Limits{})
	for range 6 {
		t0 := time.Now()
		res, err := r.RunCode(t.Context(), script("import sys\ndef main(n):\n  print('hi')\n  open('artifacts/a.csv','w').write('1,2')\n  return {'a': n, 'b': 2**100, 'v': sys.path}"))
		fmt.Println(time.Since(t0), res, err)
		time.Sleep(time.Second)
	}
}
