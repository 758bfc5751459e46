package cli

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
)

// Pages that are made from the program. After a change of flags or components:
//
//	go test ./host/internal/cli -run Page -update
var update = flag.Bool("update", false, "update the generated pages")

const (
	hostPage       = "../../README.md"
	componentsFile = "../../../engine/component/README.md"
)

func TestPageOfComponents(t *testing.T) {
	code, made, errs := easel(t, "components", "--markdown")
	require.Equal(t, ExitOK, code, errs)
	current(t, componentsFile, made)
}

func current(t *testing.T, file, made string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(made), 0o644))
		return
	}
	kept, err := os.ReadFile(file)
	require.NoError(t, err)
	// The first line that differs suffices; a page is long.
	old, now := strings.Split(string(kept), "\n"), strings.Split(made, "\n")
	for i := range min(len(old), len(now)) {
		require.Equal(t, old[i], now[i], "%s, line %d, is old: go test ./host/internal/cli -run Page -update", file,
			i+1)
	}
	require.Len(t, old, len(now), "%s is old: go test ./host/internal/cli -run Page -update", file)
}

// TestPageOfTheHost compares the tables between "<!-- made: NAME -->" and "<!-- end -->".
func TestPageOfTheHost(t *testing.T) {
	kept, err := os.ReadFile(hostPage)
	require.NoError(t, err)
	page := string(kept)
	for name, made := range map[string]string{"flags": flagTable(serveCommand)} {
		page = replaceBlock(t, page, name, made)
	}
	current(t, hostPage, page)
}

func replaceBlock(t *testing.T, page, name, made string) string {
	t.Helper()
	begin := "<!-- made: " + name + " -->\n"
	before, rest, ok := strings.Cut(page, begin)
	require.True(t, ok, "no block %s", name)
	_, after, ok := strings.Cut(rest, "<!-- end -->")
	require.True(t, ok, "the block %s has no end", name)
	return before + begin + made + "<!-- end -->" + after
}

func flagTable(c command) string {
	var b bytes.Buffer
	b.WriteString("| flag | variable | default | |\n| --- | --- | --- | --- |\n")
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	c.setup(fs)
	fs.VisitAll(func(f *flag.Flag) {
		kind, text := flag.UnquoteUsage(f)
		variable := "EASEL_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		byDefault := defaultOf(f)
		if byDefault != "" {
			byDefault = "`" + byDefault + "`"
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | %s | %s |\n", strings.TrimSpace("--"+f.Name+" "+kind), variable, byDefault,
			inCell(text))
	})
	return b.String()
}

var variable = regexp.MustCompile(`"((?:EASEL|OPENAI|OTEL)_[A-Z_]+)"`)

// Every variable that the program reads is on the page of the host, except those that only its
// tests set and those of easel plugin, which are in its help.
func TestPageNamesEveryVariable(t *testing.T) {
	page, err := os.ReadFile(hostPage)
	require.NoError(t, err)
	err = filepath.WalkDir("../..", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") ||
			strings.Contains(path, "test/") { // packages for tests: servertest, indextest
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range variable.FindAllStringSubmatch(string(source), -1) {
			require.True(t, bytes.Contains(page, []byte(m[1])), "the page has no %s, which %s reads", m[1], path)
		}
		return err
	})
	require.NoError(t, err)
}

// A component that only its description names is on the page of components.
func TestPageOfAComponentThatIsAdded(t *testing.T) {
	spec := engine.Spec{
		Name: "Signpost", Doc: "Shows the way.", Category: engine.CategoryFlow,
		Outputs: []engine.Field{{Name: "way", Type: "string", Doc: "where to"}},
		New:     func() engine.Component { return new(signpost) },
	}
	reg, err := engine.NewRegistry(append(component.Builtin(), spec)...)
	require.NoError(t, err)
	var b bytes.Buffer
	componentsPage(&b, reg.Specs())
	require.Contains(t, b.String(), "| [Signpost](#signpost) |  |  | Shows the way. |")
	require.Contains(t, b.String(), "\n## Signpost\n\nShows the way.\n")
	require.Contains(t, b.String(), "| `height` | number | `2` | metres above the ground |")
	require.Contains(t, b.String(), "| `way` | string | where to |")
}

type signpost struct {
	Height float64 `json:"height" doc:"metres above the ground" default:"2"`
}

func (*signpost) Run(context.Context, *engine.Call) error { return nil }
