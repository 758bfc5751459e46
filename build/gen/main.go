// Command gen generates the parts of the engine for other languages and the documentation: the
// words of the wire as TypeScript types, and a page that explains them. Both are checked in.
//
//	go run ./build/gen         # write
//	go run ./build/gen -check  # fail when a file is not current
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// files are the files that this program writes, by path.
var files = map[string]func(root string) ([]byte, error){
	"wasm/js/src/generated.ts":             func(string) ([]byte, error) { return typescript(), nil },
	"wasm/js/src/code/guest.ts":            guest,
	"web/view/form/operators.generated.ts": func(string) ([]byte, error) { return operators() },
	"web/view/form/settings.generated.ts":  func(string) ([]byte, error) { return settings() },
	"engine/VOCABULARY.md":                 func(string) ([]byte, error) { return page(), nil },
}

const guestSource = "host/internal/code/python/guest.py"

// guest returns the program that runs scripts in Python, the same on a server and in a page.
func guest(root string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, guestSource))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("// Generated from host/internal/code/python/guest.py by go run ./build/gen; do not edit.\n\n")
	b.WriteString("/** guest defines run(call), which runs a script and returns its outcome, both as JSON. */\n")
	b.WriteString("export const guest = [\n")
	for line := range strings.Lines(string(text)) {
		quoted, err := json.Marshal(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "  %s,\n", quoted)
	}
	b.WriteString("].join(\"\\n\");\n")
	return b.Bytes(), nil
}

func main() {
	root := flag.String("root", ".", "root of the repository")
	check := flag.Bool("check", false, "write nothing; fail when a file is not current")
	flag.Parse()
	if err := run(*root, *check); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(root string, check bool) error {
	for name, content := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		want, err := content(root)
		if err != nil {
			return err
		}
		if !check {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				return err
			}
			continue
		}
		have, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !bytes.Equal(have, want) {
			return fmt.Errorf("%s is not current; run go run ./build/gen", name)
		}
	}
	return nil
}
