package template

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// recordings reads recorded cases: the output of the original Jinja2 for each template.
func recordings(t testing.TB, file string) [][]byte {
	data, err := os.ReadFile("testdata/" + file)
	require.NoError(t, err)
	var lines [][]byte
	for line := range strings.Lines(string(data)) {
		lines = append(lines, []byte(line))
	}
	return lines
}

// knownDifferences reads the names of recorded cases that are not reproduced, with the reasons.
func knownDifferences(t *testing.T) map[string]string {
	data, err := os.ReadFile("testdata/differences.txt")
	require.NoError(t, err)
	known := map[string]string{}
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, reason, _ := strings.Cut(strings.TrimSpace(line), ": ")
		require.NotEmpty(t, reason, "a difference needs a reason: %s", line)
		known[name] = reason
	}
	return known
}

func TestRecordedCasesGiveTheRecordedText(t *testing.T) {
	known := knownDifferences(t)
	for file, count := range map[string]int{"jinja.jsonl": 417, "corners.jsonl": 398} {
		cases := recordings(t, file)
		require.Len(t, cases, count, file)
		for _, line := range cases {
			c, err := engine.ParseJSON(line)
			require.NoError(t, err)
			name := c.Get("name").Str()
			reason, differs := known[name]
			delete(known, name)
			t.Run(name, func(t *testing.T) { runRecorded(t, c, differs, reason) })
		}
	}
	require.Empty(t, known, "differences.txt names cases that do not exist")
}

func runRecorded(t *testing.T, c engine.Value, differs bool, reason string) {
	text := ""
	tmpl, err := Parse(c.Get("template").Str())
	if err == nil {
		text, err = tmpl.Render(c.Get("context").Lookup)
	}
	met := (err == nil) == !c.Get("error").True() && text == c.Get("expect").Str()
	if differs {
		require.NotEqual(t, "core", c.Get("level").Str(), "a core case must pass")
		require.False(t, met, "the case passes now, remove it from differences.txt: %s", reason)
		return
	}
	require.True(t, met, "template %q\nwant %s\ngot  %q, %v",
		c.Get("template").Str(), c.Get("expect").JSON(), text, err)
	if err != nil {
		check(t, err)
	}
}
