package v2_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
	"github.com/easel-canvas/easel/host/internal/testing/datasettest"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// datasetReader reads the events of one follower of a dataset.
type datasetReader struct {
	t     testing.TB
	lines *bufio.Scanner
	n     int // events that were read
}

func followDataset(t testing.TB, s *apitest.Site, id string) *datasetReader {
	ctx, stop := context.WithTimeout(t.Context(), datasettest.Patience)
	t.Cleanup(stop)
	address := s.URL + "/api/v2/datasets/" + id + "/events"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer one")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	t.Cleanup(func() { _ = res.Body.Close() })
	require.Equal(t, 200, res.StatusCode)
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	return &datasetReader{t: t, lines: lines}
}

// next returns the name and the data of the next event, whose id is its number.
func (r *datasetReader) next() (name, data string) {
	r.t.Helper()
	for r.lines.Scan() {
		key, value, _ := strings.Cut(r.lines.Text(), ": ")
		switch key {
		case "id":
			r.n++
			require.Equal(r.t, strconv.Itoa(r.n), value)
		case "event":
			name = value
		case "data":
			return name, value
		}
	}
	require.FailNow(r.t, "the stream has ended", "%v", r.lines.Err())
	return "", ""
}

// stored adds documents without files to a dataset, and returns their ids.
func stored(t testing.TB, s *apitest.Site, id string, n int, change func(*store.Document)) (ids []string) {
	for i := range n {
		v := store.Document{Tenant: "one", Document: dataset.Document{
			ID: fmt.Sprintf("%s%04d", id[:28], i), Dataset: id, Name: fmt.Sprint("stored ", i), State: dataset.Unparsed,
		}}
		change(&v)
		v, err := s.Store.Documents.Create(t.Context(), v, 0)
		require.NoError(t, err)
		ids = append(ids, v.ID)
	}
	return ids
}

// The reads of a dataset do not grow with its readers.
func TestReadersOfADatasetShareItsReads(t *testing.T) {
	const many, changes = 80, 3
	s := apitest.New(t)
	id, documents := uploaded(s, "changed.md", "text")
	stored(t, s, id, 300, func(*store.Document) {})
	cost := func(n int) time.Duration {
		var readers []*datasetReader
		for range n {
			readers = append(readers, followDataset(t, s, id))
		}
		for _, r := range readers {
			name, _ := r.next()
			require.Equal(t, "idle", name)
		}
		before := servertest.ProcessorTime()
		for i := range changes {
			patch := fmt.Sprintf(`{"metadata":{"n":%d}}`, i+n)
			s.As("one", "PATCH", "/api/v2/datasets/"+id+"/documents/"+documents[0], patch, 200)
			for _, r := range readers {
				name, data := r.next()
				require.Equal(t, "document", name)
				require.Contains(t, data, fmt.Sprintf(`{"n":%d}`, i+n))
				name, _ = r.next()
				require.Equal(t, "idle", name)
			}
		}
		return servertest.ProcessorTime() - before
	}
	one := cost(1)
	all := cost(many)
	t.Log(one, "for one reader,", all, "for", many)
	require.Less(t, all, 3*one+100*time.Millisecond)
}

// A new reader gets the documents under way, and then what changes; readers of a deleted dataset
// end.
func TestReadersOfADatasetBeginWithDocumentsUnderWay(t *testing.T) {
	const documents = 45 // several pages
	s := apitest.New(t)
	id, _ := uploaded(s, "other.md", "text")
	running := func(v *store.Document) {
		v.State, v.Lease, v.LeaseUntil = dataset.Running, "of another host", time.Now().Add(time.Hour).UnixMilli()
	}
	first := followDataset(t, s, id)
	name, _ := first.next()
	require.Equal(t, "idle", name)
	ids := stored(t, s, id, documents, running)
	states := func(r *datasetReader) map[string]string {
		out := map[string]string{}
		for len(out) < documents {
			name, data := r.next()
			require.Equal(t, "document", name)
			v := parsedJSON(t, data)
			require.Empty(t, out[v.Get("id").Str()], "each once")
			out[v.Get("id").Str()] = v.Get("state").Str()
		}
		return out
	}
	second := followDataset(t, s, id)
	readers := []*datasetReader{first, second}
	for _, r := range readers {
		for id, state := range states(r) {
			require.Equal(t, "running", state, id)
		}
	}
	a := s.As("one", "POST", "/api/v2/datasets/"+id+"/cancel", `{"documents":["`+strings.Join(ids, `","`)+`"]}`, 200)
	require.Equal(t, 0, a.Get("refused").Len())
	for _, r := range readers {
		for id, state := range states(r) {
			require.Equal(t, "canceled", state, id)
		}
		name, _ := r.next()
		require.Equal(t, "idle", name)
	}
	s.As("one", "DELETE", "/api/v2/datasets/"+id, "", 204)
	for _, r := range readers {
		for r.lines.Scan() { // to its end
		}
		require.NoError(t, r.lines.Err())
	}
}

func parsedJSON(t testing.TB, text string) engine.Value {
	v, err := engine.ParseJSONText(text)
	require.NoError(t, err)
	return v
}

// One key gets half of the connections of a host for event streams, and a tenant three quarters;
// others still get answers. A stream that ends makes room.
func TestEventStreamsAreBounded(t *testing.T) {
	s := apitest.New(t, func(c *apitest.Config) { c.Connections = 8 })
	id, _ := uploaded(s, "a.md", "text")
	path := "/api/v2/datasets/" + id + "/events"
	other := store.Key{Tenant: "one", User: "one", Name: "other", Scopes: []string{app.ScopeRead}}
	_, _, err := s.Store.Keys.Create(t.Context(), other, "other")
	require.NoError(t, err)
	open := func(key string) (status int, leave func()) {
		ctx, stop := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, nil)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+key)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		t.Cleanup(func() { stop(); _ = res.Body.Close() })
		return res.StatusCode, stop
	}
	var leave func()
	for range 4 {
		var status int
		status, leave = open("one")
		require.Equal(t, 200, status)
	}
	a := s.Request("GET", path, "one", "")
	require.Equal(t, 429, a.Status)
	require.Equal(t, "10", a.Header.Get("Retry-After"))
	require.Contains(t, a.Text, "this key or login may have 4 on this host")
	for range 2 {
		status, _ := open("other")
		require.Equal(t, 200, status)
	}
	require.Contains(t, s.Request("GET", path, "other", "").Text, "this tenant may have 6")
	require.Equal(t, 404, s.Request("GET", path, "two", "").Status, "other tenants have streams of their own")
	s.As("one", "GET", "/api/v2/datasets/"+id, "", 200)
	leave()
	require.Eventually(t, func() bool {
		status, _ := open("one")
		return status == 200
	}, datasettest.Patience, 5*time.Millisecond)
}
