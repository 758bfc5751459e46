package oracle

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	extism "github.com/extism/go-sdk"

	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/plugins/contract"
)

// built compiles the guests once for all tests.
var built = sync.OnceValues(func() (map[string][]byte, error) {
	dir, err := os.MkdirTemp("", "oracle-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := map[string][]byte{}
	for _, name := range []string{"extism", "bulk", "hypermcp"} {
		file := filepath.Join(dir, name+".wasm")
		cmd := exec.Command("go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-o", file, "./guest/"+name)
		cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOWORK=off")
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			return nil, err
		}
		if out[name], err = os.ReadFile(file); err != nil {
			return nil, err
		}
	}
	return out, examples(out, dir)
})

// examples adds those of ../examples: one is built here, the others are checked in as compiled
// modules.
func examples(out map[string][]byte, dir string) (err error) {
	file := filepath.Join(dir, "weather.wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-o", file, "./weather")
	cmd.Dir, cmd.Env, cmd.Stderr = "../examples", append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOWORK=off"), os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	for name, file := range map[string]string{
		"weather": file, "typewriter": "../examples/typewriter/typewriter.wasm", "table": "../examples/table/table.wasm",
	} {
		if out[name], err = os.ReadFile(file); err != nil {
			return err
		}
	}
	return nil
}

func guest(t testing.TB, name string) []byte {
	t.Helper()
	all, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return all[name]
}

// official loads a module into the official host. A timeout enables its interruption.
func official(t testing.TB, wasm []byte, timeout time.Duration) (*extism.Plugin, error) {
	t.Helper()
	manifest := extism.Manifest{
		Wasm: []extism.Wasm{extism.WasmData{Data: wasm}}, Config: map[string]string{"thing": "hello"},
		Timeout: uint64(timeout.Milliseconds()),
	}
	notify := extism.NewHostFunctionWithStack("notify_progress",
		func(context.Context, *extism.CurrentPlugin, []uint64) {}, []extism.ValueType{extism.ValueTypePTR}, nil)
	p, err := extism.NewPlugin(context.Background(), manifest, extism.PluginConfig{EnableWasi: true},
		[]extism.HostFunction{notify})
	if err == nil {
		p.SetLogger(func(extism.LogLevel, string) {})
		t.Cleanup(func() { _ = p.Close(context.Background()) })
	}
	return p, err
}

// ours loads a module into our host. Its manifest names the export that is called.
func ours(t testing.TB, wasm []byte, export string) (*plugin.Module, error) {
	t.Helper()
	h, err := plugin.New(context.Background(), plugin.Config{Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close(context.Background()) })
	return h.Load(context.Background(), wasm, plugin.LoadOptions{
		Manifest: fixtureManifest(export),
		Settings: map[string]string{"thing": "hello"},
	})
}

// fixtureManifest replaces the manifest that foreign modules lack.
func fixtureManifest(export string) *contract.Manifest {
	m := &contract.Manifest{
		ABI: contract.ABI, Name: "fixture", Version: "1.0.0",
		Description: "A fixture.", State: contract.StateTenant, Entry: &contract.Entry{Export: export},
	}
	if m.Command() {
		m.State = contract.StateNone
	}
	return m
}

// fixtures are the test plugins of the official host.
func fixtures(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/extism/go-sdk").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "wasm", "*.wasm"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	return files
}

// packed adds to a module the manifest that it describes, or else that of a fixture.
func packed(t testing.TB, wasm []byte) []byte {
	t.Helper()
	h, err := plugin.New(context.Background(), plugin.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Close(context.Background()) }()
	manifest, err := h.Describe(context.Background(), wasm)
	if errors.Is(err, contract.NotFound) {
		manifest, err = json.Marshal(fixtureManifest("easel_invoke"))
	}
	if err == nil {
		wasm, err = contract.WithSection(wasm, contract.ManifestSection, manifest)
	}
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}
