package host

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// says returns a canvas that sends a text.
func says(text string) string {
	return sketch.Chain("begin Begin", `Message:M Message {"content": ["`+text+`"]}`)
}

// within returns a canvas that runs another one and sends its answer.
func within(canvas, version string) string {
	return sketch.Chain("begin Begin", fmt.Sprintf(`Canvas:C Canvas {"canvas": %q, "version": %q}`, canvas, version),
		`Message:M Message {"content": ["{Canvas:C@content}"]}`)
}

// TestCanvasRunsPublishedCanvas runs a canvas inside another one, in its published version, in a
// named version and as saved.
func TestCanvasRunsPublishedCanvas(t *testing.T) {
	_, url := open(t, Config{})
	var inner, outer struct{ ID string }
	create := func(dsl string, into any) {
		call(t, "POST", url+"/api/v2/canvases", `{"title":"c","dsl":`+dsl+`}`, into)
	}
	run := func(version string) string {
		create(within(inner.ID, version), &outer)
		target := url + "/api/v2/canvases/" + outer.ID + "/runs"
		req, err := http.NewRequestWithContext(t.Context(), "POST", target, strings.NewReader(`{}`))
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer key")
		req.Header.Set("Accept", "text/event-stream")
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer res.Body.Close()
		events, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return string(events)
	}
	create(says("first"), &inner)
	require.Contains(t, run(""), "publish it, or name a version")
	var published struct{ ID string }
	call(t, "POST", url+"/api/v2/canvases/"+inner.ID+"/publish", `{}`, &published)
	call(t, "PUT", url+"/api/v2/canvases/"+inner.ID, `{"dsl":`+says("second")+`}`, &published)

	events := run("")
	require.Contains(t, events, `"content":"first"`)
	require.Contains(t, events, "event: canvas_event")
	require.Contains(t, run("draft"), `"content":"second"`)
	var versions struct{ Items []struct{ ID string } }
	call(t, "GET", url+"/api/v2/canvases/"+inner.ID+"/versions", "", &versions)
	require.NotEmpty(t, versions.Items)
	require.Contains(t, run(versions.Items[len(versions.Items)-1].ID), `"content":"first"`)
	require.Contains(t, run("nowhere"), "no version")

	inner.ID = "00000000000000000000000000000000"
	require.Contains(t, run(""), "no such canvas in this tenant")
}
