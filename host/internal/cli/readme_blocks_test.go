package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// easelCommand finds a command of the program in a line, after variables of its environment.
var easelCommand = regexp.MustCompile(`^(?:\$ )?(?:[A-Z_]+=\S+ )*easel (.*)$`)

// readmeCommands returns the commands of the program in the shell blocks of a page, as words.
func readmeCommands(t *testing.T, page string) (commands [][]string) {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	for _, block := range shellBlock.FindAllStringSubmatch(string(text), -1) {
		for line := range strings.Lines(strings.ReplaceAll(block[1], "\\\n", "")) {
			line, _, _ = strings.Cut(strings.TrimSpace(line), "  #")
			if m := easelCommand.FindStringSubmatch(line); m != nil {
				command, _, _ := strings.Cut(m[1], " | ")
				commands = append(commands, shellWords(strings.TrimSuffix(command, " &")))
			}
		}
	}
	return commands
}

// The blocks for somebody who has a canvas, or writes a plugin without a compiler, run as printed.
func TestBlocksOfPagesRun(t *testing.T) {
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	for page, first := range map[string]string{
		"README.md": "run canvas.json", "plugins/js/README.md": "plugin new greeter",
		"plugins/http/README.md": "plugin new places",
	} {
		t.Run(page, func(t *testing.T) {
			pluginFolder(t)
			commands := readmeCommands(t, filepath.Join(root, page))
			t.Chdir(t.TempDir())
			canvas := sketch.Bytes("begin Begin -> M", `M Message {"content": ["You said {sys.query}"]}`)
			require.NoError(t, os.WriteFile("canvas.json", canvas, 0o600))
			require.Contains(t, strings.Join(commands[0], " "), first)
			for _, words := range commands {
				switch {
				case words[0] == "chat", words[0] == "serve": // they end with their terminal
				case words[1] == "import": // of a file of the reader
				default:
					succeeds(t, words...)
				}
			}
		})
	}
}
