package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// built is the folder into which make builds the Python interpreter.
const built = "../../../build/out"

// usesPython sets EASEL_PYTHON to the interpreter of make, or skips the test.
func usesPython(t *testing.T) {
	if _, err := os.Stat(filepath.Join(built, "python.wasm")); err != nil {
		t.Skip("no Python interpreter: make python fetches it")
	}
	t.Setenv("EASEL_PYTHON", built)
}

// pythonCanvas returns a canvas with one script in Python.
func pythonCanvas(t *testing.T, script string) string {
	text, err := json.Marshal(script)
	require.NoError(t, err)
	return file(t, "c.json", sketch.Chain("begin Begin",
		`Code:A CodeExec {"lang": "python", "script": `+string(text)+`, "arguments": {"text": "sys.query"},
			"outputs": {"said": {"type": "String"}, "n": {"type": "Number"}}}`,
		`Message:A Message {"content": ["{Code:A@said} {Code:A@n}"]}`))
}

func TestPythonRuns(t *testing.T) {
	usesPython(t)
	canvas := pythonCanvas(t, `
def main(text):
    with open("artifacts/words.csv", "w") as f:
        f.write(",".join(text.split()))
    return {"said": text.title(), "n": 2 ** 70}
`)
	made := t.TempDir()
	code, out, errs := easel(t, "run", canvas, "--save", made, "-q", "forty two")
	require.Equal(t, ExitOK, code, errs)
	require.Equal(t, "Forty Two 1180591620717411303424\n", out)
	text, err := os.ReadFile(filepath.Join(made, "words.csv"))
	require.NoError(t, err)
	require.Equal(t, "forty,two", string(text))
	require.Contains(t, errs, "saved "+filepath.Join(made, "words.csv"))

	code, out, errs = easel(t, "validate", canvas)
	require.Equal(t, ExitOK, code, errs)
	require.Equal(t, canvas+": ok\n", out)

	canvas = pythonCanvas(t, "def main(text):\n    return text['x']\n")
	code, _, errs = easel(t, "run", canvas, "-q", "x")
	require.Equal(t, ExitFailed, code)
	require.Contains(t, errs, `File "main.py", line 2, in main`)
	require.Contains(t, errs, "TypeError: string indices must be integers")
}

func TestPythonIsShown(t *testing.T) {
	usesPython(t)
	code, out, errs := easel(t, "python")
	require.Equal(t, ExitOK, code, errs)
	require.Contains(t, out, "Python 3.12.0 in "+filepath.Join(built, "python.wasm"))
	require.Contains(t, out, " json,")
	code, out, errs = easel(t, "python", "--json")
	require.Equal(t, ExitOK, code, errs)
	var about struct {
		File, Version string
		Modules       []string
	}
	require.NoError(t, json.Unmarshal([]byte(out), &about))
	require.Equal(t, "3.12.0", about.Version)
	require.Contains(t, about.Modules, "json")
	_, out, _ = easel(t, "components", "CodeExec")
	require.NotContains(t, out, "partly")
}

// Without an interpreter every place reports that, with the command that installs one.
func TestMissingPython(t *testing.T) {
	const command = `get it with "easel python install"`
	t.Setenv("EASEL_PYTHON", t.TempDir())
	canvas := pythonCanvas(t, "def main(text): return text")
	code, _, errs := easel(t, "python")
	require.Equal(t, ExitFailed, code)
	require.Contains(t, errs, command)

	code, out, errs := easel(t, "validate", canvas, "--json")
	require.Equal(t, ExitOK, code, errs)
	var files []struct {
		Diagnostics []struct{ Severity, Code, Message, Node string }
	}
	require.NoError(t, json.Unmarshal([]byte(out), &files))
	require.Len(t, files[0].Diagnostics, 1)
	d := files[0].Diagnostics[0]
	require.Equal(t, "warning not_available Code:A", d.Severity+" "+d.Code+" "+d.Node)
	require.Contains(t, d.Message, command)

	code, out, errs = easel(t, "components", "CodeExec")
	require.Equal(t, ExitOK, code, errs)
	require.Contains(t, out, command)
	code, out, errs = easel(t, "components", "CodeExec", "--json")
	require.Equal(t, ExitOK, code, errs)
	var list []struct{ Missing map[string]string }
	require.NoError(t, json.Unmarshal([]byte(out), &list))
	require.Contains(t, list[0].Missing["python"], command)
	require.NotContains(t, list[0].Missing, "javascript")

	// An executor runs all languages.
	code, out, errs = easel(t, "validate", canvas, "--code-executor", "http://127.0.0.1:1")
	require.Equal(t, ExitOK, code, errs)
	require.Equal(t, canvas+": ok\n", out)
	code, _, errs = easel(t, "run", canvas, "--code-executor", "sandbox:9385")
	require.Equal(t, ExitUsage, code)
	require.Contains(t, errs, "not an http or https URL")
}

func TestPythonInstallRefusesOtherFiles(t *testing.T) {
	dir := t.TempDir()
	code, _, errs := easel(t, "python", "install", "--from", file(t, "a.tgz", "x"), "--python", dir)
	require.Equal(t, ExitFailed, code)
	require.Contains(t, errs, "the archive has another hash than expected")
	code, _, errs = easel(t, "python", "add", file(t, "python.wasm", "x"), "--python", dir)
	require.Equal(t, ExitFailed, code)
	require.Contains(t, errs, "not a usable Python module")
	code, _, _ = easel(t, "python", "add")
	require.Equal(t, ExitUsage, code)
	require.NoFileExists(t, filepath.Join(dir, "python.wasm"))
}
