package page

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

const index = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self' ` +
	`'wasm-unsafe-eval'">hello`

// sample returns a page of seven files. The Brotli and gzip forms differ in their content.
func sample(t *testing.T) *site {
	t.Helper()
	dist := fstest.MapFS{".gitignore": {Data: []byte("*")}}
	for name, text := range map[string]string{
		"index.html": index, "icon.svg": "<svg/>", "licences.txt": "MIT",
		"share.html": "chat", "widget.js": "2", "assets/engine-ABC.wasm": strings.Repeat("\x00asm", 1000),
		"assets/page-ABC.js": "1",
	} {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, err := io.WriteString(w, text)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		dist[name+".gz"] = &fstest.MapFile{Data: b.Bytes()}
		dist[name+".br"] = &fstest.MapFile{Data: []byte("brotli of " + name)}
	}
	return newSite(dist)
}

// ask sends one request; headers are name, value, ...
func ask(t *testing.T, s *site, method, path string, headers ...string) *http.Response {
	t.Helper()
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	handler(s, next).ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, res *http.Response) string {
	t.Helper()
	data, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return string(data)
}

func TestPageIsServedWithItsPolicy(t *testing.T) {
	for _, path := range []string{"/", "/index.html", "/?x=1"} {
		res := ask(t, sample(t), "GET", path)
		require.Equal(t, http.StatusOK, res.StatusCode, path)
		require.Equal(t, index, body(t, res))
		require.Equal(t, "text/html; charset=utf-8", res.Header.Get("Content-Type"))
		require.Equal(t, "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; frame-ancestors 'none'",
			res.Header.Get("Content-Security-Policy"))
		require.Equal(t, "no-cache", res.Header.Get("Cache-Control"))
		require.Equal(t, "DENY", res.Header.Get("X-Frame-Options"))
		require.Empty(t, res.Header.Get("Cross-Origin-Opener-Policy")+res.Header.Get("Cross-Origin-Embedder-Policy"))
	}
}

func TestContentEncoding(t *testing.T) {
	const wasm = "/assets/engine-ABC.wasm"
	for _, row := range []struct{ accepts, encoding string }{
		{"gzip, deflate, br, zstd", "br"},
		{"gzip", "gzip"},
		{"BR;q=1.0", "br"},
		{"br;q=0, gzip;q=0.5", "gzip"},
		{"*", "br"},
		{"br;q=0, *", "gzip"},
		{"", ""},
		{"identity", ""},
		{"gzip;q=0.0", ""},
	} {
		res := ask(t, sample(t), "GET", wasm, "Accept-Encoding", row.accepts)
		require.Equal(t, row.encoding, res.Header.Get("Content-Encoding"), row.accepts)
		require.Equal(t, "application/wasm", res.Header.Get("Content-Type"))
		require.Equal(t, "Accept-Encoding", res.Header.Get("Vary"))
		require.Equal(t, "nosniff", res.Header.Get("X-Content-Type-Options"))
		switch row.encoding {
		case "br":
			require.Equal(t, "brotli of assets/engine-ABC.wasm", body(t, res))
		case "":
			require.Equal(t, strings.Repeat("\x00asm", 1000), body(t, res))
		}
	}
}

func TestLicencesOfThePage(t *testing.T) {
	res := ask(t, sample(t), "GET", "/licences.txt")
	require.Equal(t, "text/plain; charset=utf-8", res.Header.Get("Content-Type"))
	require.Equal(t, "MIT", body(t, res))
}

func TestFilePolicy(t *testing.T) {
	for _, path := range []string{"/assets/page-ABC.js", "/icon.svg"} {
		res := ask(t, sample(t), "GET", path)
		require.Equal(t, "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'",
			res.Header.Get("Content-Security-Policy"), path)
	}
}

func TestHashedNamesAreImmutable(t *testing.T) {
	s := sample(t)
	require.Equal(t, "public, max-age=31536000, immutable",
		ask(t, s, "GET", "/assets/page-ABC.js").Header.Get("Cache-Control"))
	icon := ask(t, s, "GET", "/icon.svg", "Accept-Encoding", "br")
	require.Equal(t, "no-cache", icon.Header.Get("Cache-Control"))
	again := ask(t, s, "GET", "/icon.svg", "Accept-Encoding", "br", "If-None-Match",
		`"other", W/`+icon.Header.Get("ETag"))
	require.Equal(t, http.StatusNotModified, again.StatusCode)
	require.Empty(t, body(t, again))
	require.NotEqual(t, icon.Header.Get("ETag"), ask(t, s, "GET", "/icon.svg").Header.Get("ETag"),
		"each encoding has its own ETag")
}

func TestHeadHasNoBody(t *testing.T) {
	for _, accepts := range []string{"br", ""} {
		res := ask(t, sample(t), "HEAD", "/", "Accept-Encoding", accepts)
		require.Equal(t, http.StatusOK, res.StatusCode)
		require.Empty(t, body(t, res))
	}
}

func TestOtherRequestsReachNext(t *testing.T) {
	s := sample(t)
	for _, row := range [][2]string{
		{"GET", "/api/v2/canvases"},
		{"GET", "/login"},
		{"GET", "/v1/canvas/list"},
		{"POST", "/"},
		{"GET", "/assets"},
		{"GET", "/index.html/x"},
		{"DELETE", "/assets/page-ABC.js"},
	} {
		require.Equal(t, http.StatusTeapot, ask(t, s, row[0], row[1]).StatusCode, row)
	}
}

func TestMissingFiles(t *testing.T) {
	for _, path := range []string{
		"/assets/none.js", "/assets/../index.html", "/assets/", "/assets/engine-ABC.wasm.gz",
		"/assets/%2e%2e/index.html",
	} {
		res := ask(t, sample(t), "GET", path)
		require.Equal(t, http.StatusNotFound, res.StatusCode, path)
		require.Equal(t, "no-store", res.Header.Get("Cache-Control"))
		require.Contains(t, body(t, res), "the page has no file")
	}
}

func TestBinaryWithoutPage(t *testing.T) {
	res := ask(t, newSite(fstest.MapFS{".gitignore": {Data: []byte("*")}}), "GET", "/")
	require.Equal(t, http.StatusNotFound, res.StatusCode)
	require.Equal(t, missing, body(t, res))
}

func TestMissingPolicyDeniesEverything(t *testing.T) {
	require.Equal(t, "default-src 'none'; frame-ancestors 'none'",
		policyOf(&file{forms: map[string][]byte{"gzip": nil}}))
}
