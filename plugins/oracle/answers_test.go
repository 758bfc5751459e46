package oracle

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/plugins/meter"
)

// differs are the results that are expected to differ, with the reason. A line that is not needed
// any more fails.
var differs = map[string]string{
	"fs.wasm run_test":     "returns 1 without a message, which the official host takes for success",
	"fs_std.wasm run_test": "returns 1 without a message, which the official host takes for success",
}

// slow are results that a host returns only on a fast enough machine: equal, or one of them is out
// of time.
var slow = map[string]string{
	"alloc.wasm run_test": "takes the official host seconds, often past the deadline",
}

// skipped are fixtures that cannot be compared here.
var skipped = map[string]string{
	"http.wasm": "reaches the internet", "http_headers.wasm": "reaches the internet", "sleep.wasm": "sleeps for its timeout",
}

const words = "The official host counts vowels."

// TestSameAnswers calls every argument-less export of every fixture on both hosts.
func TestSameAnswers(t *testing.T) {
	same, seen := 0, map[string]bool{}
	for _, file := range fixtures(t) {
		name := filepath.Base(file)
		if why := skipped[name]; why != "" {
			t.Logf("%s: %s", name, why)
			continue
		}
		wasm, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, export := range exports(t, wasm) {
			key := name + " " + export
			theirs, known := askOfficial(t, wasm, export)
			if !known {
				t.Logf("%s: the official host does not load it either", key)
				break
			}
			mine := askOurs(t, wasm, export)
			why, expected := differs[key]
			seen[key] = true
			switch {
			case mine != theirs && slow[key] != "":
				t.Logf("%s: ours %s, official %s; %s", key, mine, theirs, slow[key])
			case mine == theirs && expected:
				t.Errorf("%s: both say %s; it is listed to differ: %s", key, mine, why)
			case mine != theirs && !expected:
				t.Errorf("%s: ours %s, official %s", key, mine, theirs)
			case mine == theirs:
				same++
			}
		}
	}
	for key := range differs {
		if !seen[key] {
			t.Errorf("%s is listed to differ and was not called", key)
		}
	}
	t.Logf("%d answers are the same, %d differ as listed", same, len(differs))
	if same < 20 {
		t.Errorf("only %d answers were compared", same)
	}
}

// exports lists the functions that a host may call.
func exports(t *testing.T, wasm []byte) []string {
	t.Helper()
	shape, err := meter.Inspect(wasm)
	if err != nil {
		t.Logf("not compared: %v", err)
		return nil
	}
	var out []string
	for _, e := range shape.Exports {
		f, ok := shape.Func(e.Name)
		if ok && e.Kind == meter.KindFunc && len(f.Params) == 0 && len(f.Results) < 2 && !strings.HasPrefix(e.Name, "_") && e.Name != "hs_init" && len(out) < 6 {
			out = append(out, e.Name)
		}
	}
	slices.Sort(out)
	return out
}

func askOfficial(t *testing.T, wasm []byte, export string) (string, bool) {
	t.Helper()
	p, err := official(t, wasm, 2*time.Second)
	if err != nil {
		return "", false
	}
	_, out, err := p.Call(export, []byte(words))
	return told(out, err), true
}

func askOurs(t *testing.T, wasm []byte, export string) string {
	t.Helper()
	m, err := ours(t, wasm, export)
	if err != nil {
		return "not loaded: " + err.Error()
	}
	res, err := m.Call(context.Background(), plugin.CallRequest{Export: export, Input: []byte(words), Timeout: 2 * time.Second})
	return told(res.Output, err)
}

// told returns a result for comparison: the output, or the fact of an error. Texts of errors
// differ.
func told(out []byte, err error) string {
	if err != nil {
		return "an error"
	}
	if len(out) > 100 {
		return fmt.Sprintf("%d bytes, %s…", len(out), hex.EncodeToString(out[:16]))
	}
	return fmt.Sprintf("%q", out)
}
