package host

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/wattest"
)

// settingReader returns a plugin that returns its input as the output.
func settingReader(t *testing.T, version string) []byte {
	t.Helper()
	const head, tail = `{"outputs":{"input":`, `}}`
	wasm := wattest.Must(`(module
	(import "easel:host/v1" "output_write" (func $output_write (param i32 i32)))
	(import "easel:host/v1" "input_read" (func $input_read (param i32 i32) (result i32)))
	(memory (export "memory") 1)
	(data (i32.const 0) "{\"outputs\":{\"input\":") (data (i32.const 100) "}}")
	(func (export "easel_invoke") (result i32)
		i32.const 0 i32.const 20 call $output_write
		i32.const 1000 i32.const 1000 i32.const 60000 call $input_read call $output_write
		i32.const 100 i32.const 2 call $output_write
		i32.const 0))`)
	require.Len(t, head, 20)
	require.Len(t, tail, 2)
	out, err := contract.WithSection(wasm, contract.ManifestSection,
		[]byte(`{"abi":1,"name":"reader","version":"`+version+`",
		"description":"Reads its settings.",
		"settings":{"type":"object","required":["region"],"properties":{
			"region":{"type":"string"},"days":{"type":"integer","default":3}}},
		"permissions":{"http":{"hosts":["api.example"],"reason":"r"},
			"secrets":{"READER_KEY":{"hosts":["api.example"],"reason":"The key of the service."}}}}`))
	require.NoError(t, err)
	return out
}

var readingSettings = sketch.Canvas(
	"begin Begin -> R",
	"R plugin:reader@1 -> M",
	`M Message {"content":["{R@input.call.settings}"]}`,
)

type settingsOf struct {
	Values  map[string]any
	Missing []string
	Secrets []struct {
		Name   string
		Set    bool
		Hosts  []string
		Reason string
	}
}

// refusal returns the message of the error of a request, empty without one.
func refusal(t *testing.T, method, url, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer key")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	var v struct{ Error struct{ Message string } }
	require.NoError(t, json.NewDecoder(res.Body).Decode(&v))
	return v.Error.Message
}

// TestPluginSettings sets the settings and the secret of a plugin through the API: their absence is
// a diagnostic and the error of a call, and no value of a secret can be read back.
func TestPluginSettings(t *testing.T) {
	dir := t.TempDir()
	h, url := open(t, Config{Dir: dir})
	c := installer(t, filepath.Join(dir, "plugins"))
	_, err := c.InstallApproved(t.Context(), settingReader(t, "1.0.0"), plugin.Local, contract.Everything())
	require.NoError(t, err)
	path := url + "/api/v2/plugins/reader/settings"
	get := func() (s settingsOf) {
		call(t, "GET", path, "", &s)
		return s
	}
	require.Eventually(t, func() bool { return !strings.Contains(refusal(t, "GET", path, ""), "not installed") },
		patience, poll)
	s := get()
	require.Equal(t, []string{"region"}, s.Missing)
	require.Len(t, s.Secrets, 1)
	require.False(t, s.Secrets[0].Set)
	require.Equal(t, "The key of the service.", s.Secrets[0].Reason)

	canvas := saved(t, url, "key", readingSettings)
	problems := func() (codes []string) {
		var v struct {
			Diagnostics []struct{ Code, Message, Node string }
		}
		call(t, "POST", url+"/api/v2/canvases/"+canvas+"/validate", `{}`, &v)
		for _, d := range v.Diagnostics {
			require.Equal(t, "R", d.Node)
			codes = append(codes, d.Code+": "+d.Message)
		}
		return codes
	}
	const command = " is not set; set it with `easel plugin set reader "
	require.Equal(t, []string{
		"missing_setting: setting region of plugin reader" + command + "region=VALUE --url URL`",
		"missing_setting: secret READER_KEY of plugin reader" + command + "READER_KEY=@VARIABLE --url URL`",
	}, problems())
	require.Contains(t, said(t, url, "key", canvas, "hi"),
		"missing_setting: setting region is not set; set it with `easel plugin set reader region=VALUE --url URL`")

	for body, want := range map[string]string{
		`{"settings":{"days":"many"}}`: "setting days: want integer, got string",
		`{"settings":{"city":"x"}}`:    `unknown setting "city" (one of days, region)`,
		`{"settings":{"city":null}}`:   `unknown setting "city"`,
		`{"secrets":{"OTHER":"x"}}`:    `secret "OTHER" is not one of the plugin (READER_KEY)`,
		`{"settings":7}`:               "settings is a number; expected an object",
	} {
		require.Contains(t, refusal(t, "PATCH", path, body), want, body)
	}
	var answer settingsOf
	call(t, "PATCH", path, `{"settings":{"region":"eu"},"secrets":{"READER_KEY":"sesame"}}`, &answer)
	require.Equal(t, map[string]any{"region": "eu"}, answer.Values)
	require.True(t, answer.Secrets[0].Set)
	require.Empty(t, problems())
	require.JSONEq(t, `{"region": "eu", "days": 3}`, said(t, url, "key", canvas, "hi"))
	value, hosts, err := h.store.Secrets.OpenBound(t.Context(), firstTenantID, "READER_KEY")
	require.NoError(t, err)
	require.Equal(t, "sesame", string(value))
	require.Equal(t, []string{"api.example"}, hosts, "it is bound to where the plugin sends it")

	answer = settingsOf{}
	call(t, "PATCH", path, `{"settings":{"region":null,"days":5},"secrets":{"READER_KEY":""}}`, &answer)
	require.Equal(t, map[string]any{"days": 5.0}, answer.Values)
	require.Equal(t, []string{"region"}, answer.Missing)
	require.False(t, answer.Secrets[0].Set)

	require.NoError(t, c.Remove(t.Context(), "reader", false))
	require.Eventually(t, func() bool {
		items, err := h.store.Items.ListAll(t.Context(), settingsKind)
		return err == nil && len(items) == 0
	}, patience, poll, "settings go with the plugin")
}
