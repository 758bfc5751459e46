package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/engine/enginetest"
)

// guest is the module under wazero, with its last output.
type guest struct {
	t      testing.TB
	module api.Module
	done   map[uint32]answer
	events []string
	calls  []string
}

type answer struct {
	ok   bool
	text string
}

// build makes the module for WASI as it is shipped, with the players of cases inside.
func build(t testing.TB) []byte {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("go", "run", "./build/module", "-only", "wasip1", "-tags", "conformance", "-out", dir)
	cmd.Dir = ".."
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	wasm, err := os.ReadFile(filepath.Join(dir, "engine.wasi.wasm"))
	require.NoError(t, err)
	return wasm
}

// boot starts the module.
func boot(t testing.TB) *guest {
	t.Helper()
	ctx := context.Background()
	rt := wazero.NewRuntime(ctx)
	t.Cleanup(func() { _ = rt.Close(ctx) })
	wasi_snapshot_preview1.MustInstantiate(ctx, rt)
	g := &guest{t: t, done: map[uint32]answer{}}
	read := func(m api.Module, ptr, size uint32) string {
		text, ok := m.Memory().Read(ptr, size)
		require.True(t, ok)
		return string(text)
	}
	_, err := rt.NewHostModuleBuilder("easel").
		NewFunctionBuilder().WithFunc(func(_ context.Context, m api.Module, _, ptr, size uint32) {
		g.events = append(g.events, strings.Split(read(m, ptr, size), "\n")...)
	}).Export("emit").
		NewFunctionBuilder().WithFunc(func(_ context.Context, m api.Module, _, _, ptr, size uint32) {
		g.calls = append(g.calls, read(m, ptr, size))
	}).Export("call").
		NewFunctionBuilder().WithFunc(func(_ context.Context, m api.Module, id, ok, ptr, size uint32) {
		g.done[id] = answer{ok != 0, read(m, ptr, size)}
	}).Export("done").
		Instantiate(ctx)
	require.NoError(t, err)
	config := wazero.NewModuleConfig().WithStartFunctions("_initialize").WithSysNanotime().WithSysWalltime()
	g.module, err = rt.InstantiateWithConfig(ctx, build(t), config)
	require.NoError(t, err)
	return g
}

// put writes a text into the module.
func (g *guest) put(text string) (ptr, size uint64) {
	res, err := g.module.ExportedFunction("alloc").Call(context.Background(), uint64(len(text)))
	require.NoError(g.t, err)
	require.True(g.t, g.module.Memory().Write(uint32(res[0]), []byte(text)))
	return res[0], uint64(len(text))
}

// say calls an export that takes numbers and one text.
func (g *guest) say(export, text string, args ...uint64) {
	ptr, size := g.put(text)
	_, err := g.module.ExportedFunction(export).Call(context.Background(), append(args, ptr, size)...)
	require.NoError(g.t, err)
}

func registry(t testing.TB) *engine.Registry {
	t.Helper()
	reg, err := engine.NewRegistry(append(component.Builtin(), enginetest.EchoToolSpec())...)
	require.NoError(t, err)
	return reg
}

// TestConformanceUnderWASI plays every case of the engine inside the module. The observation must
// have the same bytes as natively, and match the case. One node at a time, because goroutines of
// one batch may finish in another order.
func TestConformanceUnderWASI(t *testing.T) {
	paths, err := filepath.Glob("../engine/testdata/cases/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	g := boot(t)
	for i, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".json"), func(t *testing.T) {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			c, err := enginetest.ParseCase(text)
			require.NoError(t, err)
			player := enginetest.Player{Registry: registry(t), Concurrency: 1}
			native, err := player.Play(t.Context(), c)
			require.NoError(t, err)

			id := uint32(i + 1)
			g.say("load", `{"op":"play","concurrency":1}`+"\n"+string(text), uint64(id))
			require.True(t, g.done[id].ok, g.done[id].text)
			seen, err := engine.ParseJSONText(g.done[id].text)
			require.NoError(t, err)
			require.Equal(t, g.done[id].text, seen.JSON(), "what was sent is what was parsed")
			require.Empty(t, firstDifference(inOrder(native).JSON(), inOrder(seen).JSON()))
			require.Empty(t, enginetest.Compare(c.Value(), seen))
		})
	}
}

// inOrder sorts the traces of tools that an agent called at the same time; everything else has a
// fixed order.
func inOrder(observed engine.Value) engine.Value {
	var runs []engine.Value
	for _, run := range observed.Get("runs").Elements() {
		var trace []engine.Value
		for _, entry := range run.Get("tool_trace").Elements() {
			trace = append(trace, entry)
		}
		slices.SortFunc(trace, func(a, b engine.Value) int { return strings.Compare(a.JSON(), b.JSON()) })
		runs = append(runs, run.With("tool_trace", engine.List(trace...)))
	}
	return observed.With("runs", engine.List(runs...))
}

// firstDifference returns the first position at which two texts differ, with its context; "" when
// they are equal.
func firstDifference(want, seen string) string {
	if want == seen {
		return ""
	}
	at := 0
	for at < min(len(want), len(seen)) && want[at] == seen[at] {
		at++
	}
	around := func(s string) string { return s[max(0, at-60):min(len(s), at+60)] }
	return fmt.Sprintf("byte %d: native %q, module %q", at, around(want), around(seen))
}
