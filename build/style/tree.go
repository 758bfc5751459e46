package main

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"strings"
)

// tree contains the tracked files of the repository by path.
type tree map[string][]byte

// tracked reads the tracked source and document files.
func tracked() (tree, error) {
	names, err := trackedNames()
	if err != nil {
		return nil, err
	}
	files := tree{}
	for _, name := range names {
		if !ours(name) {
			continue
		}
		data, err := os.ReadFile(name)
		if os.IsNotExist(err) {
			continue // deleted, not yet committed
		}
		if err != nil {
			return nil, err
		}
		files[name] = data
	}
	return files, nil
}

// trackedNames returns the names of all files that git tracks or would add.
func trackedNames() ([]string, error) {
	out, err := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 }), nil
}

// ours reports whether a file is written manually in a language that the rules cover.
func ours(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if part == "testdata" || part == "dist" || part == "generated.ts" {
			return false
		}
	}
	switch path.Ext(name) {
	case ".go", ".ts", ".tsx", ".mjs", ".md", ".css":
		return true
	}
	return false
}

func isCode(name string) bool {
	ext := path.Ext(name)
	return ext == ".go" || ext == ".ts" || ext == ".tsx" || ext == ".mjs"
}

func isTest(name string) bool {
	return strings.HasSuffix(name, "_test.go") || strings.Contains("/"+name, "/test/")
}

// product returns the Go files that are not tests.
func (t tree) product() tree {
	out := tree{}
	for name, data := range t {
		if path.Ext(name) == ".go" && !isTest(name) {
			out[name] = data
		}
	}
	return out
}

// typeScript returns the TypeScript and AssemblyScript files that are neither tests nor templates
// of new plugins.
func (t tree) typeScript() tree {
	out := tree{}
	for name, data := range t {
		typed := strings.HasSuffix(name, ".ts") && !strings.HasSuffix(name, ".d.ts") || strings.HasSuffix(name, ".tsx")
		if typed && !isTest(name) && !strings.Contains(name, "/scaffolds/") {
			out[name] = data
		}
	}
	return out
}
