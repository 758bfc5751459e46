//go:build soak

package failure_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/wattest"
)

// The runaway emits a word, so that its reader sees that it runs, and never ends. The other one
// counts to 20,000.
const (
	runawayGuest = `(module (import "easel:host/v1" "emit" (func $emit (param i32 i32 i32) (result i32)))
		(memory (export "memory") 1) (data (i32.const 0) "on")
		(func (export "easel_invoke") (result i32)
			i32.const 1 i32.const 0 i32.const 2 call $emit drop loop $l br $l end i32.const 0))`
	countingGuest = `(module (import "easel:host/v1" "output_write" (func $write (param i32 i32)))
		(memory (export "memory") 1) (data (i32.const 0) "\22done\22")
		(func (export "easel_invoke") (result i32) (local $i i32)
			loop $l local.get $i i32.const 1 i32.add local.tee $i i32.const 20000 i32.lt_u br_if $l end
			i32.const 0 i32.const 6 call $write i32.const 0))`
)

// runawayPlugins compares, in turns, the runs of a plugin alone with its runs next to two plugins
// that compute endlessly for the same tenant.
func runawayPlugins(t *testing.T, bin programs) {
	w := embedded(t, bin)
	w.env = nil // the offline model
	for name, text := range map[string]string{"first": runawayGuest, "second": runawayGuest, "good": countingGuest} {
		w.install(name, wattest.Must(text))
	}
	h := w.start("a")
	graph := func(plugin string) string {
		return sketch.Canvas("begin Begin -> P", "P plugin:"+plugin+"@1 -> M", `M Message {"content": ["{P@text}"]}`)
	}
	good := w.canvas(graph("good"))
	bad := []string{w.canvas(graph("first")), w.canvas(graph("second"))}
	const each, turns = 25, 12
	took := map[bool][]time.Duration{}
	for range turns {
		for _, attacked := range []bool{false, true} {
			stop := func() {}
			if attacked {
				stop = w.runaways(h, bad)
			}
			for range each {
				began := time.Now()
				w.call("POST", h.url+"/api/v1/agents/"+good+"/completions", `{"question":"x","stream":false}`, nil)
				took[attacked] = append(took[attacked], time.Since(began))
			}
			stop()
		}
	}
	at := func(attacked bool, part float64) time.Duration {
		slices.Sort(took[attacked])
		return took[attacked][int(part*float64(len(took[attacked])-1))]
	}
	for _, part := range []float64{0.5, 0.99} {
		alone, beside := at(false, part), at(true, part)
		t.Logf("p%.0f of %d runs: alone %v, beside two runaways %v, %.2f times", 100*part, each*turns, alone, beside,
			float64(beside)/float64(alone))
	}
	require.Less(t, at(true, 0.99), 3*at(false, 0.99))
}

// install packs a module and installs it for the hosts of an embedded world.
func (w *world) install(name string, wasm []byte) {
	w.t.Helper()
	manifest := `{"abi":1,"name":"` + name + `","version":"1.0.0","description":"A guest.","streams":true}`
	packed, err := contract.WithSection(wasm, contract.ManifestSection, []byte(manifest))
	require.NoError(w.t, err)
	file := filepath.Join(w.dir, name+".wasm")
	require.NoError(w.t, os.WriteFile(file, packed, 0o600))
	plugins := filepath.Join(w.dir, "data", "plugins")
	out, err := exec.Command(w.bin.easel, "plugin", "install", file, "--plugins", plugins).CombinedOutput()
	require.NoError(w.t, err, string(out))
}

// runaways starts runs that compute without end, and returns the function that cancels them.
func (w *world) runaways(h *hostProcess, canvases []string) (stop func()) {
	var runs []string
	var readers []*reader
	for _, canvas := range canvases {
		run := w.run(h, canvas, "", "x")
		said := make(chan struct{})
		var once sync.Once
		readers = append(readers, w.follow(run, 0, func(e event) {
			if e.kind == "message" {
				once.Do(func() { close(said) })
			}
		}))
		<-said
		runs = append(runs, run)
	}
	return func() {
		for i, run := range runs {
			w.call("POST", h.url+"/api/v2/runs/"+run+"/cancel", "", nil)
			readers[i].wait()
			status, _ := w.status(run)
			require.Equal(w.t, "canceled", status, "it computed until now")
		}
	}
}
