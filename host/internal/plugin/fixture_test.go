package plugin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/wattest"
)

// patience bounds waits that only a hang exceeds, however busy the machine is.
const patience = 5 * time.Minute

// newHost makes a host that is closed with the test. Its limits of time are patience, unless the
// test sets them: a busy machine exceeds the default ones.
func newHost(t testing.TB, cfg Config) *Host {
	t.Helper()
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	cfg.Limits.TimeoutMS = cmp.Or(cfg.Limits.TimeoutMS, int(patience.Milliseconds()))
	cfg.StartWait = cmp.Or(cfg.StartWait, patience)
	cfg.QueueWait = cmp.Or(cfg.QueueWait, patience)
	h, err := New(context.Background(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close(context.Background())) })
	return h
}

// pack puts a manifest into a module; fields are laid over a minimal one.
func pack(t testing.TB, wasm []byte, fields map[string]any) []byte {
	t.Helper()
	m := map[string]any{"abi": 1, "name": "sample", "version": "1.0.0", "description": "A sample.", "state": "tenant"}
	for k, v := range fields {
		m[k] = v
	}
	raw, err := json.Marshal(m)
	require.NoError(t, err)
	name := contract.ManifestSection
	content := append(append([]byte{byte(len(name))}, name...), raw...)
	return append(bytes.Clone(wasm), wattest.Section(0, content)...) // WithSection refuses hostile modules
}

// load assembles, packs and loads a guest, and grants all permissions that it requests.
func load(t testing.TB, h *Host, text string, fields map[string]any) *Module {
	t.Helper()
	m, err := h.Load(context.Background(), pack(t, wattest.Must(text), fields),
		LoadOptions{Granted: contract.Everything()})
	require.NoError(t, err)
	return m
}

// both runs a test with compiled and with interpreted modules.
func both(t *testing.T, name string, run func(t *testing.T, o LoadOptions)) {
	t.Run(name, func(t *testing.T) { run(t, LoadOptions{Granted: contract.Everything()}) })
	t.Run(name+", interpreted", func(t *testing.T) {
		run(t, LoadOptions{Granted: contract.Everything(), Source: Builtin, Interpret: true})
	})
}

const importAll = wattest.Imports

// echo returns its input.
const echo = `(module` + importAll + `
	(func (export "easel_invoke") (result i32) (local $n i32)
		call $input_len local.set $n
		local.get $n i32.const 65535 i32.add i32.const 16 i32.shr_u memory.size i32.sub local.tee $n
		i32.const 0 i32.gt_s if local.get $n memory.grow drop end
		call $input_len local.set $n
		i32.const 0 i32.const 0 local.get $n call $input_read call $output_write
		i32.const 0))`

// relay passes its input to call and returns the answer; a cancelled call has the output
// "cancelled".
const relay = `(module` + importAll + `
	(data (i32.const 60000) "cancelled")
	(func (export "easel_invoke") (result i32) (local $n i32)
		i32.const 0
		i32.const 0 i32.const 0 i32.const 30000 call $input_read
		call $call local.tee $n
		i32.const -1 i32.eq if
			i32.const 60000 i32.const 9 call $output_write
		else
			i32.const 0
			i32.const 0 i32.const 59000 call $result_read
			call $output_write
		end
		i32.const 0))`

// goGuest builds testdata/name once for all tests of the process.
func goGuest(t testing.TB, name string) []byte { return builtGo(t, ".", "./testdata/"+name) }

// sdkGuest builds a guest of the Go SDK's module, which is the one that requires the PDK.
func sdkGuest(t testing.TB, name string) []byte {
	return builtGo(t, filepath.Join(contractDir, "../sdk"), "./testdata/"+name)
}

// builtGo builds a Go guest once for all tests of the process.
func builtGo(t testing.TB, dir, pkg string) []byte {
	t.Helper()
	guests.mu.Lock()
	defer guests.mu.Unlock()
	key := dir + " " + pkg
	if b, ok := guests.built[key]; ok {
		return b
	}
	out := filepath.Join(t.TempDir(), "guest.wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-o", out, pkg)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	msg, err := cmd.CombinedOutput()
	require.NoError(t, err, string(msg))
	b, err := os.ReadFile(out)
	require.NoError(t, err)
	guests.built[key] = b
	return b
}

var guests = struct {
	mu    sync.Mutex
	built map[string][]byte
}{built: map[string][]byte{}}

func is(err error, code contract.Code) bool { return errors.Is(err, code) }
