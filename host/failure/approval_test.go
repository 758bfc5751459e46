package failure_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// approvalOnAnotherHost kills the host of a run that waits for an approval; the run is approved on
// another host and continues there.
func approvalOnAnotherHost(t *testing.T, bin programs) {
	w := shared(t, bin, 1)
	a := w.start("a")
	w.start("b")
	step := `"method":"get","clean_html":false,"url":"` + w.outside.url + `/{sys.query}/%d"`
	canvas := w.canvas(fmt.Sprintf(`{"components":{"begin":%s,"Invoke:S1":%s,"Invoke:S2":%s,"Message:End":%s}}`,
		node("Begin", `{}`, "Invoke:S1"),
		node("Invoke", `{`+fmt.Sprintf(step, 1)+`}`, "Invoke:S2"),
		node("Invoke", `{"approval":true,`+fmt.Sprintf(step, 2)+`}`, "Message:End"),
		node("Message", `{"content":["{Invoke:S2@result}"]}`)))
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
