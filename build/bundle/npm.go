package main

import (
	"os"
	"os/exec"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

// Entries of the package by platform, besides the main ones.
var (
	browserEntries = []api.EntryPoint{
		{InputPath: "src/worker.browser.ts", OutputPath: "worker"},
		{InputPath: "src/state.ts", OutputPath: "state"},
		{InputPath: "src/model/scripted.ts", OutputPath: "model/scripted"},
		{InputPath: "src/model/record.ts", OutputPath: "model/record"},
		{InputPath: "src/model/openai.ts", OutputPath: "model/openai"},
		{InputPath: "src/model/proxy.ts", OutputPath: "model/proxy"},
		{InputPath: "src/code/runner.ts", OutputPath: "code/runner"},
		{InputPath: "src/code/worker.ts", OutputPath: "code/worker"},
		{InputPath: "src/code/python.ts", OutputPath: "code/python"},
		{InputPath: "src/code/python.worker.ts", OutputPath: "code/python.worker"},
		{InputPath: "src/plugin/kernel.browser.ts", OutputPath: "plugin"},
	}
	nodeEntries = []api.EntryPoint{
		{InputPath: "src/worker.node.ts", OutputPath: "worker.node"},
		{InputPath: "src/plugin/kernel.node.ts", OutputPath: "plugin.node"},
	}
)

// npm builds the package of wasm/js into its dist folder: one module per entry, types by tsc, and
// the engine if it has been built.
func (b bundler) npm() error {
	dir := b.abs("wasm/js")
	out := filepath.Join(dir, "dist")
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := b.modules(dir, out); err != nil {
		return err
	}
	if err := b.copyInto(out); err != nil {
		return err
	}
	tsc := exec.Command(filepath.Join("node_modules", ".bin", "tsc"), "-p", "tsconfig.types.json")
	tsc.Dir, tsc.Stdout, tsc.Stderr = dir, os.Stdout, os.Stderr
	return tsc.Run()
}

// modules builds the entries of the package in dir into out.
func (b bundler) modules(dir, out string) error {
	options := b.options()
	options.AbsWorkingDir, options.Outdir = dir, out
	options.MinifyWhitespace, options.MinifyIdentifiers = false, false
	options.Sourcemap, options.LegalComments = api.SourceMapNone, api.LegalCommentsEndOfFile
	options.ChunkNames, options.AssetNames = "parts/[hash]", "parts/[name]"
	for _, part := range []struct {
		platform api.Platform
		// Code that an entry loads on demand is split into chunks. All other code must remain in
		// its entry because import.meta.url must be that of the entry, so entries share no chunks.
		lazy    bool
		entries []api.EntryPoint
	}{
		{api.PlatformBrowser, true, []api.EntryPoint{{InputPath: "src/browser.ts", OutputPath: "browser"}}},
		{api.PlatformBrowser, false, browserEntries},
		{api.PlatformNode, true, []api.EntryPoint{{InputPath: "src/node.ts", OutputPath: "node"}}},
		{api.PlatformNode, false, nodeEntries},
	} {
		options.Platform, options.Splitting, options.EntryPointsAdvanced = part.platform, part.lazy, part.entries
		if _, err := b.build(options); err != nil {
			return err
		}
	}
	return nil
}

// copyInto copies the licences, and the engine if it has been built, which is a separate step.
func (b bundler) copyInto(out string) error {
	files := map[string]string{
		b.abs("LICENSE"): filepath.Join(out, "LICENSE"),
		b.abs("build/licences/lists/package.txt"): filepath.Join(out, "THIRD-PARTY.txt"),
	}
	for _, name := range []string{"engine.wasm", "wasm_exec.js"} {
		if path := filepath.Join(b.wasm, name); exists(path) {
			files[path] = filepath.Join(out, name)
		}
	}
	return copyFiles(files)
}
