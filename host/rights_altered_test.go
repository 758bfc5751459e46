package host

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// choosing is a canvas that chooses a dataset, pauses at a form and searches then.
var choosing = sketch.Chain(begin,
	`StringTransform:S StringTransform {"method":"merge","script":"shared","delimiters":["x"]}`,
	`UserFillUp:F UserFillUp {"enable_tips":true,"tips":"ready?","inputs":{"ok":{"name":"ok","type":"line"}}}`,
	`Retrieval:R Retrieval {"query":"code","kb_ids":["{StringTransform:S@result}"]}`,
	`Message:M Message {"content":["found {Retrieval:R@formalized_content}"]}`)

// chooseVault are pins with which it chooses another one.
const chooseVault = `"pins":{"StringTransform:S":{"result":"vault"}}`

// Outputs that a colleague has put into the session of a published version count as hers in the
// turns that follow: they do not act for the publisher.
func TestAlteredSessionsDoNotActForThePublisher(t *testing.T) {
	c := newCrew(t)
	id := c.canvas("ann", choosing, true)
	c.publish("ann", id)
	begun := func(more string) (session, run string) {
		session = c.made("bob", "POST", "/api/v2/canvases/"+id+"/sessions", `{"published":true}`)
		run = c.made("bob", "POST", "/api/v2/canvases/"+id+"/runs", `{"session":"`+session+`"`+more+`}`)
		require.Contains(t, c.said("bob", run), "paused")
		return session, run
	}
	session, _ := begun("")
	require.Contains(t, c.run("bob", id, `{"session":"`+session+`","inputs":{"ok":"yes"}}`), quagga, "as published")
	t.Run("form", func(t *testing.T) {
		session, _ := begun("," + chooseVault)
		require.NotContains(t, c.run("bob", id, `{"session":"`+session+`","inputs":{"ok":"yes"}}`), zebra)
	})
	t.Run("resume", func(t *testing.T) {
		_, run := begun("," + chooseVault)
		said := c.said("bob", c.made("bob", "POST", "/api/v2/runs/"+run+"/resume", `{"inputs":{"ok":"yes"}}`))
		require.NotContains(t, said, zebra)
	})
	t.Run("without session", func(t *testing.T) {
		run := c.made("bob", "POST", "/api/v2/canvases/"+id+"/runs", `{"published":true,`+chooseVault+`}`)
		require.Contains(t, c.said("bob", run), "paused")
		said := c.said("bob", c.made("bob", "POST", "/api/v2/runs/"+run+"/resume", `{"inputs":{"ok":"yes"}}`))
		require.NotContains(t, said, zebra)
	})
	t.Run("rerun", func(t *testing.T) {
		_, run := begun("," + chooseVault)
		resumed := c.made("bob", "POST", "/api/v2/runs/"+run+"/resume", `{"inputs":{"ok":"yes"}}`)
		c.said("bob", resumed)
		said := c.said("bob", c.made("bob", "POST", "/api/v2/runs/"+resumed+"/rerun", `{"node":"Retrieval:R"}`))
		require.NotContains(t, said, zebra)
	})
}

// A state that a member has written into a draft forges no rights in a session of it, nor when the
// member publishes it.
func TestForgedStatesInSessions(t *testing.T) {
	c := newCrew(t)
	inner := c.canvas("ann", asking(`"kb_ids":["shared"]`), true)
	c.publish("ann", inner)
	outer := c.canvas("bob", within(inner, ""), false)
	c.send("bob", "POST", "/v1/canvas/completion", `{"id":"`+outer+`","query":"code?"}`)
	var v struct{ DSL engine.Value }
	require.Eventually(t, func() bool {
		callAs(t, "bob", "GET", c.url+"/api/v2/canvases/"+outer, "", &v)
		return strings.Contains(v.DSL.JSON(), "publisher:"+c.users["ann"])
	}, patience, poll)
	forged := strings.ReplaceAll(v.DSL.JSON(), "shared", "vault")
	require.NotEqual(t, v.DSL.JSON(), forged)
	c.save("bob", outer, forged)
	c.publish("bob", outer)
	answer := `"query":"","question":"","stream":false,"inputs":{"Canvas:C/ok":"yes"}`
	for _, published := range []string{"false", "true"} {
		session := c.made("bob", "POST", "/api/v2/canvases/"+outer+"/sessions", `{"published":`+published+`}`)
		for range 2 {
			require.NotContains(t, c.run("bob", outer, `{"session":"`+session+`",`+answer+`}`), zebra)
		}
		require.NotContains(t, c.run("bob", outer, `{"published":`+published+`,`+answer+`}`), zebra)
		said := c.send("bob", "POST", "/api/v1/agents/"+outer+"/completions", `{`+answer+`}`)
		require.NotContains(t, said, zebra)
	}
	session := c.made("bob", "POST", "/api/v2/canvases/"+outer+"/sessions", `{}`)
	body := `{"session":"` + session + `","from":"Canvas:C",` + answer + `}`
	run := c.made("bob", "POST", "/api/v2/canvases/"+outer+"/runs", body)
	require.NotContains(t, c.said("bob", run), zebra)
}

// Draft sessions and schedules: what a colleague altered in a session does not act for the author.
func TestAlteredSessionsInSchedules(t *testing.T) {
	c := newCrew(t)
	id := c.canvas("ann", choosing, true)
	session := c.made("bob", "POST", "/api/v2/canvases/"+id+"/sessions", `{}`)
	run := c.made("bob", "POST", "/api/v2/canvases/"+id+"/runs", `{"session":"`+session+`",`+chooseVault+`}`)
	require.Contains(t, c.said("bob", run), "paused")
	schedule := c.made("bob", "POST", "/api/v2/schedules",
		`{"canvas":"`+id+`","name":"s","every":"1s","query":"","session":"`+session+`","inputs":{"ok":"yes"}}`)
	var runs struct{ Items []struct{ ID, Status string } }
	require.Eventually(c, func() bool {
		callAs(c.T, "bob", "GET", c.url+"/api/v2/runs?schedule="+schedule+"&canvas="+id+"&desc=false", "", &runs)
		return len(runs.Items) > 0 && runs.Items[0].Status != "running"
	}, patience, poll)
	c.made("bob", "PUT", "/api/v2/schedules/"+schedule, `{"paused":true}`)
	said := c.said("bob", runs.Items[0].ID)
	require.NotContains(t, said, zebra)
	require.Contains(t, said, `dataset "vault" does not exist`)
}
