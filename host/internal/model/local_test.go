package model

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLocalServersAreFound(t *testing.T) {
	serve := func(path, body string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != path {
				http.NotFound(w, r)
				return
			}
			_, _ = w.Write([]byte(body))
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	off := httptest.NewServer(http.NotFoundHandler())
	off.Close()
	all := []Found{
		{Preset: Preset{Name: "Ollama", API: Ollama, BaseURL: serve("/api/tags", `{"models":[{"name":"qwen3:8b"}]}`)}},
		{Preset: Preset{Name: "LM-Studio", BaseURL: serve("/v1/models", `{"data":[{"id":"gemma"}]}`) + "/v1"}},
		{Preset: Preset{Name: "VLLM", BaseURL: serve("/v1/models", "<html>a wiki</html>") + "/v1"}},
		{Preset: Preset{Name: "llama.cpp", BaseURL: off.URL + "/v1"}},
	}
	ports := map[uint16]bool{}
	var tenants Tenants
	tenants.Local = func(port uint16) http.RoundTripper {
		ports[port] = true
		return http.DefaultTransport
	}
	tenants.Transport = http.NewFileTransport(http.Dir(t.TempDir())) // would find nothing
	for i := range all {
		tenants.findAll(t.Context(), all[i:i+1])
	}
	require.Len(t, ports, 4)
	require.Equal(t, "qwen3:8b", all[0].Offers[0].Name)
	require.Equal(t, "gemma", all[1].Offers[0].Name)
	require.Empty(t, all[2].Offers)
	require.Empty(t, all[3].Offers)
}

func TestLocalAddresses(t *testing.T) {
	for base, want := range map[string]uint16{
		"http://127.0.0.1:11434": 11434, "http://localhost:1234/v1": 1234, "http://LOCALHOST": 80,
		"https://[::1]/v1": 443, "http://127.9.9.9:8/v1": 8,
	} {
		port, err := localPort(base)
		require.NoError(t, err, base)
		require.Equal(t, want, port, base)
	}
	for _, base := range []string{
		"http://10.0.0.1:80", "http://169.254.169.254/", "http://example.com", "http://127.0.0.1.example.com",
		"http://localhost.example.com:1", "http://2130706433:80", "http://[::ffff:10.0.0.1]:80", "",
	} {
		_, err := localPort(base)
		require.ErrorIs(t, err, ErrNotLocal, base)
		require.ErrorIs(t, (&Provider{Name: "X", BaseURL: base, Local: true, API: OpenAI}).checkLocal(), ErrNotLocal)
	}
}
