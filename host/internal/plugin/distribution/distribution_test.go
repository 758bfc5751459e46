package distribution

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDownloadIsBounded(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/ok", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("file")) })
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, MaxFile+1)) })
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/loop",
			http.StatusFound)
	})
	mux.HandleFunc("/plain", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://example.org/file", http.StatusFound)
	})
	s := httptest.NewServer(mux)
	defer s.Close()
	got, err := (&Client{}).Download(t.Context(), s.URL+"/ok")
	require.NoError(t, err)
	require.Equal(t, "file", string(got))
	for path, want := range map[string]string{
		"/large": "more than 16777216 bytes", "/loop": "more than 5 redirects", "/plain": "want https",
		"/none": "server returned 404",
	} {
		_, err := (&Client{}).Download(t.Context(), s.URL+path)
		require.ErrorContains(t, err, want, path)
	}
	for _, address := range []string{"http://example.org/x.wasm", "https:///x", "ftp://a/b"} {
		_, err := (&Client{}).Download(t.Context(), address)
		require.ErrorContains(t, err, "want https", address)
	}
}

// A server on the internet cannot lead a request to a private address.
func TestPublicServerCannotRedirectToPrivateAddresses(t *testing.T) {
	c := &Client{}
	require.NoError(t, c.control("tcp", "127.0.0.1:80", nil), "a person may name a private server")
	require.NoError(t, c.control("tcp", "93.184.216.34:443", nil))
	for _, address := range []string{
		"127.0.0.1:80", "10.0.0.1:80", "[::1]:80", "169.254.169.254:80",
		"[::ffff:10.0.0.1]:80",
	} {
		require.ErrorIs(t, c.control("tcp", address, nil), ErrPrivate, address)
	}
}

func hexOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// listing makes an index of weather 1.0.0, 1.2.0, 1.10.0, 2.0.0-rc.1.
func listing(t *testing.T, path string) {
	for _, v := range []string{"1.0.0", "1.10.0", "1.2.0", "2.0.0-rc.1"} {
		file := []byte("weather " + v)
		require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(path), v+".wasm"), file, 0o600))
		require.NoError(t, AddTo(path, Listed{
			Name: "weather", Description: "Current weather for a city.", Category: "tools",
			Versions: []Release{{Version: v, Location: v + ".wasm", SHA256: hexOf(file)}},
		}, false))
	}
}

func TestIndex(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "index.json")
	listing(t, path)
	s := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer s.Close()
	for _, from := range []string{path, s.URL + "/index.json"} {
		c := &Client{}
		x, err := c.Index(t.Context(), from)
		require.NoError(t, err)
		require.Len(t, x.Search([]string{"CITY", "weath"}), 1)
		require.Empty(t, x.Search([]string{"city", "moon"}))
		for ref, want := range map[string]string{
			"weather": "1.10.0", "weather@1": "1.10.0", "weather@1.2": "1.2.0", "weather@1.0.0": "1.0.0",
			"weather@2.0.0-rc.1": "2.0.0-rc.1",
		} {
			v, err := x.Find(ref)
			require.NoError(t, err, ref)
			require.Equal(t, want, v.Version, ref)
			got, err := x.Get(t.Context(), c, v)
			require.NoError(t, err)
			require.Equal(t, "weather "+want, string(got))
		}
		for ref, want := range map[string]string{
			"moon":      "lists no plugin moon",
			"weather@2": "lists no version 2 of weather",
		} {
			_, err := x.Find(ref)
			require.ErrorContains(t, err, want)
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "1.0.0.wasm"), []byte("other"), 0o600))
	c := &Client{}
	x, err := c.Index(t.Context(), path)
	require.NoError(t, err)
	v, err := x.Find("weather@1.0.0")
	require.NoError(t, err)
	_, err = x.Get(t.Context(), c, v)
	require.ErrorContains(t, err, "the index lists sha256:"+v.SHA256)
	v.Location = "../../secret"
	_, err = x.Get(t.Context(), c, v)
	require.ErrorContains(t, err, "a path below the index")
	err = AddTo(path, Listed{Name: "weather", Versions: []Release{{
		Version: "1.0.0",
		SHA256:  hexOf([]byte("other")),
	}}}, false)
	require.ErrorContains(t, err, "lists weather 1.0.0 with another file")
}

func TestIndexIsChecked(t *testing.T) {
	const listed = `{"easel_index":1,"plugins":[{"name":`
	for text, want := range map[string]string{
		`{`: "unexpected end", `{}`: "format 0", `{"easel_index":2}`: "format 2",
		listed + `"../../x"}]}`: `name "../../x"`, listed + `"x","versions":[{"version":"1"}]}]}`: "want three numbers",
		listed + `"x","versions":[{"version":"1.0.0","location":"https://a"}]}]}`: "sha256 is missing",
	} {
		path := filepath.Join(t.TempDir(), "index.json")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := (&Client{}).Index(t.Context(), path)
		require.ErrorContains(t, err, want, text)
	}
	raw, err := json.Marshal(Index{Format: 1})
	require.NoError(t, err)
	require.Contains(t, string(raw), `"easel_index":1`)
}

func TestCompare(t *testing.T) {
	ordered := []string{"", "0.9.9", "1.0.0-a", "1.0.0-b", "1.0.0", "1.2.0", "1.10.0", "2.0.0"}
	for i := range ordered[1:] {
		require.Negative(t, Compare(ordered[i], ordered[i+1]), "%s < %s", ordered[i], ordered[i+1])
		require.Positive(t, Compare(ordered[i+1], ordered[i]))
	}
	require.Empty(t, Newest([]string{"latest", "sha-1"}, ""))
	require.Equal(t, "1.10.0", Newest([]string{"1.2.0", "1.10.0", "2.0.0", "latest"}, "1"))
}
