package code

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/code/python"
	"github.com/easel-canvas/easel/host/internal/code/script"
)

// TestMain makes the test binary the worker of both languages.
func TestMain(m *testing.M) {
	work := map[string]func() error{
		"script-worker": func() error { return script.Work(context.Background(), os.Stdin, os.Stdout) },
		"python-worker": func() error { return python.Work(context.Background(), os.Stdin, os.Stdout) },
	}
	if len(os.Args) > 1 && work[os.Args[1]] != nil {
		if err := work[os.Args[1]](); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// built is where make puts the Python interpreter.
const built = "../../../build/out"

// contractCase is a script in both languages with its outcome. wasm/js runs the same cases in
// QuickJS and Pyodide.
type contractCase struct {
	Name            string
	Python          string
	JavaScript      string
	Arguments       engine.Value
	Result          engine.Value
	Text            string // the result as text, where digits count; instead of Result
	Stdout, Stderr  string
	StderrHas       []string `json:"stderr_has"`
	PythonStderr    string   `json:"python_stderr"`
	PythonStderrHas []string `json:"python_stderr_has"`
	Limit           string   // part of the message of a limit; instead of a result
	Artifacts       []engine.Value
}

func contract(t *testing.T) []contractCase {
	text, err := os.ReadFile("testdata/contract.json")
	require.NoError(t, err)
	var cases []contractCase
	require.NoError(t, json.Unmarshal(text, &cases))
	return cases
}

// newPort returns a port that keeps artifacts in memory.
func newPort(t *testing.T) *Port {
	self, err := os.Executable()
	require.NoError(t, err)
	p := &Port{
		JavaScript: &script.Runner{
			Limits: script.Limits{Time: 5 * time.Minute}, Worker: []string{self, "script-worker"},
		},
		Python: &python.Runner{
			Limits: python.Limits{Time: 5 * time.Minute},
			Worker: []string{self, "python-worker"}, Find: func() (*python.Module, error) { return python.Find(built) },
		},
		Save: func(_ context.Context, name, format string, data []byte) (engine.Value, error) {
			return engine.Object("doc_id", "id of "+name, "format", format, "length", len(data)), nil
		},
	}
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

func TestContract(t *testing.T) {
	p := newPort(t)
	for _, c := range contract(t) {
		for language, text := range map[string]string{"python": c.Python, "javascript": c.JavaScript} {
			if text == "" {
				continue
			}
			t.Run(language+" "+c.Name, func(t *testing.T) {
				if _, err := os.Stat(filepath.Join(built, "python.wasm")); err != nil && language == "python" {
					t.Skip("no Python interpreter: make python fetches it")
				}
				call := &engine.CodeCall{Language: language, Script: text, Arguments: c.Arguments}
				res, err := p.RunCode(t.Context(), call)
				if c.Limit != "" {
					require.ErrorIs(t, err, engine.ErrLimit)
					require.ErrorContains(t, err, c.Limit)
					return
				}
				require.NoError(t, err)
				c.check(t, language, res)
			})
		}
	}
}

func (c *contractCase) check(t *testing.T, language string, res engine.CodeResult) {
	t.Helper()
	if c.Text != "" {
		require.Equal(t, c.Text, res.Value.Text(), res.Stderr)
	} else {
		require.JSONEq(t, c.Result.JSON(), res.Value.JSON(), res.Stderr)
		if c.Result.Kind() == engine.KindObject {
			require.Equal(t, c.Result.JSON(), res.Value.JSON(), "the order of keys")
		}
	}
	require.Equal(t, c.Stdout, res.Stdout)
	has := c.StderrHas
	if language == "python" {
		has = append(has, c.PythonStderrHas...)
	}
	switch {
	case language == "python" && c.PythonStderr != "":
		require.Equal(t, c.PythonStderr, res.Stderr)
	case len(has) == 0:
		require.Equal(t, c.Stderr, res.Stderr)
	}
	for _, part := range has {
		require.Contains(t, res.Stderr, part)
	}
	require.Len(t, res.Artifacts, len(c.Artifacts))
	for i, a := range c.Artifacts {
		name := a.Get("name").Text()
		want := engine.NewObject(6)
		for key, v := range a.Fields() {
			want.Set(key, v)
		}
		want.Set("doc_id", engine.String("id of "+name))
		want.Set("format", engine.String(name[strings.LastIndex(name, ".")+1:]))
		want.Set("length", a.Get("size"))
		require.Equal(t, want.Value().JSON(), res.Artifacts[i].JSON())
	}
}
