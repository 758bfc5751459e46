//go:build linux

package host

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/disktest"
)

// fullDisk is a host on a small disk, with a dataset of one document that has the word apple.
type fullDisk struct {
	*testing.T
	h    *Host
	url  string
	dir  string
	ds   dataset.Dataset
	doc  dataset.Document
	user store.User
}

const (
	fullEmail    = "ann@example.org"
	fullPassword = "correct horse"
)

func newFullDisk(t *testing.T) *fullDisk {
	f := &fullDisk{T: t, dir: disktest.Small(t, "96m")}
	f.h, f.url = open(t, Config{Dir: f.dir})
	f.ds, f.doc = fillDataset(t, f.h, "fruit", "A red apple.")
	var err error
	member := store.Member{Tenant: firstTenantID, Role: app.RoleAdmin}
	f.user, err = f.h.store.Users.CreateMember(t.Context(), member, store.User{Email: fullEmail}, fullPassword)
	require.NoError(t, err)
	return f
}

// request returns the status and the body of a response; the key is sent unless it is "".
func (f *fullDisk) request(key, method, path, body string) (status int, text string) {
	f.Helper()
	req, err := http.NewRequestWithContext(f.Context(), method, f.url+path, strings.NewReader(body))
	require.NoError(f, err)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(f, err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	require.NoError(f, err)
	return res.StatusCode, string(data)
}

// finds reports whether a search of every dialect has a word in its hits.
func (f *fullDisk) finds(question, word string) bool {
	f.Helper()
	all := true
	for path, body := range map[string]string{
		"/api/v2/search":         `{"datasets":["` + f.ds.ID + `"],"question":"` + question + `"}`,
		"/api/v1/retrieval":      `{"dataset_ids":["` + f.ds.ID + `"],"question":"` + question + `"}`,
		"/0.27/api/v1/retrieval": `{"dataset_ids":["` + f.ds.ID + `"],"question":"` + question + `"}`,
	} {
		status, text := f.request("key", "POST", path, body)
		require.Equal(f, http.StatusOK, status, "%s: %s", path, text)
		all = all && strings.Contains(text, word)
	}
	return all
}

func (f *fullDisk) awaitFound(question, word string) {
	f.Helper()
	require.Eventually(f, func() bool { return f.finds(question, word) }, patience, 50*time.Millisecond)
}

// pending stores a chunk in the records that the index does not have yet.
func (f *fullDisk) pending(word string) {
	f.Helper()
	d, err := f.h.store.Documents.Get(f.Context(), firstTenantID, f.ds.ID, f.doc.ID)
	require.NoError(f, err)
	d.Chunks++
	_, err = f.h.store.Documents.EditChunks(f.Context(), d, []store.ChunkEdit{
		{Chunk: "0123456789abcdef", Put: &dataset.Chunk{Content: "A green " + word + "."}},
	}, false)
	require.NoError(f, err)
}

// A search answers from what the index has while a full disk keeps it from new chunks, and has them
// when there is space again.
func TestSearchOnAFullDisk(t *testing.T) {
	f := newFullDisk(t)
	require.True(t, f.finds("apple", "red apple"))
	f.pending("pear")
	free := disktest.Fill(t, f.dir)
	require.True(t, f.finds("apple", "red apple"))
	require.False(t, f.finds("pear", "green pear"))
	free()
	f.awaitFound("pear", "green pear")
}

// A document whose parse met a full disk waits in the queue, with the reason, and is parsed when
// there is space.
func TestParseOnAFullDisk(t *testing.T) {
	f := newFullDisk(t)
	ctx, who, service := t.Context(), app.Principal{Tenant: firstTenantID}, f.h.datasets.Service
	d, err := service.Upload(ctx, who, f.ds.ID, app.Upload{
		Name: "pears.md", Body: strings.NewReader(strings.Repeat("A green pear.\n\n", 1000)),
	})
	require.NoError(t, err)
	free := disktest.FillTo(t, f.dir, 3<<20)
	require.NoError(t, service.Parse(ctx, who, f.ds.ID, d.ID))
	f.awaitState(d.ID, dataset.Queued, "disk of the host is full")
	free()
	f.awaitState(d.ID, dataset.Done, "Task done")
	require.True(t, f.finds("pear", "green pear"))
}

// awaitState waits for the state of a document with a message. A document must not fail.
func (f *fullDisk) awaitState(id string, state dataset.State, message string) {
	f.Helper()
	var v dataset.Document
	require.Eventually(f, func() bool {
		var err error
		v, err = f.h.datasets.Service.Document(f.Context(), app.Principal{Tenant: firstTenantID}, f.ds.ID, id)
		return err != nil || v.State == dataset.Failed || v.State == state && strings.Contains(v.Messages, message)
	}, patience, 20*time.Millisecond)
	require.Equal(f, state, v.State, v.Messages)
}

// People can log in on a full disk, look around and delete what fills it; what would take space is
// refused.
func TestLoginOnAFullDisk(t *testing.T) {
	f := newFullDisk(t)
	free := disktest.Fill(t, f.dir)
	f.requireLogin()
	for path, body := range map[string]string{
		"/api/v2/canvases":                       `{"title":"c","dsl":` + says("hello") + `}`,
		"/api/v2/datasets":                       `{"name":"other"}`,
		"/api/v1/datasets":                       `{"name":"other"}`,
		"/0.27/api/v1/datasets":                  `{"name":"other"}`,
		"/api/v2/keys":                           `{"name":"k","scopes":["read"]}`,
		"/api/v2/datasets/" + f.ds.ID + "/parse": `{"documents":["` + f.doc.ID + `"]}`,
	} {
		status, text := f.request("key", "POST", path, body)
		require.Equal(t, http.StatusInsufficientStorage, status, "%s: %s", path, text)
		require.Contains(t, text, "cannot store anything now", path)
	}
	status, text := f.request("key", "DELETE", "/api/v2/datasets/"+f.ds.ID, "")
	require.Less(t, status, 300, text)
	f.requireLogin()
	free()
	require.Eventually(t, func() bool {
		status, _ := f.request("key", "POST", "/api/v2/datasets", `{"name":"after"}`)
		return status < 300
	}, patience, 50*time.Millisecond)
}

func (f *fullDisk) requireLogin() {
	f.Helper()
	status, text := f.request("", "POST", "/v1/user/login", `{"email":"`+fullEmail+`","password":"`+fullPassword+`"}`)
	require.Equal(f, http.StatusOK, status, text)
	require.Contains(f, text, `"code":0`)
}

// What is stored can be read on a full disk, also where reading may store something: a token of
// embedded pages that is missing, or counts of lists.
func TestReadsOnAFullDisk(t *testing.T) {
	f := newFullDisk(t)
	canvas := saved(t, f.url, "key", says("hello"))
	document := "/api/v2/datasets/" + f.ds.ID + "/documents/" + f.doc.ID
	paths := []string{
		"/api/v2/canvases", "/api/v2/canvases/" + canvas, "/api/v2/canvases/" + canvas + "/versions",
		"/api/v2/datasets", "/api/v2/datasets/" + f.ds.ID, "/api/v2/datasets/" + f.ds.ID + "/documents", document,
		document + "/chunks", document + "/content", "/api/v2/datasets/" + f.ds.ID + "/metadata",
		"/api/v2/datasets/" + f.ds.ID + "/parses", "/api/v2/health", "/api/v2/keys", "/api/v2/me", "/api/v2/me/usage",
		"/api/v2/memories", "/api/v2/models", "/api/v2/plugins", "/api/v2/providers", "/api/v2/runs",
		"/api/v2/schedules", "/api/v2/secrets", "/api/v2/tenants", "/api/v2/usage", "/api/v2/users",
		"/api/v1/datasets", "/0.27/api/v1/datasets", "/api/v1/agents", "/v1/system/token_list",
		"/v1/api/token_list?canvas_id=" + canvas,
	}
	for _, path := range paths { // creates the tokens
		status, text := f.request("key", "GET", path, "")
		require.Equal(t, http.StatusOK, status, "%s: %s", path, text)
	}
	disktest.Fill(t, f.dir)
	for _, use := range []string{"full", "reserve in use"} {
		for _, path := range paths {
			status, text := f.request("key", "GET", path, "")
			require.Equal(t, http.StatusOK, status, "%s: %s: %s", use, path, text)
		}
		f.requireLogin()
	}
}

// A host ends and starts on a full disk without an alarm about lost records, and serves all that it
// has.
func TestStartOnAFullDisk(t *testing.T) {
	f := newFullDisk(t)
	f.pending("pear")
	free := disktest.Fill(t, f.dir)
	require.NoError(t, f.h.Close())
	disktest.Fill(t, f.dir) // what the end has freed
	f.h, f.url = open(t, Config{Dir: f.dir})
	f.requireLogin()
	require.True(t, f.finds("apple", "red apple"))
	free()
	f.awaitFound("pear", "green pear")
}

// A host that has no reserve cannot start on a full disk. The error names the disk, and does not
// advise to restore a backup.
func TestStartOnAFullDiskWithoutReserve(t *testing.T) {
	f := newFullDisk(t)
	require.NoError(t, f.h.Close())
	require.NoError(t, os.Remove(filepath.Join(f.dir, "reserve")))
	disktest.Fill(t, f.dir)
	_, err := New(t.Context(), Config{Dir: f.dir, Key: "key", Sync: SyncInterval, Log: quiet})
	require.ErrorContains(t, err, "full")
	require.NotContains(t, err.Error(), "restore")
}
