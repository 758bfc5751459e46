package host

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/host/internal/store"
)

// TestPluginsInPagesReachTheWebThroughTheHost sends requests of a plugin that runs in a page:
// checked against its grant, with secrets that the page never has.
func TestPluginsInPagesReachTheWebThroughTheHost(t *testing.T) {
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, "http://elsewhere.example/", http.StatusFound)
		case "/home":
			http.Redirect(w, r, "/", http.StatusFound)
		default:
			body, _ := io.ReadAll(r.Body)
			_, _ = fmt.Fprintf(w, "%s %s %s %s", r.Method, r.URL.RawQuery, r.Header.Get("Authorization"), body)
		}
	}))
	t.Cleanup(outside.Close)
	at := strings.TrimPrefix(outside.URL, "http://")
	dir := t.TempDir()
	h, url := open(t, Config{Dir: dir})
	c := installer(t, filepath.Join(dir, "plugins"))
	_, err := c.Install(t.Context(), teller(t, "1.0.0", `{"op":"x"}`,
		`{"http":{"hosts":["`+
			at+`"],"methods":["GET","POST"],"private":true,"reason":"asks"},"secrets":{"token":{"hosts":["`+
			at+`"],"reason":"proves"}}}`), plugin.Local)
	require.NoError(t, err)
	_, err = c.Enable(t.Context(), "teller", "", nil)
	require.NoError(t, err)
	require.NoError(t, h.store.Secrets.Put(t.Context(), firstTenantID, "token", []byte("very hush"), nil))
	_, _, err = h.store.Keys.Create(t.Context(), store.Key{Tenant: "other", Scopes: app.Scopes}, "other")
	require.NoError(t, err)
	ask := func(key, name, body string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), "POST", url+"/api/v2/plugins/"+name+"/fetch",
			strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+key)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		var out struct {
			Status int
			Body   string `json:"body_base64"`
			Error  struct{ Code string }
		}
		require.NoError(t, json.Unmarshal(text, &out), "%s", text)
		require.NotContains(t, string(text), "hush")
		if res.StatusCode != 200 {
			return res.StatusCode, out.Error.Code
		}
		body64, err := base64.StdEncoding.DecodeString(out.Body)
		require.NoError(t, err)
		return out.Status, string(body64)
	}
	require.Eventually(t, func() bool {
		status, _ := ask("key", "teller", `{"url":"`+outside.URL+`"}`)
		return status == 200
	}, patience, poll)
	for _, row := range []struct {
		name, key, plugin, body string
		status                  int
		want                    string
	}{
		{
			"a secret is masked in the response", "key", "teller@1.0.0",
			`{"method":"POST","url":"` + outside.URL +
				`/?q=1","headers":{"Authorization":"Bearer ` +
				`{{secret:token:m4rk}}"},"body_base64":"aGVsbG8=","secret_mark":"m4rk"}`, 200,
			"POST q=1 Bearer *** hello",
		},
		{
			"placeholders without the mark", "key", "teller",
			`{"url":"` + outside.URL +
				`/?q={{secret:token}}","headers":{"Authorization":"{{secret:token:m}}"},"secret_mark":"m4rk"}`, 200,
			"GET q={{secret:token}} {{secret:token:m}} ",
		},
		{
			"without a mark no placeholder is replaced",
			"key", "teller", `{"url":"` + outside.URL + `/?q={{secret:token:}}"}`, 200,
			"GET q={{secret:token:}}  ",
		},
		{"a redirect to the same host", "key", "teller", `{"url":"` + outside.URL + `/home"}`, 200, "GET   "},
		{"a redirect to another host", "key", "teller", `{"url":"` + outside.URL + `/away"}`, 403, "denied"},
		{"another host", "key", "teller", `{"url":"http://example.org/"}`, 403, "denied"},
		{"another method", "key", "teller", `{"method":"DELETE","url":"` + outside.URL + `"}`, 403, "denied"},
		{
			"a secret that is not granted", "key", "teller",
			`{"url":"` + outside.URL + `/?a={{secret:other:m4rk}}","secret_mark":"m4rk"}`, 403, "denied",
		},
		{
			"the secret of another tenant", "other", "teller",
			`{"url":"` + outside.URL + `/?a={{secret:token:m4rk}}","secret_mark":"m4rk"}`, 409, "unauthorized",
		},
		{"an invalid URL", "key", "teller", `{"url":"file:///etc/passwd"}`, 422, "invalid_argument"},
		{"invalid base64", "key", "teller", `{"url":"` + outside.URL + `","body_base64":"!"}`, 422, "bad_argument"},
		{"another version", "key", "teller@2", `{"url":"` + outside.URL + `"}`, 404, "not_found"},
		{"an unknown plugin", "key", "missing", `{"url":"` + outside.URL + `"}`, 404, "not_found"},
	} {
		t.Run(row.name, func(t *testing.T) {
			status, got := ask(row.key, row.plugin, row.body)
			require.Equal(t, row.want, got)
			require.Equal(t, row.status, status)
		})
	}
	t.Run("a tenant that grants less", func(t *testing.T) {
		var out any
		call(t, "PUT", url+"/api/v2/plugins/grant", `{"grant":{}}`, &out)
		status, got := ask("key", "teller", `{"url":"`+outside.URL+`"}`)
		require.Equal(t, 403, status)
		require.Equal(t, "denied", got)
	})
}
