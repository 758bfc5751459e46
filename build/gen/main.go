// Command gen writes what other languages and the documentation take from the engine: the words of
// the wire as TypeScript types, and a page that explains them. Both are checked in.
//
//	go run ./build/gen         # write
//	go run ./build/gen -check  # fail when a file is not current
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// files are what this program writes, by path.
var files = map[string]func() []byte{
	"wasm/js/src/generated.ts": typescript,
	"engine/VOCABULARY.md":     page,
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
		want := content()
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
