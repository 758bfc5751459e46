// Command bundle makes the files a browser gets: the page of web and the npm package of wasm/js.
//
// It runs esbuild as a library, so no Node tool is needed besides npm, which only fetches packages. Names carry a
// hash of their content and may be cached for ever; index.html alone keeps its name. No script stands inside the
// page, so a strict Content-Security-Policy holds. After a build it prints the gzip size of each file and fails when
// the page is heavier than its budget.
//
//	go run ./build/bundle            # everything, minified
//	go run ./build/bundle -toy       # the page over the toy engine of wasm/js/test, for tests without the module
//	go run ./build/bundle -only page
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// budget is the most the page may weigh before it is interactive, in bytes of gzip: scripts that index.html loads.
// The engine, the workers and what is imported lazily do not count.
const budget = 200 << 10

func main() {
	root := flag.String("root", ".", "root of the repository")
	wasm := flag.String("wasm", "", "folder with engine.wasm and wasm_exec.js; default wasm/dist if it is there")
	toy := flag.Bool("toy", false, "put the toy engine behind the page")
	only := flag.String("only", "", "page or package")
	out := flag.String("out", "", "where the page goes; default web/dist")
	flag.Parse()
	b := bundler{root: *root, wasm: *wasm, toy: *toy, out: *out}
	if b.wasm == "" {
		b.wasm = filepath.Join(*root, "wasm", "dist")
	}
	if b.out == "" {
		b.out = filepath.Join(*root, "web", "dist")
	}
	if err := b.run(*only); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

// bundler knows where things are.
type bundler struct {
	root, wasm, out string
	toy             bool
}

func (b bundler) run(only string) error {
	if only != "package" {
		if err := b.page(); err != nil {
			return fmt.Errorf("page: %w", err)
		}
	}
	if only != "page" && !b.toy {
		if err := b.npm(); err != nil {
			return fmt.Errorf("package: %w", err)
		}
	}
	return nil
}
