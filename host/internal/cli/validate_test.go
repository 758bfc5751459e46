package cli

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// Files that Windows or Python have written are read by all commands.
func TestFilesOfOtherProgramsLoad(t *testing.T) {
	canvas := string(sketch.Bytes("begin Begin -> M", `M Message {"content": ["You said {sys.query}"]}`))
	wide := []byte("\xff\xfe")
	for _, u := range utf16.Encode([]rune(canvas)) {
		wide = append(wide, byte(u), byte(u>>8))
	}
	for name, text := range map[string]string{
		"mark": "\xef\xbb\xbf" + canvas, "wide": string(wide),
		"python": strings.Replace(canvas, "{", `{"elapsed": NaN, `, 1),
	} {
		t.Run(name, func(t *testing.T) {
			path := file(t, name+".json", text)
			require.Contains(t, succeeds(t, "validate", path), "ok")
			require.Contains(t, succeeds(t, "run", path, "-q", "hello"), "You said hello")
			data := t.TempDir()
			require.NoError(t, serve(t, nil, "--data", data).stop())
			succeeds(t, "import", path, "--data", data)
		})
	}
}
