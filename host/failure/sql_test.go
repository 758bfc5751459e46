package failure_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sqlBoth runs one scenario on a host with everything in its directory and on a host with NATS and
// PostgreSQL. Clients get the same responses.
func sqlBoth(t *testing.T, bin programs) {
	inside, outside := embedded(t, bin), shared(t, bin, 1)
	require.Equal(t, inside.story(inside.start("a")), outside.story(outside.start("a")))
}

// story sends requests as clients do and records the responses, without ids and times.
func (w *world) story(h *hostProcess) (seen []string) {
	t := w.t
	note := func(what string, values ...any) {
		seen = append(seen, what+": "+strings.TrimSpace(fmt.Sprintln(values...)))
	}
	ask := func(method, path, body string) (status int) {
		var any map[string]any
		status, _ = w.try(t.Context(), method, h.url+path, body, &any)
		return status
	}
	canvas := w.canvas(w.outside.chain(2))
	session := w.session(canvas)
	for _, query := range []string{"one", "Zwei ü", "drei\u0000null"} {
		run := w.run(h, canvas, session, url.PathEscape(query))
		for _, e := range w.follow(run, 0, nil).wait() {
			note("event", e.kind, e.node)
		}
		status, problem := w.status(run)
		note("run", status, problem)
	}
	messages, rounds := w.turns(canvas, session)
	note("turns", rounds, strings.Join(messages, " | "))

	path := "/api/v2/canvases/" + canvas
	note("edit", ask("PUT", path, `{"title":"zweite","dsl":`+w.outside.chain(1)+`}`))
	note("bad edit", ask("PUT", path, `{"dsl":{"components":{"begin":{}}}}`))
	note("unknown", ask("GET", "/api/v2/canvases/none", ""), ask("GET", "/api/v2/runs/none", ""))
	var list struct {
		Items []struct{ Title string }
		Total int
	}
	for i := range 3 {
		var c struct{}
		w.call("POST", h.url+"/api/v2/canvases", fmt.Sprintf(`{"title":"Ä %d","dsl":%s}`, 3-i, talk), &c)
	}
	for _, query := range []string{"?orderby=title", "?page=2&page_size=2", "?keywords=ä"} {
		w.call("GET", h.url+"/api/v2/canvases"+query, "", &list)
		note("list "+query, list.Total, len(list.Items))
	}
	note("delete", ask("DELETE", path, ""), ask("GET", path, ""))
	return seen
}
