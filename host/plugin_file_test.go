package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/host/internal/store"
)

// TestPluginFilesAreServedToPages gets the file of an installed plugin: only of one that is on, by
// its digest, for a key that may list the plugins.
func TestPluginFilesAreServedToPages(t *testing.T) {
	dir := t.TempDir()
	h, url := open(t, Config{Dir: dir})
	folder := filepath.Join(dir, "plugins")
	c := installer(t, folder)
	wasm := teller(t, "1.2.0", `{"op":"x"}`, `{"kv":{"bytes":10,"reason":"keeps"}}`)
	_, err := c.Install(t.Context(), wasm, plugin.Local)
	require.NoError(t, err)
	_, reader, err := h.store.Keys.Create(t.Context(), store.Key{Tenant: firstTenantID, Scopes: []string{"read"}}, "")
	require.NoError(t, err)
	_, runner, err := h.store.Keys.Create(t.Context(), store.Key{Tenant: firstTenantID, Scopes: []string{"run"}}, "")
	require.NoError(t, err)
	get := func(key, name, tag string) (*http.Response, []byte) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), "GET", url+"/api/v2/plugins/"+name+"/file", nil)
		require.NoError(t, err)
		if key != "" {
			req.Header.Set("Authorization", "Bearer "+key)
		}
		if tag != "" {
			req.Header.Set("If-None-Match", tag)
		}
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return res, body
	}
	refused := func(key, name string, status int, code string) {
		t.Helper()
		res, body := get(key, name, "")
		var out struct {
			Error struct{ Code, Message string }
		}
		require.NoError(t, json.Unmarshal(body, &out), "%s", body)
		require.Equal(t, status, res.StatusCode, out.Error.Message)
		require.Equal(t, code, out.Error.Code)
	}
	served := func() bool { res, _ := get("key", "teller", ""); return res.StatusCode == 200 }

	require.Eventually(t, func() bool {
		res, _ := get("key", "teller", "")
		return res.StatusCode == 409
	}, patience, poll)
	refused("key", "teller", 409, "needs_approval")
	_, err = c.Enable(t.Context(), "teller", "", nil)
	require.NoError(t, err)
	require.Eventually(t, served, patience, poll)

	sum := sha256.Sum256(wasm)
	tag := `"` + hex.EncodeToString(sum[:]) + `"`
	for _, name := range []string{"teller", "teller@1", "teller@1.2.0"} {
		res, body := get(reader, name, "")
		require.Equal(t, 200, res.StatusCode, name)
		require.Equal(t, wasm, body, name)
		require.Equal(t, tag, res.Header.Get("ETag"))
		require.Equal(t, "application/wasm", res.Header.Get("Content-Type"))
		require.Equal(t, "nosniff", res.Header.Get("X-Content-Type-Options"))
		require.Equal(t, "private, no-cache", res.Header.Get("Cache-Control"))
	}
	res, body := get(reader, "teller", tag)
	require.Equal(t, 304, res.StatusCode)
	require.Empty(t, body)

	res, _ = get("", "teller", "")
	require.Equal(t, 401, res.StatusCode)
	res, _ = get(runner, "teller", "")
	require.Equal(t, 403, res.StatusCode, "a key that may not list the plugins")
	refused("key", "teller@2", 404, "not_found")
	refused("key", "missing", 404, "not_found")
	refused("key", "..%2Fplugins", 404, "not_found")

	file := filepath.Join(folder, hex.EncodeToString(sum[:])+".wasm")
	require.NoError(t, os.WriteFile(file, []byte("another"), 0o600))
	refused("key", "teller", 502, "bad_signature")
	require.NoError(t, os.WriteFile(file, wasm, 0o600))
	_, err = c.Disable(context.Background(), "teller")
	require.NoError(t, err)
	require.Eventually(t, func() bool { return !served() }, patience, poll)
	refused("key", "teller", 404, "not_found")
}
