package reach

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// readGolden reads a file that the tests of the JavaScript counterparts
// (wasm/js/test/reach.test.ts) also use.
func readGolden[T any](t *testing.T, name string) (golden T) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &golden))
	return golden
}

func TestPublic(t *testing.T) {
	rows := readGolden[[]struct {
		Address string
		Public  bool
		Why     string
	}](t, "addresses.json")
	require.NotEmpty(t, rows)
	for _, row := range rows {
		a := netip.MustParseAddr(row.Address)
		require.Equal(t, row.Public, Public(a), "%s %s", row.Address, row.Why)
		if a.Is6() && !a.Is4In6() {
			require.Equal(t, row.Public, Public(a.WithZone("eth0")), "%s with a zone", row.Address)
		}
	}
	require.False(t, Public(netip.Addr{}))
}

func TestIsCredential(t *testing.T) {
	headers := readGolden[struct{ Credential, Plain []string }](t, "headers.json")
	for _, name := range headers.Credential {
		require.True(t, IsCredential(name), name)
	}
	for _, name := range headers.Plain {
		require.False(t, IsCredential(name), name)
	}
}

func TestSameOrigin(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"https://api.example/v1", "https://api.example/v2?q", true},
		{"https://api.example", "https://API.example:443", true},
		{"http://api.example:80", "http://api.example", true},
		{"https://api.example", "https://api.example:8443", false},
		{"https://api.example", "http://api.example", false},
		{"https://api.example", "http://api.example:443", false},
		{"https://api.example", "https://www.api.example", false},
		{"http://[::1]:80", "http://[::1]", true},
	} {
		a, err := url.Parse(c.a)
		require.NoError(t, err)
		b, err := url.Parse(c.b)
		require.NoError(t, err)
		require.Equal(t, c.same, SameOrigin(a, b), "%s %s", c.a, c.b)
	}
}

func TestSameAddress(t *testing.T) {
	const kept = "https://api.example/v1"
	for address, same := range map[string]bool{
		kept:                                true,
		"HTTPS://API.Example:443/v1":        true,
		"http://api.example/v1":             false,
		"http://api.example:443/v1":         false,
		"https://api.example:8443/v1":       false,
		"https://api.example./v1":           false,
		"https://api.example/v1/":           false,
		"https://api.example/V1":            false,
		"https://api.example/v1?to=x":       false,
		"https://api.example/v1#x":          false,
		"https://me@api.example/v1":         false,
		"https://api.example@evil.org/v1":   false,
		"https://api.example.evil.org/v1":   false,
		"https://evil.org/v1":               false,
		"//api.example/v1":                  false,
		"api.example/v1":                    false,
		"https://api.example\\@evil.org/v1": false,
		"":                                  false,
	} {
		require.Equal(t, same, SameAddress(kept, address), address)
		require.Equal(t, same, SameAddress(address, kept), address)
	}
	require.True(t, SameAddress("https://api.example", "https://api.example/"))
	require.True(t, SameAddress("http://[::1]:80/a", "http://[::1]/a"))
	require.True(t, SameAddress("https://me:x@api.example", "https://me:x@api.example/"))
	require.False(t, SameAddress("https://me:x@api.example", "https://me:y@api.example"))
	require.True(t, SameAddress("", ""))
	require.True(t, SameAddress("${base}/mcp", "${base}/mcp"))
}

func TestStayAtOrigin(t *testing.T) {
	var seen []string
	record := func(r *http.Request) { seen = append(seen, r.URL.Path+" "+r.Header.Get("X-Api-Key")) }
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { record(r) }))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		record(r)
		switch r.URL.Path {
		case "/near":
			http.Redirect(w, r, "/end", http.StatusTemporaryRedirect)
		case "/far":
			http.Redirect(w, r, other.URL+"/stolen", http.StatusTemporaryRedirect)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusTemporaryRedirect)
		}
	}))
	defer server.Close()
	client := &http.Client{CheckRedirect: StayAtOrigin}
	get := func(path string) error {
		req, err := http.NewRequest(http.MethodGet, server.URL+path, nil)
		require.NoError(t, err)
		req.Header.Set("X-Api-Key", "k")
		res, err := client.Do(req)
		if err == nil {
			require.NoError(t, res.Body.Close())
		}
		return err
	}
	require.NoError(t, get("/near"))
	err := get("/far")
	require.ErrorIs(t, err, ErrRedirect)
	require.ErrorContains(t, err, "redirects to "+other.URL)
	require.Equal(t, []string{"/near k", "/end k", "/far k"}, seen)
	require.ErrorContains(t, get("/loop"), "more than 5 redirects")
}
