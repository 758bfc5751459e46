// Command bundle builds the files for browsers: the page of web and the npm package of wasm/js.
//
// It runs esbuild as a library; npm only fetches packages, and Node compresses because the standard
// library has no Brotli. Names contain a hash of the content and may be cached forever; only
// index.html has a fixed name. The page has no inline script, so it works with a strict
// Content-Security-Policy. After a build it prints the gzip size of each file and fails if the page
// exceeds its budget.
//
// The page is written twice: as plain files for any static server, and compressed into the folder
// from which the host embeds it.
//
//	go run ./build/bundle            # everything, minified
//	go run ./build/bundle -maps      # with source maps, to debug it in a browser
//	go run ./build/bundle -only page
//	go run ./build/bundle -packages  # print the npm packages in both as JSON, write no files
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// budget bounds the bytes, after gzip, that the page loads before it is interactive: the scripts in
// index.html. It holds React, React Flow and the editor of canvases; text editors and rare views
// are loaded when they are first shown.
const budget = 260_000

func main() {
	root := flag.String("root", ".", "root of the repository")
	wasm := flag.String("wasm", "", "folder with engine.wasm and wasm_exec.js; default wasm/dist if it is there")
	sourceMaps := flag.Bool("maps", false, "write source maps next to the scripts")
	only := flag.String("only", "", "page or package")
	out := flag.String("out", "", "where the page goes; default web/dist")
	embed := flag.String("embed", "", "where the compressed page goes; default host/internal/page/dist, none with -out")
	packages := flag.Bool("packages", false,
		"print which npm packages the page and the package contain; nothing is written")
	flag.Parse()
	b := bundler{root: *root, wasm: *wasm, maps: *sourceMaps, out: *out, embed: *embed}
	if b.wasm == "" {
		b.wasm = filepath.Join(*root, "wasm", "dist")
	}
	if b.out == "" {
		b.out = filepath.Join(*root, "web", "dist")
		if b.embed == "" {
			b.embed = filepath.Join(*root, "host", "internal", "page", "dist")
		}
	}
	var err error
	if *packages {
		err = b.list(os.Stdout)
	} else {
		err = b.run(*only)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

// bundler stores the paths and options of a build.
type bundler struct {
	root, wasm, out, embed string
	maps                   bool
	packages               map[string]bool // npm packages that the builds contain; if not nil, nothing is written
}

// list prints the npm packages in the page and the npm package: {"page": [...], "package": [...]}.
func (b bundler) list(w io.Writer) error {
	contents := map[string][]string{}
	for name, build := range map[string]func(b bundler) error{
		"page":    func(b bundler) error { _, err := b.scripts(); return errors.Join(err, b.chat()) },
		"package": func(b bundler) error { dir := b.abs("wasm/js"); return b.modules(dir, filepath.Join(dir, "dist")) },
	} {
		b.packages = map[string]bool{}
		if err := build(b); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		contents[name] = slices.Sorted(maps.Keys(b.packages))
	}
	return json.NewEncoder(w).Encode(contents)
}

func (b bundler) run(only string) error {
	if only != "" && only != "page" && only != "package" {
		return fmt.Errorf("-only %s: there are page and package", only)
	}
	if only != "package" {
		if err := b.page(); err != nil {
			return fmt.Errorf("page: %w", err)
		}
	}
	if only != "page" {
		if err := b.npm(); err != nil {
			return fmt.Errorf("package: %w", err)
		}
	}
	return nil
}
