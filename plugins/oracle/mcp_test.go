package oracle

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/cli/pluginkit"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/plugins/contract"
)

// TestHyperMCPPluginSameAnswers adapts a plugin of hyper-mcp and compares the results of its tools
// with those of the same exports in the official host.
func TestHyperMCPPluginSameAnswers(t *testing.T) {
	ctx := context.Background()
	wasm := guest(t, "hypermcp")
	h, err := plugin.New(ctx, plugin.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close(ctx) })
	adapted, err := pluginkit.AdaptMCP(ctx, h, wasm, pluginkit.Adaption{Name: "words", Version: "1.0.0"}, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(adapted) != 3 {
		t.Fatalf("%d plugins, want one for each of three tools", len(adapted))
	}
	p, err := official(t, wasm, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"count_words", "shout", "broken"} {
		args := engine.Object("text", "żółw and crab")
		request := engine.Object("request", engine.Object("name", name, "arguments", args), "context",
			engine.Object("id", "c1", "_meta", engine.Object()))
		_, raw, err := p.Call("call_tool", request.AppendJSON(nil))
		if err != nil {
			t.Fatal(err)
		}
		m, err := h.Load(ctx, adapted[i].Wasm, plugin.LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var emitted []contract.Emission
		in := plugin.Invocation{ID: "c1", Arguments: args}
		in.Emit = func(_ context.Context, e contract.Emission) error { emitted = append(emitted, e); return nil }
		got, err := m.Invoke(ctx, in)
		if name == "count_words" && (len(emitted) != 1 || emitted[0].Pct != 50) {
			t.Errorf("%v, want a progress of 50 percent", emitted)
		}
		checkToolResult(t, name, raw, got.Outputs, err)
		_ = m.Close(ctx)
	}
}

// checkToolResult compares the outputs of a plugin with the tool result that the official host got.
func checkToolResult(t *testing.T, name string, raw []byte, outputs engine.Value, failed error) {
	t.Helper()
	var want struct {
		Content []struct{ Type, Text string }
		IsError bool
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	if want.IsError {
		if !errors.Is(failed, contract.Internal) {
			t.Errorf("%s: %v, want the error of the tool", name, failed)
		}
		return
	}
	v, err := engine.ParseJSON(raw)
	if err != nil || failed != nil {
		t.Fatalf("%s: %v, %v", name, err, failed)
	}
	if outputs.Get("text").Str() != want.Content[0].Text {
		t.Errorf("%s: text %s, want %q", name, outputs.JSON(), want.Content[0].Text)
	}
	if !engine.Equal(outputs.Get("structured"), v.Get("structuredContent")) {
		t.Errorf("%s: structured %s, want %s", name, outputs.JSON(), v.JSON())
	}
	if n := outputs.Get("content").Len(); n != len(want.Content)-1 {
		t.Errorf("%s: %d parts beside the text, want %d", name, n, len(want.Content)-1)
	}
}
