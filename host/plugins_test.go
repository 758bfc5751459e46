package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/wattest"
)

// installer returns another catalog on the folder of a running host, as the command line uses it.
func installer(t *testing.T, dir string) *plugin.Catalog {
	t.Helper()
	h, err := plugin.New(t.Context(), plugin.Config{Log: quiet})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close(context.Background())) })
	c, err := plugin.OpenCatalog(t.Context(), h, dir, contract.Everything())
	require.NoError(t, err)
	return c
}

// packed returns an example plugin with its manifest, the version changed when one is given.
func packed(t *testing.T, name, version string) []byte {
	t.Helper()
	dir := filepath.Join("..", "plugins", "examples", name)
	wasm, err := os.ReadFile(filepath.Join(dir, name+".wasm"))
	require.NoError(t, err)
	manifest, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	require.NoError(t, err)
	if version != "" {
		manifest = []byte(strings.Replace(string(manifest), `"version": "1.0.0"`, `"version": "`+version+`"`, 1))
	}
	out, err := contract.WithSection(wasm, contract.ManifestSection, manifest)
	require.NoError(t, err)
	return out
}

// teller returns a plugin that calls the host and returns the answer.
func teller(t *testing.T, version, request, permissions string) []byte {
	t.Helper()
	const head, tail = `{"outputs":{"answer":`, `}}`
	request = strings.ReplaceAll(request, "MARK", wattest.MarkRoom)
	wasm := wattest.Must(fmt.Sprintf(`(module
	(import "easel:host/v1" "output_write" (func $output_write (param i32 i32)))
	(import "easel:host/v1" "input_read" (func $input_read (param i32 i32) (result i32)))
	(import "easel:host/v1" "call" (func $call (param i32 i32 i32) (result i32)))
	(import "easel:host/v1" "result_read" (func $result_read (param i32 i32) (result i32)))
	(memory (export "memory") 1)
	(data (i32.const 0) %q) (data (i32.const 100) %q) (data (i32.const 200) %q)
	%s (func (export "easel_invoke") (result i32)
		i32.const 20000 i32.const 20000 call $input_read drop
		%s
		i32.const 0 i32.const %d call $output_write
		i32.const 0 i32.const 200 i32.const %d call $call drop
		i32.const 20000 i32.const 20000 i32.const 20000 call $result_read call $output_write
		i32.const 100 i32.const %d call $output_write
		i32.const 0))`, head, tail, request, wattest.MarkFunc(20000), wattest.FillMarks(request, 200), len(head), len(request), len(tail)))
	manifest := `{"abi":1,"name":"teller","version":"` + version + `","description":"Asks the host.","permissions":` +
		permissions + `}`
	out, err := contract.WithSection(wasm, contract.ManifestSection, []byte(manifest))
	require.NoError(t, err)
	return out
}

