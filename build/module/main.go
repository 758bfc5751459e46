// Command module builds the engine for browsers and WASI hosts into wasm/dist: engine.wasm
// (GOOS=js) with the wasm_exec.js of the same compiler, and engine.wasi.wasm (wasip1, a reactor).
// Both are slimmed; see slim.go.
//
//	go run ./build/module
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	out := flag.String("out", filepath.Join("wasm", "dist"), "where the modules go")
	tags := flag.String("tags", "", "tags of the Go build")
	only := flag.String("only", "", "js or wasip1; default both")
	names := flag.Bool("names", false,
		"write next to each module which addresses are in which function, to read the trace of a crash")
	flag.Parse()
	if err := run(*out, *tags, *only, *names); err != nil {
		fmt.Fprintln(os.Stderr, "module:", err)
		os.Exit(1)
	}
}

func run(out, tags, only string, names bool) error {
	if only != "" && only != "js" && only != "wasip1" {
		return fmt.Errorf("-only %s: there are js and wasip1", only)
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, target := range []struct {
		os, file string
		flags    []string
	}{
		{"js", "engine.wasm", nil},
		{"wasip1", "engine.wasi.wasm", []string{"-buildmode=c-shared"}},
	} {
		if only != "" && only != target.os {
			continue
		}
		if err := compile(filepath.Join(out, target.file), target.os, append(target.flags, "-tags", tags),
			names); err != nil {
			return fmt.Errorf("%s: %w", target.os, err)
		}
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	glue, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "wasm_exec.js"), glue, 0o644)
}

// plain lists the packages in which the compiler does not inline functions: the project's own,
// which reduces the download by a tenth, and those of the standard library that become smaller too.
// Most become larger.
var plain = []string{
	"github.com/easel-canvas/easel/...", "fmt", "internal/fmtsort", "strings", "time", "regexp", "regexp/syntax",
}

func compile(file, goos string, flags []string, named bool) error {
	// The go command would consider a slimmed file up to date, so it writes to another directory.
	dir, err := os.MkdirTemp("", "easel-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	linked := filepath.Join(dir, "engine.wasm")
	args := append([]string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", linked}, flags...)
	for _, packages := range plain {
		args = append(args, "-gcflags="+packages+"=-l")
	}
	cmd := exec.Command("go", append(args, "./wasm")...)
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH=wasm")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	fat, err := os.ReadFile(linked)
	if err != nil {
		return err
	}
	if named {
		text, err := names(fat)
		if err != nil {
			return err
		}
		if err := os.WriteFile(file+".names", text, 0o644); err != nil {
			return err
		}
	}
	slim, err := slim(fat)
	if err != nil {
		return err
	}
	fmt.Printf("%-18s %d bytes, %d before it was slimmed\n", filepath.Base(file), len(slim), len(fat))
	return os.WriteFile(file, slim, 0o644)
}
