package page

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestChatPageMayBeFramedByThoseWhoMayCallTheAPI(t *testing.T) {
	for _, row := range []struct {
		origins []string
		want    string
	}{
		{nil, "*"},
		{[]string{"*"}, "*"},
		{[]string{"https://a.example", "http://localhost:3000"}, "'self' https://a.example http://localhost:3000"},
		{[]string{"none"}, "'self'"},
	} {
		s := sample(t)
		s.embedders = embedders(row.origins)
		for _, path := range []string{"/agent/share?shared_id=a&auth=b", "/agent/chat", "/chats/widget?mode=master"} {
			res := ask(t, s, "GET", path)
			require.Equal(t, http.StatusOK, res.StatusCode, path)
			require.Equal(t, "chat", body(t, res))
			require.Equal(t, sharePolicy+"; frame-ancestors "+row.want, res.Header.Get("Content-Security-Policy"))
			require.Empty(t, res.Header.Get("X-Frame-Options"), "it would forbid every frame")
			require.Equal(t, "no-referrer", res.Header.Get("Referrer-Policy"))
		}
		require.Equal(t, "DENY", ask(t, s, "GET", "/").Header.Get("X-Frame-Options"), "the editor is in no frame")
	}
}

func TestWidgetIsForPagesOfOthers(t *testing.T) {
	res := ask(t, sample(t), "GET", "/widget.js")
	require.Equal(t, "2", body(t, res))
	require.Equal(t, "text/javascript; charset=utf-8", res.Header.Get("Content-Type"))
	require.Equal(t, "*", res.Header.Get("Access-Control-Allow-Origin"))
	require.Equal(t, "cross-origin", res.Header.Get("Cross-Origin-Resource-Policy"))
	require.Equal(t, "no-cache", res.Header.Get("Cache-Control"), "its name never changes")
	for _, path := range []string{"/", "/icon.svg", "/agent/chat"} {
		require.Empty(t, ask(t, sample(t), "GET", path).Header.Get("Access-Control-Allow-Origin"), path)
	}
}
