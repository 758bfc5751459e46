package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

var update = flag.Bool("update", false, "rewrite testdata/language/results.json")

// outcome is the result of a script in the form that is compared between both interpreters: this
// one, and the one that runs the same scripts in a browser (wasm/js/test/language.test.ts).
type outcome struct {
	Result string `json:"result,omitempty"` // as JSON
	Stdout string `json:"stdout,omitempty"`
	Stderr string `json:"stderr,omitempty"` // errors reduced to their type: messages differ between interpreters
	Error  string `json:"error,omitempty"`  // "limit", or another error of RunCode
}

// piece is one script of testdata/language: a line `//// name :: arguments` followed by the script.
type piece struct{ name, arguments, script string }

func readPieces(t *testing.T) (pieces []piece) {
	t.Helper()
	files, err := filepath.Glob("testdata/language/*.js")
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, part := range strings.Split("\n"+string(text), "\n//// ")[1:] {
			head, script, _ := strings.Cut(part, "\n")
			name, arguments, _ := strings.Cut(head, " :: ")
			if arguments == "" {
				arguments = "{}"
			}
			pieces = append(pieces, piece{
				strings.TrimSuffix(filepath.Base(file), ".js") + ": " + name, arguments,
				script,
			})
		}
	}
	return pieces
}

// TestLanguage runs every script and compares its outcome with results.json.
func TestLanguage(t *testing.T) {
	local := time.Local
	time.Local = time.UTC
	defer func() { time.Local = local }()
	const file = "testdata/language/results.json"
	want := map[string]outcome{}
	if !*update {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &want))
	}
	got := map[string]outcome{}
	pieces := readPieces(t)
	for _, p := range pieces {
		t.Run(p.name, func(t *testing.T) {
			_, twice := got[p.name]
			require.False(t, twice, "duplicate script name")
			got[p.name] = p.run(t)
			if !*update {
				require.Equal(t, want[p.name], got[p.name])
			}
		})
	}
	if !*update {
		require.Len(t, want, len(pieces), "results of removed scripts")
		return
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	require.NoError(t, e.Encode(got))
	require.NoError(t, os.WriteFile(file, b.Bytes(), 0o644))
}

func (p piece) run(t *testing.T) outcome {
	args, err := engine.ParseJSONText(p.arguments)
	require.NoError(t, err)
	limits := Limits{Time: patient, Memory: 64 << 20}
	if strings.HasPrefix(p.name, "limits:") && !strings.Contains(p.script, "repeat") &&
		!strings.Contains(p.script, "+=") {
		limits.Time = time.Second
	}
	res, err := (&Runner{Limits: limits}).RunCode(t.Context(),
		&engine.CodeCall{Language: "javascript", Script: p.script, Arguments: args})
	switch {
	case errors.Is(err, engine.ErrLimit):
		return outcome{Error: "limit"}
	case err != nil:
		return outcome{Error: err.Error()}
	}
	return outcome{Result: res.Value.JSON(), Stdout: res.Stdout, Stderr: kindOnly(res.Stderr)}
}

var uncaught = regexp.MustCompile(`(?ms)^(\w*Error)\b.*|(?m)( at |\n\s*at ).*`)

// kindOnly reduces an uncaught error to its type.
func kindOnly(stderr string) string {
	return strings.TrimRight(uncaught.ReplaceAllString(stderr, "$1"), "\n")
}
