package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// A Retrieval node finds passages of another system by its name in --sources.
func TestRunSearchesOtherSystems(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/dify/retrieval" || r.Header.Get("Authorization") != "Bearer their key" {
			http.Error(w, "refused", http.StatusForbidden)
			return
		}
		_, _ = io.WriteString(w, `{"records": [{"content": "The pump opens at nine", "score": 0.9, "title": "a.md",
			"metadata": {}}]}`)
	}))
	defer server.Close()
	t.Setenv("EASEL_SOURCE_KEY_MANUALS", "their key")
	canvas := file(t, "canvas.json", sketch.Canvas(
		"begin Begin -> Retrieval:A",
		`Retrieval:A Retrieval {"kb_ids": ["manuals"]} -> Message:B`,
		`Message:B Message {"content": ["{Retrieval:A@formalized_content}"]}`,
	))
	code, out, errs := easel(t, "run", canvas, "-q", "pump", "--sources", "manuals=dify:"+server.URL+"/dify#k1")
	require.Zero(t, code, errs)
	require.Contains(t, out, "The pump opens at nine")
	code, _, errs = easel(t, "run", canvas, "-q", "pump", "--sources", "manuals=elastic:http://h#x")
	require.Equal(t, ExitUsage, code)
	require.Contains(t, errs, "unknown kind")
}
