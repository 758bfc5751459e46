package plugin

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
	jsplugin "github.com/easel-canvas/easel/plugins/js"
)

// BenchmarkEcho measures the way in and out of a warm instance.
func BenchmarkEcho(b *testing.B) {
	h := newHost(b, Config{})
	for _, guest := range []struct {
		name   string
		module *Module
		export string
	}{
		{"tiny", load(b, h, echo, map[string]any{"limits": map[string]any{"memory_mb": 8}}), ""},
		{"go", loadGo(b, h), "echo"},
	} {
		for _, size := range []int{1 << 10, 1 << 20} {
			b.Run(fmt.Sprintf("%s/%dKB", guest.name, size>>10), func(b *testing.B) {
				benchCall(b, guest.module, guest.export, bytes.Repeat([]byte("x"), size))
			})
		}
	}
	b.Run("fresh/1KB", func(b *testing.B) {
		benchCall(b, load(b, h, echo, map[string]any{"state": "none"}), "", make([]byte, 1<<10))
	})
}

// BenchmarkInvoke is JSON in, JSON out, once as bytes and once with the messages
// of the contract made and checked.
func BenchmarkInvoke(b *testing.B) {
	m := loadGo(b, newHost(b, Config{}))
	params := map[string]any{"text": strings.Repeat("a", 900), "n": 3.0, "list": []any{"a", "b"}}
	raw, err := json.Marshal(map[string]any{"abi": 1, "params": params})
	require.NoError(b, err)
	b.Run("bytes/1KB", func(b *testing.B) { benchCall(b, m, "", raw) })
	b.Run("messages/1KB", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, err := m.Invoke(context.Background(), Invocation{Params: engine.FromGo(params)})
			require.NoError(b, err)
		}
	})
}

// BenchmarkCPU compares SHA-256 of a megabyte in a metered guest, in the same
// guest as it came, and in Go itself.
func BenchmarkCPU(b *testing.B) {
	in := bytes.Repeat([]byte("easel "), 1<<20/6)
	b.Run("metered", func(b *testing.B) { benchCall(b, loadGo(b, newHost(b, Config{})), "hash", in) })
	b.Run("plain", func(b *testing.B) {
		call := plainGuest(b, in)
		for b.Loop() {
			call()
		}
	})
	b.Run("native", func(b *testing.B) {
		for b.Loop() {
			sha256.Sum256(in)
		}
	})
}

// BenchmarkLanguages is the same guest in each language of the SDKs: a message of 1 KB read and
// written as JSON on a warm instance, and what a new instance costs. best-us is the fastest one,
// which other programs disturbed least.
func BenchmarkLanguages(b *testing.B) {
	input, err := json.Marshal(map[string]any{
		"abi": 1, "call": map[string]any{"id": "c", "deadline_ms": 1000}, "params": map[string]any{"text": strings.Repeat("word ", 180), "list": []any{1.5, "b", nil}},
	})
	require.NoError(b, err)
	h := newHost(b, Config{FreshUnder: -1})
	guests := goldenGuests(b)
	guests["js"], err = jsplugin.Build([]byte("export default (call) => ({ params: call.params, call: call.info })"))
	require.NoError(b, err)
	for language, wasm := range guests {
		packed := pack(b, wasm, map[string]any{"name": "golden"})
		m, err := h.Load(context.Background(), packed, LoadOptions{undescribed: true})
		require.NoError(b, err)
		b.Run(language+"/invoke-1KB", func(b *testing.B) { benchCall(b, m, "", input) })
		b.Run(language+"/fresh-1KB", func(b *testing.B) {
			h := newHost(b, Config{FreshUnder: time.Hour})
			packed := pack(b, wasm, map[string]any{"name": "golden", "state": "none"})
			fresh, err := h.Load(context.Background(), packed, LoadOptions{undescribed: true})
			require.NoError(b, err)
			benchCall(b, fresh, "", input)
		})
		b.Run(language+"/instance", func(b *testing.B) {
			var best fastest
			for b.Loop() {
				began := time.Now()
				g, err := m.instantiate(context.Background(), "", time.Minute, false)
				best.note(began)
				require.NoError(b, err)
				g.close()
			}
			best.report(b)
			b.ReportMetric(float64(len(wasm))/1024, "KB")
		})
	}
}

func loadGo(b *testing.B, h *Host) *Module {
	m, err := h.Load(context.Background(), pack(b, goGuest(b, "goguest"), nil), LoadOptions{})
	require.NoError(b, err)
	return m
}

func benchCall(b *testing.B, m *Module, export string, input []byte) {
	ctx := context.Background()
	req := CallRequest{Export: export, Input: input}
	_, err := m.Call(ctx, req)
	require.NoError(b, err)
	b.ReportAllocs()
	b.SetBytes(int64(len(input)))
	var best fastest
	for b.Loop() {
		began := time.Now()
		_, err := m.Call(ctx, req)
		best.note(began)
		if err != nil {
			b.Fatal(err)
		}
	}
	best.report(b)
}

// fastest is the time of the fastest round so far.
type fastest time.Duration

func (f *fastest) note(began time.Time) {
	if took := fastest(time.Since(began)); *f == 0 || took < *f {
		*f = took
	}
}

func (f fastest) report(b *testing.B) {
	b.ReportMetric(float64(f)/float64(time.Microsecond), "best-us")
}

// plainGuest runs the hash of the Go guest without meter and without host.
func plainGuest(b *testing.B, in []byte) func() {
	ctx := context.Background()
	rt := wazero.NewRuntime(ctx)
	b.Cleanup(func() { require.NoError(b, rt.Close(ctx)) })
	_, err := bindImports(ctx, rt)
	require.NoError(b, err)
	m := &Module{host: newHost(b, Config{}), manifest: &contract.Manifest{}, limits: contract.DefaultLimits}
	wasm := goGuest(b, "goguest")
	require.NoError(b, m.read(wasm))
	g := &guest{m: m, exports: map[string]export{}}
	g.ctx = guestContext{Context: ctx, g: g}
	mod, err := rt.InstantiateWithConfig(&g.ctx, wasm, g.wasiConfig())
	require.NoError(b, err)
	_, err = mod.ExportedFunction("_initialize").Call(&g.ctx)
	require.NoError(b, err)
	f := mod.ExportedFunction("hash")
	return func() {
		g.state = state{req: CallRequest{}, input: in}
		_, err := f.Call(&g.ctx)
		require.NoError(b, err)
		require.Len(b, g.output, sha256.Size)
	}
}
