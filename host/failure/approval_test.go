package failure_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// approvalOnAnotherHost kills the host of a run that waits for an approval; the run is approved on
// another host and continues there.
func approvalOnAnotherHost(t *testing.T, bin programs) {
	w := shared(t, bin, 1)
	a := w.start("a")
	w.start("b")
	canvas := w.canvas(sketch.Chain("begin Begin", w.outside.asking(1), w.outside.asking(2, `"approval":true`),
		`Message:End Message {"content":["{Invoke:S2@result}"]}`))
	session := w.session(canvas)
	run := w.run(a, canvas, session, "approval")
	asked := w.follow(run, 0, nil).wait()
	require.Equal(t, "end", asked[len(asked)-1].kind)
	require.Equal(t, "user_inputs", asked[len(asked)-2].kind)
	status, problem := w.status(run)
	require.Equal(t, "paused", status, problem)
	require.Zero(t, w.outside.times("/approval/2"), "it is not approved yet")
	w.kill(a)

	var next struct{ ID string }
	body := `{"approvals":[{"id":"approval:Invoke:S2","decision":"yes"}]}`
	require.NoError(t, w.insist(t.Context(), w.any()+"/api/v2/runs/"+run+"/approve", body, &next))
	all := w.follow(next.ID, 0, nil).wait()
	status, problem = w.status(next.ID)
	require.Equal(t, "succeeded", status, problem)
	require.Contains(t, answer(t, all), "answer of /approval/2")
	require.Equal(t, 1, w.outside.times("/approval/1"), "what ran before the approval does not run again")
	require.Equal(t, 1, w.outside.times("/approval/2"))
}

// toolApprovalOnAnotherHost kills the host of an agent whose tool waits for an approval; the call
// is approved on another host, with other arguments, and the agent continues there.
func toolApprovalOnAnotherHost(t *testing.T, bin programs) {
	w := shared(t, bin, 1)
	a := w.start("a")
	w.start("b")
	tool := `{"component_name":"SearXNG","name":"Search","params":{"approval":true,
		"searxng_url":"` + w.outside.url + `"}}`
	canvas := w.canvas(sketch.Chain("begin Begin",
		`Agent:A Agent {"llm_id":"","sys_prompt":"Search.","tools":[`+tool+`]}`,
		`Message:End Message {"content":["{Agent:A@content}"]}`))
	run := w.run(a, canvas, w.session(canvas), "q")
	asked := w.follow(run, 0, nil).wait()
	status, problem := w.status(run)
	require.Equal(t, "paused", status, problem)
	require.Zero(t, w.outside.times("/search"), "it is not approved yet")
	form, err := engine.ParseJSONText(asked[len(asked)-2].data)
	require.NoError(t, err)
	fields := form.Get("data").Get("inputs")
	id := fields.Key(0)
	require.Contains(t, id, "approval:Agent:A")
	require.Equal(t, "query", fields.At(0).Get("approval").Get("arguments").Get("query").Str(), form.JSON())
	w.kill(a)

	var next struct{ ID string }
	edited := engine.Object("query", "warm coats")
	answers := engine.List(engine.Object("id", id, "decision", "yes", "arguments", edited))
	body := engine.Object("approvals", answers).JSON()
	require.NoError(t, w.insist(t.Context(), w.any()+"/api/v2/runs/"+run+"/approve", body, &next))
	all := w.follow(next.ID, 0, nil).wait()
	status, problem = w.status(next.ID)
	require.Equal(t, "succeeded", status, problem)
	require.Contains(t, answer(t, all), "found warm coats")
	require.Equal(t, 1, w.outside.times("/search"))
}

// answersOnThreeHosts answers a run on three hosts at once, 64 times, one of which is killed
// during that: one answer begins a run, and the others are refused.
func answersOnThreeHosts(t *testing.T, bin programs) {
	w := shared(t, bin, 1)
	a := w.start("a")
	w.start("b")
	w.start("c")
	canvas := w.canvas(sketch.Chain("begin Begin", w.outside.asking(7, `"approval":true`),
		`Message:End Message {"content":["{Invoke:S7@result}"]}`))
	run := w.run(a, canvas, "", "answers")
	w.follow(run, 0, nil).wait()
	status, problem := w.status(run)
	require.Equal(t, "paused", status, problem)

	urls := w.urls()
	const body = `{"approvals":[{"id":"approval:Invoke:S7","decision":"yes"}]}`
	var mu sync.Mutex
	won, refused := map[string]bool{}, 0
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			var next struct{ ID string }
			if i == 3 {
				w.kill(a)
			}
			url := fmt.Sprintf("%s/api/v2/inbox/%s/answer", urls[i%len(urls)], run)
			status, err := w.try(t.Context(), "POST", url, body, &next)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil && status == http.StatusAccepted:
				won[next.ID] = true
			case status == http.StatusConflict:
				refused++
			}
		})
	}
	all.Wait()
	var after struct {
		Status string
		Wait   struct{ State, Next string }
	}
	_, err := w.try(t.Context(), "GET", w.any()+"/api/v2/runs/"+run, "", &after)
	require.NoError(t, err)
	require.Equal(t, []string{"succeeded", "answered"}, []string{after.Status, after.Wait.State})
	require.LessOrEqual(t, len(won), 1)
	for id := range won {
		require.Equal(t, after.Wait.Next, id)
	}
	require.Positive(t, refused)
	require.Contains(t, answer(t, w.follow(after.Wait.Next, 0, nil).wait()), "answer of /answers/7")
	require.Equal(t, 1, w.outside.times("/answers/7"))
	var list struct{ Items []struct{ ID string } }
	_, err = w.try(t.Context(), "GET", w.any()+"/api/v2/runs?canvas="+canvas, "", &list)
	require.NoError(t, err)
	require.Len(t, list.Items, 2, "the run that waited, and one that continues")
}
