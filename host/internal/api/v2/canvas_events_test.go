package v2_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
	"github.com/easel-canvas/easel/host/internal/testing/datasettest"
)

// canvasReader reads the events of one follower of a canvas.
type canvasReader struct {
	t     *testing.T
	lines *bufio.Scanner
	stop  context.CancelFunc
}

func followCanvas(t *testing.T, s *apitest.Site, key, canvas, page string) *canvasReader {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), datasettest.Patience)
	t.Cleanup(stop)
	address := s.URL + "/api/v2/canvases/" + canvas + "/events?page=" + page
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	t.Cleanup(func() { _ = res.Body.Close() })
	require.Equal(t, "text/event-stream; charset=utf-8", res.Header.Get("Content-Type"))
	return &canvasReader{t, bufio.NewScanner(res.Body), stop}
}

// next returns the data of the next event with a name; other events are passed over.
func (r *canvasReader) next(name string) engine.Value {
	r.t.Helper()
	event := ""
	for r.lines.Scan() {
		if found, ok := strings.CutPrefix(r.lines.Text(), "event: "); ok {
			event = found
		}
		if data, ok := strings.CutPrefix(r.lines.Text(), "data: "); ok && event == name {
			v, err := engine.ParseJSONText(data)
			require.NoError(r.t, err)
			return v
		}
	}
	require.Fail(r.t, "the stream ended before an event "+name)
	return engine.Null
}

func TestCanvasFollowersSeeRevisionsAndEachOther(t *testing.T) {
	s := apitest.New(t)
	body := `{"title":"shared","dsl":{"components":{"begin":{"obj":{"component_name":"Begin","params":{}}}}}}`
	id := s.As("one", "POST", "/api/v2/canvases", body, 201).Get("id").Str()
	path := "/api/v2/canvases/" + id

	first := followCanvas(t, s, "one", id, "a")
	require.Equal(t, "1", first.next("revision").Get("rev").Text())
	require.Equal(t, 0, first.next("people").Get("items").Len(), "a page does not see itself")
	s.As("one", "PUT", path, `{"title":"renamed"}`, 200)
	require.Equal(t, "2", first.next("revision").Get("rev").Text())

	second := followCanvas(t, s, "one", id, "b")
	require.Equal(t, "2", second.next("revision").Get("rev").Text(), "the current revision comes first")
	require.Equal(t, "1", second.next("people").Get("items").At(0).Get("pages").Text())
	require.Equal(t, 1, first.next("people").Get("items").Len())
	second.stop()
	require.Equal(t, 0, first.next("people").Get("items").Len(), "who left is gone")

	s.As("one", "DELETE", path, "", 204)
	for first.lines.Scan() { // to its end
	}
	require.NoError(t, first.lines.Err())
	s.As("one", "GET", path+"/events", "", 404)
}

// The answer to HEAD has no events and ends, so that the connection is free for the next request.
func TestHeadOfStreamsEnds(t *testing.T) {
	s := apitest.New(t)
	canvas := s.Canvas("followed", apitest.Slow)
	run := s.Post("/api/v2/canvases/"+canvas+"/runs", `{}`).Body.Get("id").Str()
	s.Watch("/api/v2/runs/"+run+"/events", "", 1) // it runs, and waits for the gate
	var b apitest.Belongings
	s.FurnishDataset(&b)
	client := &http.Client{Timeout: datasettest.Patience, Transport: &http.Transport{MaxConnsPerHost: 1}}
	t.Cleanup(client.CloseIdleConnections)
	send := func(method, path string) apitest.Answer {
		req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, nil)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer one")
		return s.Do(client, req)
	}
	for _, path := range []string{"canvases/" + canvas, "datasets/" + b.Dataset, "runs/" + run} {
		a := send(http.MethodHead, "/api/v2/"+path+"/events")
		require.Equal(t, 200, a.Status, path)
		require.Equal(t, "text/event-stream; charset=utf-8", a.Header.Get("Content-Type"))
		require.Equal(t, 200, send(http.MethodGet, "/api/v2/canvases/"+canvas).Status, path)
	}
	s.Gate <- struct{}{}
}
