package host

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// restrict lets only the group of ann read a shared dataset.
func (c *crew) restrict(ds string) {
	c.Helper()
	c.made("key", "PUT", "/api/v2/users/"+c.users["ann"]+"/groups", `{"groups":["hr"]}`)
	c.made("ann", "PUT", "/api/v2/datasets/"+ds+"/access", `{"enforce":true,"default":["group:hr"]}`)
}

// askingOf returns a canvas with a form after a search of a dataset. Form and message repeat what
// was found.
func askingOf(ds string) string {
	return sketch.Chain(begin, `Retrieval:R Retrieval {"query":"code","kb_ids":["`+ds+`"]}`,
		`UserFillUp:F UserFillUp {"enable_tips":true,"tips":"Found {Retrieval:R@formalized_content}",
			"inputs":{"city":{"name":"City","type":"line","optional":true}}}`,
		`Message:M Message {"content":["found {Retrieval:R@formalized_content}"]}`)
}

// status returns the status of the response to a request.
func (c *crew) status(key, method, path, body string) int {
	c.Helper()
	req, err := http.NewRequestWithContext(c.Context(), method, c.url+path, strings.NewReader(body))
	require.NoError(c, err)
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultClient.Do(req)
	require.NoError(c, err)
	defer res.Body.Close()
	return res.StatusCode
}

// A form that repeats a restricted document is shown to its readers only, and so is each run that
// continues from the state of a run or session that has read one, in each way to continue.
func TestRestrictedWaits(t *testing.T) {
	c := newCrew(t)
	c.restrict(c.shared)
	id := c.canvas("ann", askingOf(c.shared), true)
	c.publish("ann", id)
	hidden := func(door, run string) {
		t.Helper()
		require.Contains(t, c.said("ann", run), quagga, door)
		for _, key := range []string{"bob", "key"} {
			path := "/api/v2/runs/" + run
			assert.Equal(t, http.StatusNotFound, c.status(key, "GET", path, ""), "%s: %s", door, key)
			for _, of := range []string{"/events", "/trace", "/case", "/document"} {
				assert.NotContains(t, c.send(key, "GET", path+of, ""), quagga, "%s: %s %s", door, key, of)
			}
		}
	}
	runs := "/api/v2/canvases/" + id + "/runs"
	paused := c.made("ann", "POST", runs, `{"published":true}`)
	require.Contains(t, c.said("ann", paused), "paused")
	require.Contains(t, c.send("ann", "GET", "/api/v2/inbox", ""), quagga)
	for _, key := range []string{"bob", "key"} {
		inbox := c.send(key, "GET", "/api/v2/inbox", "")
		require.Contains(t, inbox, paused)
		require.NotContains(t, inbox, quagga, key)
		for _, path := range []string{
			"/api/v2/inbox/" + paused + "/answer", "/api/v2/runs/" + paused + "/resume",
			"/api/v2/runs/" + paused + "/approve", "/api/v2/runs/" + paused + "/rerun",
		} {
			body := `{"inputs":{"city":"Oslo"},"node":"Message:M","approvals":[{"id":"a","decision":"yes"}]}`
			require.Contains(t, c.send(key, "POST", path, body), `"not_found"`, "%s %s", key, path)
		}
	}
	answered := c.made("ann", "POST", "/api/v2/inbox/"+paused+"/answer", `{"inputs":{"city":"Oslo"}}`)
	hidden("answer", answered)
	hidden("rerun", c.made("ann", "POST", "/api/v2/runs/"+answered+"/rerun", `{"node":"Message:M"}`))

	session := c.made("ann", "POST", "/api/v2/canvases/"+id+"/sessions", `{}`)
	turn := `{"session":"` + session + `","inputs":{"city":"Oslo"}}`
	require.Contains(t, c.said("ann", c.made("ann", "POST", runs, turn)), "paused")
	assert.Equal(t, http.StatusNotFound, c.status("bob", "POST", runs, turn))
	hidden("session", c.made("ann", "POST", runs, turn))
}
