package distribution

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// registry is a server of the OCI distribution specification 1.1 with one repository,
// tools/weather: it wants a token, takes monolithic uploads, and sends blobs from another origin,
// as registries with a content network do.
type registry struct {
	t      *testing.T
	server *httptest.Server
	blobs  *httptest.Server

	mu        sync.Mutex
	stored    map[string][]byte // by digest
	manifests map[string][]byte // by digest
	tags      map[string]string
	user      string // users who may push; anyone may pull
	leaked    bool   // the content network got credentials
	corrupt   bool   // blobs are changed on their way
}

const (
	repository = "tools/weather"
	password   = "s3cret"
)

func newRegistry(t *testing.T) *registry {
	r := &registry{
		t: t, stored: map[string][]byte{}, manifests: map[string][]byte{}, tags: map[string]string{},
		user: "ann",
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /token", r.token)
	mux.HandleFunc("/v2/"+repository+"/", r.serve)
	r.server = httptest.NewServer(mux)
	r.blobs = httptest.NewServer(http.HandlerFunc(r.blob))
	t.Cleanup(r.server.Close)
	t.Cleanup(r.blobs.Close)
	return r
}

func (r *registry) host() string { return strings.TrimPrefix(r.server.URL, "http://") }

func (r *registry) reference(rest string) string {
	return "oci://" + r.host() + "/" + repository + rest
}

// token grants pull to anyone and push to the user.
func (r *registry) token(w http.ResponseWriter, q *http.Request) {
	scope := "pull"
	if user, pass, ok := q.BasicAuth(); ok {
		if user != r.user || pass != password {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		scope = "pull,push"
	}
	if q.FormValue("service") != "test" || !strings.HasPrefix(q.FormValue("scope"), "repository:"+repository+":pull") {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	fmt.Fprintf(w, `{"token":%q}`, scope)
}

func (r *registry) serve(w http.ResponseWriter, q *http.Request) {
	need := "pull"
	if q.Method != http.MethodGet && q.Method != http.MethodHead {
		need = "push"
	}
	if !strings.Contains(strings.TrimPrefix(q.Header.Get("Authorization"), "Bearer "), need) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="`+r.server.URL+`/token",service="test"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	part := strings.TrimPrefix(q.URL.Path, "/v2/"+repository+"/")
	switch {
	case part == "tags/list":
		tags := []string{}
		for tag := range r.tags {
			tags = append(tags, tag)
		}
		slices.Sort(tags)
		require.NoError(r.t, json.NewEncoder(w).Encode(map[string]any{"name": repository, "tags": tags}))
	case strings.HasPrefix(part, "manifests/"):
		r.manifest(w, q, strings.TrimPrefix(part, "manifests/"))
	case part == "blobs/uploads/" && q.Method == http.MethodPost:
		w.Header().Set("Location", "/v2/"+repository+"/blobs/uploads/1?state=x")
		w.WriteHeader(http.StatusAccepted)
	case part == "blobs/uploads/1" && q.Method == http.MethodPut && q.FormValue("state") == "x":
		body, err := io.ReadAll(q.Body)
		require.NoError(r.t, err)
		if digestOf(body) != q.FormValue("digest") {
			refuse(w, http.StatusBadRequest, "DIGEST_INVALID", "provided digest did not match uploaded content")
			return
		}
		r.stored[q.FormValue("digest")] = body
		w.WriteHeader(http.StatusCreated)
	case strings.HasPrefix(part, "blobs/"):
		digest := strings.TrimPrefix(part, "blobs/")
		if r.stored[digest] == nil {
			refuse(w, http.StatusNotFound, "BLOB_UNKNOWN", "blob unknown to registry")
			return
		}
		if q.Method == http.MethodHead {
			return
		}
		http.Redirect(w, q, r.blobs.URL+"/"+digest, http.StatusTemporaryRedirect)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (r *registry) manifest(w http.ResponseWriter, q *http.Request, name string) {
	if q.Method == http.MethodPut {
		body, err := io.ReadAll(q.Body)
		require.NoError(r.t, err)
		var m manifest
		require.NoError(r.t, json.Unmarshal(body, &m))
		for _, d := range append(m.Layers, m.Config) {
			if int64(len(r.stored[d.Digest])) != d.Size {
				refuse(w, http.StatusBadRequest, "MANIFEST_BLOB_UNKNOWN", d.Digest)
				return
			}
		}
		r.manifests[digestOf(body)] = body
		r.tags[name] = digestOf(body)
		w.WriteHeader(http.StatusCreated)
		return
	}
	body := r.manifests[name]
	if body == nil {
		body = r.manifests[r.tags[name]]
	}
	if body == nil {
		refuse(w, http.StatusNotFound, "MANIFEST_UNKNOWN", "manifest unknown")
		return
	}
	w.Header().Set("Content-Type", typeManifest)
	_, err := w.Write(body)
	require.NoError(r.t, err)
}

// blob returns the content network.
func (r *registry) blob(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leaked = r.leaked || q.Header.Get("Authorization") != ""
	body := slices.Clone(r.stored[strings.TrimPrefix(q.URL.Path, "/")])
	if r.corrupt {
		body[0] ^= 1
	}
	_, err := w.Write(body)
	require.NoError(r.t, err)
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"errors":[{"code":%q,"message":%q}]}`, code, message)
}

// login stores a login as docker does.
func (r *registry) login(user string) func(string) (string, string, error) {
	dir := r.t.TempDir()
	auth := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
	config := fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, r.host(), auth)
	require.NoError(r.t, os.WriteFile(filepath.Join(dir, "config.json"), []byte(config), 0o600))
	return DockerCredentials(dir)
}

func (r *registry) parse(rest string) Reference {
	ref, err := ParseReference(r.reference(rest))
	require.NoError(r.t, err)
	return ref
}

func TestPublishAndPull(t *testing.T) {
	r := newRegistry(t)
	file := []byte("\x00asm one")
	_, err := (&Client{}).Push(t.Context(), r.parse(":1.0.0"), file, "weather.wasm", "1.0.0", false)
	require.ErrorContains(t, err, "registry returned 401", "a push needs a login")
	out, err := (&Client{Credentials: r.login("ann")}).Push(t.Context(), r.parse(":1.0.0"), file, "weather.wasm",
		"1.0.0", false)
	require.NoError(t, err)
	require.Equal(t, digestOf(file), out.File)

	for _, rest := range []string{":1.0.0", "@" + out.Digest} {
		got, err := (&Client{}).Download(t.Context(), r.reference(rest))
		require.NoError(t, err, rest)
		require.Equal(t, file, got)
	}
	got, err := (&Client{Credentials: r.login("ann")}).Download(t.Context(), r.reference(":1.0.0"))
	require.NoError(t, err)
	require.Equal(t, file, got)
	require.False(t, r.leaked, "credentials stay at the registry")
	_, err = (&Client{}).Download(t.Context(), r.reference(":2.0.0"))
	require.ErrorContains(t, err, `404 Not Found ("MANIFEST_UNKNOWN": "manifest unknown")`)
	_, err = (&Client{Credentials: r.login("eve")}).Download(t.Context(), r.reference(":1.0.0"))
	require.ErrorContains(t, err, "token service returned 401")
}

func TestPublishKeepsVersions(t *testing.T) {
	r := newRegistry(t)
	push := func(text string, replace bool) error {
		c := &Client{Credentials: r.login("ann")}
		_, err := c.Push(t.Context(), r.parse(":1.0.0"), []byte(text), "weather.wasm", "1.0.0", replace)
		return err
	}
	require.NoError(t, push("one", false))
	require.NoError(t, push("one", false), "the same again changes nothing")
	require.ErrorContains(t, push("two", false), "the tag names another file")
	require.NoError(t, push("two", true))
	tags, err := (&Client{}).Tags(t.Context(), r.parse(""))
	require.NoError(t, err)
	require.Equal(t, []string{"1.0.0"}, tags)
}

func TestPullRefusesAWrongDigest(t *testing.T) {
	r := newRegistry(t)
	_, err := (&Client{Credentials: r.login("ann")}).Push(t.Context(), r.parse(":1.0.0"), []byte("one"), "w.wasm",
		"1.0.0", false)
	require.NoError(t, err)
	r.corrupt = true
	_, err = (&Client{}).Download(t.Context(), r.reference(":1.0.0"))
	require.ErrorContains(t, err, "the registry sent a file with digest")
	other := []byte(`{"schemaVersion":2,"layers":[]}`)
	r.manifests[digestOf([]byte("x"))] = other
	_, err = (&Client{}).Download(t.Context(), r.reference("@"+digestOf([]byte("x"))))
	require.ErrorContains(t, err, "the registry sent a manifest with digest "+digestOf(other))
}

func TestPullIsBounded(t *testing.T) {
	r := newRegistry(t)
	put := func(m string) {
		r.manifests[digestOf([]byte(m))] = []byte(m)
		r.tags["1.0.0"] = digestOf([]byte(m))
	}
	layer := func(size int) string {
		return fmt.Sprintf(`{"mediaType":"application/wasm","digest":%q,"size":%d}`, digestOf([]byte("x")), size)
	}
	put(`{"layers":[` + layer(MaxFile+1) + `]}`)
	_, err := (&Client{}).Download(t.Context(), r.reference(":1.0.0"))
	require.ErrorContains(t, err, "file of 16777217 bytes, allowed are 16777216")
	r.stored[digestOf([]byte("x"))] = make([]byte, MaxFile+1)
	put(`{"layers":[` + layer(1) + `]}`)
	_, err = (&Client{}).Download(t.Context(), r.reference(":1.0.0"))
	require.ErrorContains(t, err, "more than 16777216 bytes", "the size in the manifest is not believed")
	put(`{"layers":[` + layer(1) + `,` + layer(1) + `]}`)
	_, err = (&Client{}).Download(t.Context(), r.reference(":1.0.0"))
	require.ErrorContains(t, err, "2 layers are WebAssembly modules")
	put(`{"layers":[{"mediaType":"application/wasm","digest":"sha256:../../x","size":1}]}`)
	_, err = (&Client{}).Download(t.Context(), r.reference(":1.0.0"))
	require.ErrorContains(t, err, "is not supported; want sha256")
	put(`{"schemaVersion":2,"pad":"` + strings.Repeat("x", maxManifest) + `"}`)
	_, err = (&Client{}).Download(t.Context(), r.reference(":1.0.0"))
	require.ErrorContains(t, err, "more than 1048576 bytes")
}

func TestParseReference(t *testing.T) {
	for _, text := range []string{
		"oci://ghcr.io/a/b:1.0.0", "oci://localhost:5000/a",
		"oci://[::1]:5000/a@" + digestOf(nil),
	} {
		r, err := ParseReference(text)
		require.NoError(t, err, text)
		require.Equal(t, text, r.String())
	}
	for _, text := range []string{
		"https://a/b", "oci://", "oci://a", "oci://a/", "oci://a/B", "oci://a/../b", "oci://a/b:", "oci://a/b:x/y",
		"oci://user@a/b", "oci://a/b@sha256:1", "oci://a/b?x=1",
	} {
		_, err := ParseReference(text)
		require.ErrorContains(t, err, "want oci://HOST/REPOSITORY:TAG", text)
	}
}
