package cli

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

const examples = "../../examples/"

// asProgram makes a copy of the test program act as the program.
const asProgram = "EASEL_CLI_TEST_PROGRAM"

// The test binary is its own worker.
func TestMain(m *testing.M) {
	_, works := workers(nil, nil)[strings.Join(os.Args[1:], " ")]
	if works || os.Getenv(asProgram) != "" {
		os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	if os.Getenv(asToolServer) != "" {
		serveTools()
		return
	}
	servertest.Main(m)
}

// clear removes settings of the machine from the environment.
func clear(t *testing.T) {
	for _, name := range []string{
		"OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "EASEL_MODEL_FILE",
		"EASEL_MODEL_BASE_URL", "EASEL_MODEL_KEY", "EASEL_MODEL_DEFAULT",
	} {
		t.Setenv(name, "")
	}
}

// easel runs the program in process.
func easel(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	clear(t)
	var stdout, stderr bytes.Buffer
	code = Main(args, strings.NewReader(""), &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

// typed runs the program as on a terminal with these lines as input.
func typed(t *testing.T, lines string, args ...string) (code int, out, errs string) {
	t.Helper()
	clear(t)
	var stdout, stderr bytes.Buffer
	a, err := newApp(strings.NewReader(""), &stdout, &stderr)
	require.NoError(t, err)
	a.in, a.asks = bufio.NewReader(strings.NewReader(lines)), true
	code = a.exit(t.Context(), a.dispatch(t.Context(), args))
	return code, stdout.String(), stderr.String()
}

// file writes a file and returns its path.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func parse1(t *testing.T, text string) engine.Value {
	t.Helper()
	v, err := engine.ParseJSONText(text)
	require.NoError(t, err, text)
	return v
}

func TestHelp(t *testing.T) {
	code, out, _ := easel(t, "help")
	require.Equal(t, ExitOK, code)
	for _, c := range commands() {
		require.Contains(t, out, "  "+c.name+" ")
		code, page, _ := easel(t, "help", c.name)
		require.Equal(t, ExitOK, code)
		require.Contains(t, page, "Usage: easel "+c.name)
		_, same, _ := easel(t, c.name, "--help")
		require.Equal(t, page, same)
	}
	require.Contains(t, out, "130  stopped by Ctrl-C")
	for _, v := range pluginVerbs() {
		words := strings.Fields(v.name)
		code, page, _ := easel(t, append([]string{"help"}, words...)...)
		require.Equal(t, ExitOK, code)
		require.Contains(t, page, "Usage: easel "+v.name+" ")
		_, same, _ := easel(t, append(words, "--help")...)
		require.Equal(t, page, same)
	}
	_, page, _ := easel(t, "help", "serve")
	require.Contains(t, page, "HOST:PORT to listen on (default 127.0.0.1:9380)")
	require.NotContains(t, page, "(default 0)")
}

func TestUsageErrors(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing.json")
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"missing command", nil, "Usage: easel COMMAND"},
		{"unknown command", []string{"fly"}, `unknown command "fly"`},
		{"unknown help topic", []string{"help", "fly"}, `unknown command "fly"`},
		{"unknown help topic of a verb", []string{"help", "plugin", "fly"}, `unknown verb "fly"`},
		{"help with too many arguments", []string{"help", "run", "fly"}, "takes no further arguments"},
		{"unknown flag", []string{"run", "--fly", "x.json"}, "unknown flag --fly\n"},
		{
			"a misspelled command",
			[]string{"sevre"},
			"unknown command \"sevre\" (did you mean serve?); see `easel help`",
		},
		{"help of a command", []string{"help", "sevre"}, "unknown command \"sevre\" (did you mean serve?)"},
		{"help with a misspelled name", []string{"hepl"}, "(did you mean help?)"},
		{"a misspelled topic", []string{"licenses"}, "(did you mean licences?)"},
		{
			"a misspelled verb",
			[]string{"plugin", "instal", "x"},
			`unknown verb "instal" (did you mean install?)`,
		},
		{"help of a verb", []string{"help", "key", "crate"}, `unknown verb "crate" (did you mean create?)`},
		{
			"a misspelled flag",
			[]string{"run", "x.json", "--knowlege", "d"},
			"unknown flag --knowlege (did you mean --knowledge?)",
		},
		{
			"a misspelled flag of a verb",
			[]string{"plugin", "new", "hello", "--langauge", "go"},
			"unknown flag --langauge",
		},
		{"missing canvas", []string{"run"}, "expected one canvas, got 0"},
		{"two canvases", []string{"run", "a", "b"}, "expected one canvas, got 2"},
		{
			"a question without its flag",
			[]string{"run", examples + "shop.json", "hello"},
			"pass the user's text with -q",
		},
		{"a missing canvas file", []string{"run", missing}, "no such file"},
		{"two output formats", []string{"run", "x", "--json", "--events"}, "exclude each other"},
		{
			"inputs that are not JSON",
			[]string{"run", examples + "shop.json", "--inputs", "{a"},
			"--inputs: invalid JSON",
		},
		{
			"inputs that are not an object",
			[]string{"run", examples + "shop.json", "--inputs", file(t, "l", "[]")},
			"got a list, want an object of fields",
		},
		{"a missing file", []string{"run", examples + "shop.json", "--file", missing}, "no such file"},
		{"an unknown model", []string{"run", examples + "shop.json", "--model", "x@Y"}, "no provider is configured"},
		{
			"a missing script",
			[]string{"run", examples + "shop.json", "--model", "scripted:" + missing},
			"no such file",
		},
		{
			"a datasets folder that is a file",
			[]string{"run", examples + "shop.json", "--knowledge", missing},
			"not a folder",
		},
		{
			"an unknown progress mode",
			[]string{"run", examples + "shop.json", "--progress", "loud"},
			"auto, always or never",
		},
		{"no test case", []string{"replay"}, "expected one case"},
		{"an invalid test case", []string{"replay", file(t, "c", "{}")}, "name is missing"},
		{"test without a canvas", []string{"test", t.TempDir()}, "no .json files"},
		{"validate without a canvas", []string{"validate"}, "at least one canvas"},
		{"record without a file", []string{"record", examples + "shop.json"}, "-o FILE is required"},
		{"an unknown component", []string{"components", "Nope"}, `unknown component "Nope"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, _, errs := easel(t, c.args...)
			require.Equal(t, ExitUsage, code, errs)
			require.Contains(t, errs, c.want)
		})
	}
}

func TestVersion(t *testing.T) {
	code, out, _ := easel(t, "version")
	require.Equal(t, ExitOK, code)
	require.True(t, strings.HasPrefix(out, "easel "), out)
	_, out, _ = easel(t, "--version", "--json")
	require.NotEmpty(t, parse1(t, out).Get("go").Str())
}

func TestComponents(t *testing.T) {
	code, out, _ := easel(t, "components")
	require.Equal(t, ExitOK, code)
	require.Contains(t, out, "NAME")
	require.Contains(t, out, "search_my_dateset")
	require.NotContains(t, out, "EchoTool")
	_, out, _ = easel(t, "components", "Switch", "--json")
	require.Equal(t, "object", parse1(t, out).At(0).Get("params").Get("type").Str())
}

func TestValidate(t *testing.T) {
	bad := file(t, "bad.json", sketch.Canvas("begin Begin -> Missing:A", "X:B Nope"))
	code, out, _ := easel(t, "validate", bad, examples+"shop.json")
	require.Equal(t, ExitInvalid, code)
	require.Contains(t, out, "Missing:A")
	require.Contains(t, out, "Nope")
	require.Contains(t, out, "shop.json: ok")
	code, out, _ = easel(t, "validate", "--json", bad)
	require.Equal(t, ExitInvalid, code)
	require.GreaterOrEqual(t, parse1(t, out).At(0).Get("diagnostics").Len(), 2)
	code, _, errs := easel(t, "run", bad)
	require.Equal(t, ExitInvalid, code)
	require.Contains(t, errs, "does not load")
}

func TestExamplesAreValid(t *testing.T) {
	list, err := filepath.Glob(examples + "*.json")
	require.NoError(t, err)
	require.NotEmpty(t, list)
	code, out, _ := easel(t, append([]string{"validate"}, list...)...)
	require.Equal(t, ExitOK, code, out)
}

func TestPrintedCommandsUseTheNameOfTheProgram(t *testing.T) {
	for arg, want := range map[string]string{
		"easel":                            "easel",
		"build/out/easel":                  "build/out/easel",
		"/tmp/go-build2042/b001/exe/easel": "go run github.com/easel-canvas/easel/host/cmd/easel",
		"/opt/my programs/easel":           "'/opt/my programs/easel'",
		"it's/easel":                       `'it'\''s/easel'`,
	} {
		require.Equal(t, want, calledAs(arg))
	}
}
