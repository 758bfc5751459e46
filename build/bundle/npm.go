package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

// npm builds the package of wasm/js into its dist folder: one plain module per entry, types by tsc, and the engine
// beside them when it has been built.
func (b bundler) npm() error {
	dir := b.abs("wasm/js")
	out := filepath.Join(dir, "dist")
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	options := b.options()
	options.AbsWorkingDir, options.Outdir = dir, out
	options.MinifyWhitespace, options.MinifyIdentifiers = false, false
	options.Sourcemap, options.LegalComments = api.SourceMapNone, api.LegalCommentsEndOfFile
	options.ChunkNames, options.AssetNames = "parts/[hash]", "parts/[name]"
	// What an entry loads only when it is used lies in parts. Everything else must stand where import.meta.url is that
	// of the file which asks, so entries share nothing.
	options.Splitting = true
	options.EntryPointsAdvanced = []api.EntryPoint{{InputPath: "src/browser.ts", OutputPath: "browser"}}
	if _, err := b.build(options); err != nil {
		return err
	}
	options.Splitting = false
	options.EntryPointsAdvanced = []api.EntryPoint{
		{InputPath: "src/worker.browser.ts", OutputPath: "worker"},
		{InputPath: "src/state.ts", OutputPath: "state"},
		{InputPath: "src/model/scripted.ts", OutputPath: "model/scripted"},
		{InputPath: "src/model/record.ts", OutputPath: "model/record"},
		{InputPath: "src/model/openai.ts", OutputPath: "model/openai"},
		{InputPath: "src/model/proxy.ts", OutputPath: "model/proxy"},
		{InputPath: "src/code/runner.ts", OutputPath: "code/runner"},
		{InputPath: "src/code/worker.ts", OutputPath: "code/worker"},
		{InputPath: "src/plugin/kernel.browser.ts", OutputPath: "plugin"},
	}
	if _, err := b.build(options); err != nil {
		return err
	}
	options.Platform, options.Splitting = api.PlatformNode, true
	options.EntryPointsAdvanced = []api.EntryPoint{{InputPath: "src/node.ts", OutputPath: "node"}}
	if _, err := b.build(options); err != nil {
		return err
	}
	options.Splitting = false
	options.EntryPointsAdvanced = []api.EntryPoint{
		{InputPath: "src/worker.node.ts", OutputPath: "worker.node"},
		{InputPath: "src/plugin/kernel.node.ts", OutputPath: "plugin.node"},
	}
	if _, err := b.build(options); err != nil {
		return err
	}
	license, err := os.ReadFile(b.abs("LICENSE"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "LICENSE"), license, 0o644); err != nil {
		return err
	}
	for _, file := range []string{"engine.wasm", "wasm_exec.js"} {
		text, err := os.ReadFile(filepath.Join(b.wasm, file))
		if errors.Is(err, fs.ErrNotExist) {
			continue // the module is built by its own step
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, file), text, 0o644); err != nil {
			return err
		}
	}
	tsc := exec.Command(filepath.Join("node_modules", ".bin", "tsc"), "-p", "tsconfig.types.json")
	tsc.Dir, tsc.Stdout, tsc.Stderr = dir, os.Stdout, os.Stderr
	return tsc.Run()
}
