package oracle

import (
	"context"
	"encoding/base64"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/plugins/contract"
)

// TestAdaptedFormsSameAnswers runs every export of every fixture as a plugin with the entry that
// `easel plugin adapt` writes, in each form: the outputs equal those of the official host.
func TestAdaptedFormsSameAnswers(t *testing.T) {
	h, err := plugin.New(context.Background(), plugin.Config{
		CacheDir: t.TempDir(), Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close(context.Background()) })
	same := 0
	for _, file := range fixtures(t) {
		name := filepath.Base(file)
		if skipped[name] != "" {
			continue
		}
		wasm, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, export := range exports(t, wasm) {
			key := name + " " + export
			if differs[key] != "" || slow[key] != "" {
				continue
			}
			p, err := official(t, wasm, 2*time.Second)
			if err != nil {
				break
			}
			_, theirs, failed := p.Call(export, []byte(words))
			for _, form := range []contract.Form{contract.FormText, contract.FormBytes, contract.FormJSON} {
				if checkForm(t, h, wasm, key, contract.Entry{Export: export, Output: form}, theirs, failed) {
					same++
				}
			}
		}
	}
	t.Logf("%d answers of adapted plugins are the same", same)
	if same < 60 {
		t.Errorf("only %d answers were compared", same)
	}
}

// checkForm compares an answer of an adapted plugin with that of the official host.
func checkForm(t *testing.T, h *plugin.Host, wasm []byte, key string, entry contract.Entry, theirs []byte, failed error,
) bool {
	t.Helper()
	// The input has the form of the output where that is text or bytes.
	input := engine.Object(contract.EntryInput, words)
	if entry.Output == contract.FormBytes {
		entry.Input = contract.FormBytes
		input = engine.Object(contract.EntryInput, base64.StdEncoding.EncodeToString([]byte(words)))
	}
	m := fixtureManifest(entry.Export)
	m.Entry = &entry
	loaded, err := h.Load(context.Background(), wasm, plugin.LoadOptions{
		Manifest: m, Settings: map[string]string{"thing": "hello"},
	})
	if err != nil {
		t.Errorf("%s: %v", key, err)
		return false
	}
	defer func() { _ = loaded.Close(context.Background()) }()
	answer, err := loaded.Invoke(context.Background(), plugin.Invocation{
		Arguments: input, CallRequest: plugin.CallRequest{Timeout: 2 * time.Second},
	})
	want, wantsError := expected(entry.Output, theirs)
	switch {
	case failed != nil || wantsError:
		if err == nil {
			t.Errorf("%s as %s: %s, want an error", key, entry.Output, answer.Outputs.JSON())
			return false
		}
		return true
	case err != nil:
		t.Errorf("%s as %s: %v", key, entry.Output, err)
		return false
	case !engine.Equal(answer.Outputs, want):
		t.Errorf("%s as %s: %s, want %s", key, entry.Output, answer.Outputs.JSON(), want.JSON())
		return false
	}
	return true
}

// expected returns the outputs for the output of a plugin; the form json requires JSON.
func expected(form contract.Form, raw []byte) (outputs engine.Value, fails bool) {
	switch form {
	case contract.FormBytes:
		return engine.Object(contract.EntryOutput, base64.StdEncoding.EncodeToString(raw)), false
	case contract.FormJSON:
		v, err := engine.ParseJSONText(strings.ToValidUTF8(string(raw), "\uFFFD"))
		if v.Kind() != engine.KindObject {
			v = engine.Object(contract.EntryOutput, v)
		}
		return v, err != nil
	}
	return engine.Object(contract.EntryOutput, strings.ToValidUTF8(string(raw), "\uFFFD")), false
}