// said runs a saved canvas and returns its answer, or its error.
func said(t *testing.T, url, key, canvas, query string) string {
	t.Helper()
	var run struct{ ID string }
	q, err := json.Marshal(query)
	require.NoError(t, err)
	callAs(t, key, "POST", url+"/api/v2/canvases/"+canvas+"/runs", `{"query":`+string(q)+`}`, &run)
	var r struct{ Status, Error string }
	require.Eventually(t, func() bool {
		callAs(t, key, "GET", url+"/api/v2/runs/"+run.ID, "", &r)
		return r.Status != "running"
	}, patience, poll)
	if r.Error != "" {
		return r.Error
	}
	req, err := http.NewRequestWithContext(t.Context(), "GET", url+"/api/v2/runs/"+run.ID+"/events", nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	answer := ""
	for line := range frames(t, res.Body) {
		var e struct {
			Event string
			Data  struct{ Content string }
		}
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		if e.Event == "message" {
			answer += e.Data.Content
		}
	}
	return answer
}

var typing = sketch.Canvas(
	"begin Begin -> T",
	`T plugin:typewriter@1 {"text":"You said: {sys.query}"} -> M`,
	`M Message {"content":["{T@text}"]}`,
)

var telling = sketch.Canvas(
	"begin Begin -> T",
	"T plugin:teller@1 -> M",
	`M Message {"content":["{T@answer}"]}`,
)

func saved(t *testing.T, url, key, dsl string) string {
	t.Helper()
	var c struct{ ID string }
	callAs(t, key, "POST", url+"/api/v2/canvases", fmt.Sprintf(`{"title":"c %d","dsl":%s}`, time.Now().UnixNano(), dsl),
		&c)
	return c.ID
}

// A canvas whose plugin is missing is saved and has one problem; it works once the plugin is
// installed, follows its updates, and fails again without it, all in one running host.
func TestPluginIsInstalledAndRemoved(t *testing.T) {
	dir := t.TempDir()
	h, url := open(t, Config{Dir: dir})
	canvas := saved(t, url, "key", typing)
	var v struct {
		Diagnostics []struct{ Node, Severity, Message string }
	}
	call(t, "POST", url+"/api/v2/canvases/"+canvas+"/validate", `{}`, &v)
	require.Len(t, v.Diagnostics, 1)
	require.Equal(t, "T", v.Diagnostics[0].Node)
	require.Contains(t, v.Diagnostics[0].Message, "not installed")
	require.Contains(t, said(t, url, "key", canvas, "hi"), "not installed")

	c := installer(t, filepath.Join(dir, "plugins"))
	_, err := c.Install(t.Context(), packed(t, "typewriter", ""), plugin.Local)
	require.NoError(t, err)
	var answer string
	gives := func(want string) {
		t.Helper()
		require.Eventually(t, func() bool {
			answer = said(t, url, "key", canvas, "hi")
			return strings.Contains(answer, want)
		}, patience, poll, "%s", &answer)
	}
	gives("You said: hi")
	call(t, "POST", url+"/api/v2/canvases/"+canvas+"/validate", `{}`, &v)
	require.Empty(t, v.Diagnostics)

	palette := func() map[string]struct{ Component, Version, State, Note string } {
		var list struct {
			Data []struct{ Component, Version, State, Note string }
		}
		call(t, "GET", url+"/api/v1/plugins", "", &list)
		out := map[string]struct{ Component, Version, State, Note string }{}
		for _, p := range list.Data {
			out[p.Component] = p
		}
		return out
	}
	require.Equal(t, "on", palette()["plugin:typewriter@1"].State)
	for _, path := range []string{"/v1/plugin/llm_tools", "/0.27/api/v1/plugin/tools"} {
		var tools struct {
			Data []struct {
				Name, DisplayName string
				Parameters        map[string]struct {
					Type     string
					Required bool
				}
			}
		}
		call(t, "GET", url+path, "", &tools)
		require.Len(t, tools.Data, 1)
		require.Equal(t, "Typewriter", tools.Data[0].DisplayName)
		require.True(t, tools.Data[0].Parameters["text"].Required)
	}

	_, err = c.Install(t.Context(), packed(t, "typewriter", "1.2.0"), plugin.Local)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return palette()["plugin:typewriter@1"].Version == "1.2.0" }, patience, poll)
	gives("You said: hi")
	_, err = c.Disable(t.Context(), "typewriter")
	require.NoError(t, err)
	gives("switched off")
	require.Equal(t, "off", palette()["plugin:typewriter@1"].State)
	kv, value := h.store.KV("tenant", "plugin typewriter"), "kept"
	require.NoError(t, kv.Set(t.Context(), "key", &value, 100))
	require.NoError(t, c.Remove(t.Context(), "typewriter", false))
	gives("not installed")
	require.Eventually(t, func() bool {
		_, err := kv.Get(t.Context(), "key")
		return errors.Is(err, store.ErrNotFound)
	}, patience, poll)
}

// A host that requires signatures refuses plugins without one, and logs it.
func TestPluginSignatures(t *testing.T) {
	dir := t.TempDir()
	_, err := installer(t, filepath.Join(dir, "plugins")).Install(t.Context(), packed(t, "typewriter", ""),
		plugin.Local)
	require.NoError(t, err)
	_, url := open(t, Config{Dir: dir, PluginSignatures: "require"})
	require.Contains(t, said(t, url, "key", saved(t, url, "key", typing), "hi"), "not signed")
}

