package main

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// result lists the files written by one build, from the metafile of esbuild. Paths are relative to
// the page's folder and use slashes.
type result struct {
	outputs map[string]output
	data    string // file that the scripts fetch at once
}

type output struct {
	Bytes      int    `json:"bytes"`
	EntryPoint string `json:"entryPoint"`
	CSSBundle  string `json:"cssBundle"`
	Inputs     map[string]struct {
		Bytes int `json:"bytesInOutput"`
	} `json:"inputs"`
	Imports []struct {
		Path string `json:"path"`
		Kind string `json:"kind"`
	} `json:"imports"`
}

// build runs esbuild and joins its messages to one error.
func (b bundler) build(options api.BuildOptions) (*result, error) {
	res := api.Build(options)
	if len(res.Errors) > 0 {
		lines := api.FormatMessages(res.Errors, api.FormatMessagesOptions{Kind: api.ErrorMessage})
		return nil, errors.New(strings.Join(lines, "\n"))
	}
	var meta struct {
		Outputs map[string]output `json:"outputs"`
	}
	if err := json.Unmarshal([]byte(res.Metafile), &meta); err != nil {
		return nil, err
	}
	m := &result{outputs: map[string]output{}}
	relative := func(path string) string {
		rel, err := filepath.Rel(options.Outdir, filepath.Join(options.AbsWorkingDir, path))
		if err != nil {
			return path
		}
		return filepath.ToSlash(rel)
	}
	for path, out := range meta.Outputs {
		for i := range out.Imports {
			out.Imports[i].Path = relative(out.Imports[i].Path)
		}
		if out.CSSBundle != "" {
			out.CSSBundle = relative(out.CSSBundle)
		}
		m.outputs[relative(path)] = out
	}
	if b.packages != nil {
		m.packages(b.packages)
	}
	return m, nil
}

// packages adds the npm packages that the build contains to names: folders of node_modules, such as
// @xyflow/react.
func (m *result) packages(names map[string]bool) {
	const modules = "node_modules/"
	for _, out := range m.outputs {
		for path, input := range out.Inputs {
			at := strings.LastIndex(path, modules)
			if at < 0 || input.Bytes == 0 {
				continue
			}
			parts := strings.SplitN(path[at+len(modules):], "/", 3)
			if strings.HasPrefix(parts[0], "@") {
				parts[0] += "/" + parts[1]
			}
			names[parts[0]] = true
		}
	}
}

// main returns the file with this extension for the build's entry.
func (m *result) main(ext string) string {
	for name, out := range m.outputs {
		if out.EntryPoint == "" {
			continue
		}
		if ext == ".css" && out.CSSBundle != "" {
			return out.CSSBundle
		}
		if strings.HasSuffix(name, ext) && !strings.Contains(filepath.Base(name), "part-") {
			return name
		}
	}
	return ""
}

// initial lists the scripts that the page needs before its first render: the entry and its static
// imports.
func (m *result) initial() []string {
	var names []string
	seen := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		names = append(names, name)
		for _, each := range m.outputs[name].Imports {
			if each.Kind == "import-statement" {
				visit(each.Path)
			}
		}
	}
	visit(m.main(".js"))
	return names
}
