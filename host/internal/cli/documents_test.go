package cli

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

const repository = "../../.."

// generatedDirs are not searched for documents and sources.
var generatedDirs = []string{".git", "node_modules", "testdata", "dist", "out", "release"}

// repositoryFiles calls visit with the text of each file that has one of the extensions.
func repositoryFiles(t *testing.T, visit func(name, text string), extensions ...string) {
	t.Helper()
	err := filepath.WalkDir(repository, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(generatedDirs, d.Name()):
			return fs.SkipDir
		case d.IsDir() || !slices.Contains(extensions, filepath.Ext(name)):
			return nil
		}
		text, err := os.ReadFile(name)
		if err == nil {
			visit(filepath.ToSlash(strings.TrimPrefix(name, repository+"/")), string(text))
		}
		return err
	})
	require.NoError(t, err)
}

// documents calls visit with each document except the changelog, which also names what was removed.
func documents(t *testing.T, visit func(name, text string)) {
	t.Helper()
	repositoryFiles(t, func(name, text string) {
		if name != "CHANGELOG.md" {
			visit(name, text)
		}
	}, ".md")
}

// usage is a command with the names of its flags.
type usage struct {
	flags []string
	verbs bool
}

// usages returns all commands by name, with those below others as "plugin install".
func usages() map[string]usage {
	all := commands()
	for i := 0; i < len(all); i++ {
		if all[i].verbs != nil {
			all = append(all, all[i].verbs()...)
		}
	}
	known := map[string]usage{"help": {}}
	for _, c := range all {
		u := usage{flags: []string{"-h", "--help"}, verbs: c.verbs != nil}
		fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
		c.setup(fs)
		fs.VisitAll(func(f *flag.Flag) { u.flags = append(u.flags, "-"+f.Name, "--"+f.Name) })
		known[c.name] = u
	}
	return known
}

// wrongCall returns the first word of a call of the program that is neither a command nor a flag of
// it, or "". Words in capitals and "..." are placeholders.
func wrongCall(known map[string]usage, call string) string {
	words := strings.Fields(call)
	if len(words) == 0 || words[0] == "..." {
		return ""
	}
	name := words[0]
	if _, found := known[name]; !found {
		return name
	}
	words = words[1:]
	if len(words) > 0 && known[name].verbs && verbName.MatchString(words[0]) {
		name += " " + words[0]
		if _, found := known[name]; !found {
			return name
		}
		words = words[1:]
	}
	for _, w := range words {
		if w == "|" || w == "#" || w == "&&" || w == ">" {
			break
		}
		option, _, _ := strings.Cut(w, "=")
		if optionName.MatchString(option) && !slices.Contains(known[name].flags, option) {
			return name + " " + option
		}
	}
	return ""
}

var (
	shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")
	codeSpan   = regexp.MustCompile("`([^`\n]+)`")
	easelCall  = regexp.MustCompile(`^\$? ?(?:\w+=\S+ )*easel (.+)`)
	verbName   = regexp.MustCompile(`^[a-z][a-z-]*$`)
	optionName = regexp.MustCompile(`^--?[a-z][a-z-]*$`)
)

func TestDocumentsShowKnownCommands(t *testing.T) {
	known, seen := usages(), 0
	documents(t, func(name, text string) {
		var lines []string
		for _, block := range shellBlock.FindAllStringSubmatch(text, -1) {
			lines = append(lines, strings.Split(strings.ReplaceAll(block[1], "\\\n", " "), "\n")...)
		}
		for _, span := range codeSpan.FindAllStringSubmatch(text, -1) {
			lines = append(lines, span[1])
		}
		for _, line := range lines {
			if m := easelCall.FindStringSubmatch(line); m != nil {
				require.Empty(t, wrongCall(known, m[1]), "%s: %s: no such command or flag", name, line)
				seen++
			}
		}
	})
	require.Greater(t, seen, 100)
}

func TestWrongCallsAreFound(t *testing.T) {
	known := usages()
	for call, wrong := range map[string]string{
		"run canvas.json -q hello --state talk.json": "",
		"plugin install FILE --plugins data/plugins": "",
		"plugin ...":                         "",
		"help run":                           "",
		"key create reports --expires 2160h": "",
		"runs canvas.json":                   "runs",
		"plugin instal FILE":                 "plugin instal",
		"key create reports --expire=1h":     "key create --expire",
		"health --address 127.0.0.1":         "health --address",
		"health # --address":                 "",
	} {
		require.Equal(t, wrong, wrongCall(known, call), call)
	}
}

// flagsOfOthers are flags in the guides for operators that belong to other programs.
var flagsOfOthers = []string{"--build-arg", "--memory"}

func TestGuidesNameKnownFlags(t *testing.T) {
	var known []string
	for _, u := range usages() {
		known = append(known, u.flags...)
	}
	documents(t, func(name, text string) {
		if !strings.HasPrefix(name, "docs/operate/") && name != "host/README.md" && name != "README.md" {
			return
		}
		for _, span := range codeSpan.FindAllStringSubmatch(text, -1) {
			option, _, _ := strings.Cut(strings.Fields(span[1] + " .")[0], "=")
			if optionName.MatchString(option) && strings.HasPrefix(option, "--") {
				require.Contains(t, append(known, flagsOfOthers...), option, "%s: no command has this flag", name)
			}
		}
	})
}

var settingName = regexp.MustCompile(`\bEASEL_[A-Z_]*[A-Z]\b`)

func TestDocumentsNameKnownVariables(t *testing.T) {
	var sources strings.Builder
	repositoryFiles(t, func(_, text string) { sources.WriteString(text) }, ".go", ".ts", ".mjs")
	var flags []string
	for _, u := range usages() {
		for _, f := range u.flags {
			flags = append(flags, variableOf(strings.TrimLeft(f, "-")))
		}
	}
	read := func(name string) bool {
		if slices.Contains(flags, name) || strings.Contains(sources.String(), name) {
			return true
		}
		prefix, _, found := strings.Cut(name, "_NAME") // EASEL_SECRET_NAME is a placeholder
		return found && strings.Contains(sources.String(), `"`+prefix+`_"`)
	}
	require.False(t, read("EASEL_"+"UNKNOWN"))
	documents(t, func(name, text string) {
		for _, v := range settingName.FindAllString(text, -1) {
			require.True(t, read(v), "%s: %s: nothing reads this variable", name, v)
		}
	})
}

// namedCode matches codes after the word or the HTTP status that announces them.
var namedCode = regexp.MustCompile("\\b(?:codes?|errors?|[45]\\d\\d) `([a-z]+(?:_[a-z]+)+)`")

func TestDocumentsNameKnownCodes(t *testing.T) {
	var known []string
	for _, group := range engine.Codes() {
		for _, c := range group.Codes {
			known = append(known, c.Word)
		}
	}
	contract, err := os.ReadFile(repository + "/plugins/contract/contract.md")
	require.NoError(t, err)
	for _, m := range contractCode.FindAllStringSubmatch(string(contract), -1) {
		known = append(known, m[1])
	}
	seen := 0
	documents(t, func(name, text string) {
		for _, m := range namedCode.FindAllStringSubmatch(text, -1) {
			require.Contains(t, known, m[1], "%s: no such code", name)
			seen++
		}
	})
	require.Greater(t, seen, 5)
}

// contractCode matches the rows of the contract's table of codes.
var contractCode = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|")
