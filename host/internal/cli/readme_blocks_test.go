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

// The blocks for plugin authors with a checkout run at its root.
func TestBlocksOfPluginExamplesRun(t *testing.T) {
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	pluginFolder(t)
	commands := readmeCommands(t, filepath.Join(root, "plugins/examples/README.md"))
	t.Chdir(t.TempDir())
	require.NoError(t, os.Symlink(filepath.Join(root, "plugins"), "plugins"))
	require.Len(t, commands, 4)
	for _, words := range commands {
		succeeds(t, words...)
	}
}

// The blocks for operators run against a host. Ids stand for those of the tenant and of the key
// that they have made.
func TestBlocksOfTheHostPageRun(t *testing.T) {
	o := operated(t)
	for _, title := range []string{"Daily report", "watch"} {
		o.post("/api/v2/canvases", operatorKey, `{"title":"`+title+`","dsl":`+echoing+`}`)
	}
	tenant := o.json("tenant", "list").Get("items").At(0).Get("id").Str()
	commands := readmeCommands(t, hostPage)
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"corpus.jsonl":  `{"id": "d1", "title": "Returns", "text": "Goods can be returned within 30 days."}`,
		"queries.jsonl": `{"id": "q1", "text": "Can goods be returned?"}`, "test.tsv": "q1\td1\t1",
	} {
		require.NoError(t, os.WriteFile(name, []byte(text+"\n"), 0o600))
	}
	key, ran := "", 0
	for _, words := range commands {
		line := strings.Join(words, " ")
		if strings.Contains(line, "--embed ./model") { // a model that the reader has
			continue
		}
		for i, w := range words {
			if strings.HasSuffix(w, "...") {
				words[i] = map[bool]string{true: tenant, false: key}[words[0] == "tenant"]
			}
		}
		out := o.good(words...)
		if m := regexp.MustCompile(`^id: (\S+)`).FindStringSubmatch(out); m != nil && words[0] == "key" {
			key = m[1]
		}
		ran++
	}
	require.Greater(t, ran, 8)
}

// npmRun finds scripts of npm and goTest packages of tests in shell blocks.
var (
	npmRun = regexp.MustCompile(`npm (?:--\S+ )*(?:run (\S+)|(test)\b)`)
	goTest = regexp.MustCompile(`go (?:test|run) (?:-\S+ )*(\./\S+)`)
)

// Shell blocks name scripts and packages that exist, also where a test cannot run them.
func TestBlocksNameScriptsAndPackages(t *testing.T) {
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	seen := 0
	documents(t, func(name, text string) {
		for _, block := range shellBlock.FindAllStringSubmatch(text, -1) {
			for _, m := range npmRun.FindAllStringSubmatch(block[1], -1) {
				scripts, err := os.ReadFile(filepath.Join(root, filepath.Dir(name), "package.json"))
				require.NoError(t, err, name)
				require.Contains(t, string(scripts), `"`+m[1]+m[2]+`": `, name)
				seen++
			}
			for _, m := range goTest.FindAllStringSubmatch(block[1], -1) {
				require.DirExists(t, filepath.Join(root, strings.TrimSuffix(m[1], "/...")), name)
				seen++
			}
		}
	})
	require.Greater(t, seen, 4)
}
