package failure_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// growing is a chain of nodes that grow what they hold until nothing is left of a host's memory, in
// some kilobytes.
func growing(nodes ...string) string {
	globals := []string{
		"begin Begin", `=env.x "xxxxxxxx"`, "=env.l [1,2,3,4]", "=env.n [[1]]", `=env.o {"a":1}`,
		"=env.forty [" + strings.Repeat("1,", 39) + "1]",
	}
	return sketch.Chain(append(globals, nodes...)...)
}

// doubling returns a chain of forty nodes; PREV is the output of the one before.
func doubling(component, output, first, params string) string {
	nodes := []string{"N0 " + component + " " + first}
	for i := 1; i <= 40; i++ {
		prev := fmt.Sprintf("{N%d@%s}", i-1, output)
		nodes = append(nodes, fmt.Sprintf("N%d %s %s", i, component, strings.ReplaceAll(params, "PREV", prev)))
	}
	return growing(nodes...)
}

// turning assigns in each of forty turns.
func turning(assignments ...string) string {
	return growing(`L Iteration {"items_ref":"env.forty"}`, "I IterationItem -> A ^ L",
		`A VariableAssigner {"variables":[`+strings.Join(assignments, ",")+`]} ^ L`)
}

// growers are canvases that exceed any memory, with their possible error codes.
var growers = map[string]string{
	"text": doubling(
		"StringTransform",
		"result",
		`{"method":"merge","script":"xxxxxxxx"}`,
		`{"method":"merge","script":"PREVPREV"}`,
	),
	"message": doubling("Message", "content", `{"content":"xxxxxxxx"}`, `{"content":"PREVPREV"}`),
	"template": doubling(
		"Message",
		"content",
		`{"content":"xxxxxxxx"}`,
		`{"content":"{% for i in range(2) %}PREV{% endfor %}"}`,
	),
	"assigned": turning(`{"variable":"env.x","operator":"set","parameter":"{env.x}{env.x}"}`),
	"extended": turning(`{"variable":"env.l","operator":"extend","parameter":"env.l"}`),
	"nested": turning(
		`{"variable":"env.n","operator":"append","parameter":"env.n"}`,
		`{"variable":"env.n","operator":"append","parameter":"env.n"}`,
	),
	"object": turning(
		`{"variable":"env.o.a","operator":"overwrite","parameter":"env.o"}`,
		`{"variable":"env.o.b","operator":"overwrite","parameter":"env.o"}`,
	),
	"template repeat": growing(`M Message {"content":"{% set x = 'x' * 16000000 %}` +
		`{% for a in range(200) %}{{ (x ~ a)|length }}{% endfor %}"}`),
}

var limitCodes = []string{
	"text_too_large",
	"output_too_large",
	"state_too_large",
	"event_too_large",
	"events_too_large",
	"host_memory",
}

// growingCanvases runs canvases that grow without end, many at once, on a host of 1 GiB: it stays
// alive, other runs succeed, also over a restart in the middle.
func growingCanvases(t *testing.T, bin programs) {
	w := embedded(t, bin)
	h := w.start("a", "--memory", "1GiB")
	canvases := map[string]string{}
	for name, dsl := range growers {
		canvases[name] = w.canvas(dsl)
	}
	healthy := w.canvas(w.outside.chain(2))
	for range 2 {
		var group sync.WaitGroup
		for name, canvas := range canvases {
			group.Go(func() {
				end := w.end(w.run(h, canvas, "", "x"))
				if end.Status != "failed" || !slices.Contains(limitCodes, end.Code) {
					t.Errorf("%s ended as %+v", name, end)
				}
			})
		}
		for range 3 {
			requireSteps(t, w.follow(w.run(h, healthy, "", "fine"), 0, nil).wait(), 2)
		}
		group.Wait()
	}
	require.Less(t, servertest.PeakMemory(t, h.PID()), int64(600e6))

	// Killed in the middle, twice.
	for range 2 {
		for _, canvas := range canvases {
			w.run(h, canvas, "", "x")
		}
		w.kill(h)
		h = w.start("a", "--memory", "1GiB")
	}
	requireSteps(t, w.follow(w.run(h, healthy, "", "fine"), 0, nil).wait(), 2)
	require.Less(t, servertest.PeakMemory(t, h.PID()), int64(600e6))
}

// longConversation grows the state of a session turn by turn to its limit, and empties it again.
func longConversation(t *testing.T, bin programs) {
	w := embedded(t, bin)
	h := w.start("a", "--limit", "state=1MiB")
	canvas := w.canvas(sketch.Chain("begin Begin", // the Switch reads all turns
		`S Switch {"conditions":[{"items":[{"cpn_id":"sys.history","operator":"empty"}],"to":["M"]}],`+
			`"end_cpn_ids":["M"]}`, `M Message {"content":"{sys.query}"}`))
	session := w.session(canvas)
	words := strings.Repeat("word ", 20_000)
	turns := 0
	last := w.end(w.run(h, canvas, session, words))
	for ; last.Status == "succeeded" && turns < 100; turns++ {
		last = w.end(w.run(h, canvas, session, words))
	}
	require.Positive(t, turns)
	require.Equal(t, "state_too_large", last.Code, "%+v", last)
	last = w.end(w.run(h, canvas, session, "a word"))
	require.NotEqual(t, "panic", last.Code)
	require.Equal(
		t,
		"succeeded",
		w.end(w.run(h, canvas, w.session(canvas), words)).Status,
		"another session has room",
	)
}

// deathOfMemory kills a host whose note reports that it ran out of memory because of one of its
// runs: that run is not retried, the other one is, and the session is free.
func deathOfMemory(t *testing.T, bin programs) {
	w := embedded(t, bin)
	h := w.start("a")
	heavy, release := w.outside.hold("/heavy/2")
	light, releaseLight := w.outside.hold("/light/2")
	canvas := w.canvas(w.outside.chain(3))
	session := w.session(canvas)
	bad, good := w.run(h, canvas, session, "heavy"), w.run(h, canvas, "", "light")
	<-heavy
	<-light
	w.kill(h)
	release()
	releaseLight()
	note := fmt.Sprintf(`{"limit":100,"live":80,"resident":95,"runs":[%q]}`, bad)
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "data", "memory.json"), []byte(note), 0o600))
	h = w.start("a")
	last := w.end(bad)
	require.Equal(t, "out_of_memory", last.Code, "%+v", last)
	_, err := h.Line("time=", "run failed and is not tried again", "run="+bad, "canvas="+canvas)
	require.NoError(t, err)
	requireSteps(t, w.follow(good, 0, nil).wait(), 3)
	requireSteps(t, w.follow(w.run(h, canvas, session, "again"), 0, nil).wait(), 3)
}

// end is the outcome of a run.
type end struct{ Status, Code, Error string }

// end waits for the end of a run.
func (w *world) end(run string) end {
	w.t.Helper()
	all := w.follow(run, 0, nil).wait()
	var e struct{ Data end }
	data := all[len(all)-1].data
	require.NoError(w.t, json.Unmarshal([]byte(data), &e.Data), data)
	return e.Data
}