// The data of a plugin survives the host and belongs to one tenant, and its permissions are bounded
// by the tenant.
func TestPluginServices(t *testing.T) {
	dir := t.TempDir()
	c := installer(t, filepath.Join(dir, "plugins"))
	const kv = `{"kv":{"bytes":100,"reason":"keeps"}}`
	install := func(version, request, permissions string) {
		t.Helper()
		_, err := c.Install(t.Context(), teller(t, version, request, permissions), plugin.Local)
		require.NoError(t, err)
		_, err = c.Enable(t.Context(), "teller", "", nil)
		require.NoError(t, err)
	}
	install("1.0.0", `{"op":"kv.set","args":{"key":"k","value":"kept"}}`, kv)
	h, err := New(t.Context(), Config{Dir: dir, Key: "key", Sync: SyncInterval, Log: quiet})
	require.NoError(t, err)
	url, done := serving(h)
	canvas := saved(t, url, "key", telling)
	require.JSONEq(t, `{"ok": {}}`, said(t, url, "key", canvas, ""))
	done()
	require.NoError(t, h.Close())

	install("1.1.0", `{"op":"kv.get","args":{"key":"k"}}`, kv)
	h, url = open(t, Config{Dir: dir})
	require.JSONEq(t, `{"ok": {"found": true, "value": "kept"}}`, said(t, url, "key", canvas, ""))
	_, err = h.store.Tenants.Put(t.Context(), store.Tenant{ID: "other", Name: "other"})
	require.NoError(t, err)
	other := store.Key{Tenant: "other", User: "other", Name: "k", Scopes: app.Scopes}
	_, _, err = h.store.Keys.Create(t.Context(), other, "other-key")
	require.NoError(t, err)
	theirs := saved(t, url, "other-key", telling)
	require.JSONEq(t, `{"ok": {"found": false, "value": ""}}`, said(t, url, "other-key", theirs, ""))

	var grant struct{ Grant *contract.Permissions }
	call(t, "GET", url+"/api/v2/plugins/grant", "", &grant)
	require.Nil(t, grant.Grant)
	call(t, "PUT", url+"/api/v2/plugins/grant", `{"grant":{}}`, &grant)
	require.NotNil(t, grant.Grant)
	require.Contains(t, said(t, url, "key", canvas, ""), "kv is not granted")
	require.JSONEq(t, `{"ok": {"found": false, "value": ""}}`, said(t, url, "other-key", theirs, ""),
		"one tenant's grant is not another's")
	call(t, "PUT", url+"/api/v2/plugins/grant", `{"grant":null}`, &grant)
	require.JSONEq(t, `{"ok": {"found": true, "value": "kept"}}`, said(t, url, "key", canvas, ""))

	// A secret of the records is sent to the address it is bound to, and to no other.
	got := make(chan string, 10)
	site := httpServer(t, func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header.Get("X-Key") + r.Header.Get("X-Plain")
		fmt.Fprint(w, "fine")
	})
	address := strings.TrimPrefix(site, "http://")
	require.NoError(t, h.store.Secrets.Put(t.Context(), firstTenantID, "shop", []byte("s3cr3t"), nil))
	install("1.2.0", `{"op":"http.fetch","args":{"url":"`+
		site+`/","headers":{"X-Key":"{{secret:shop:MARK}}","X-Plain":"{{secret:shop}}"}}}`,
		`{"http":{"hosts":["`+address+`"],"private":true,"reason":"asks"},"secrets":{"shop":{"hosts":["`+
			address+`"],"reason":"pays"}}}`)
	var answer string
	require.Eventually(t, func() bool {
		answer = said(t, url, "key", canvas, "")
		return strings.Contains(answer, "fine")
	}, patience, poll, "%s", &answer)
	require.Equal(t, "s3cr3t{{secret:shop}}", <-got)
	require.NotContains(t, answer, "s3cr3t")
	var list struct {
		Data []struct {
			Secrets map[string]bool
			Granted contract.Permissions
		}
	}
	call(t, "GET", url+"/api/v1/plugins", "", &list)
	require.Equal(t, map[string]bool{"shop": true}, list.Data[0].Secrets)
	require.NotNil(t, list.Data[0].Granted.HTTP)
}
