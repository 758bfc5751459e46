package host

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/knowledge/ingest"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/store"
)

// asking is a canvas that pauses at a form and searches then.
func asking(params string) string {
	return sketch.Chain(begin,
		`UserFillUp:F UserFillUp {"enable_tips":true,"tips":"ready?","inputs":{"ok":{"name":"ok","type":"line"}}}`,
		`Retrieval:R Retrieval {"query":"code",`+params+`}`,
		`Message:M Message {"content":["found {Retrieval:R@formalized_content}"]}`)
}

// A colleague who continues or repeats a run of a draft does so with its rights, and that of
// a published version with those of its publisher, as long as nothing in it is altered.
func TestRunsOfOthersAreContinuedWithoutTheirRights(t *testing.T) {
	c := newCrew(t)
	id := c.canvas("ann", searching(`"kb_ids":["vault"]`), true)
	session := c.made("ann", "POST", "/api/v2/canvases/"+id+"/sessions", `{}`)
	turn := `{"session":"` + session + `"}`
	require.Contains(t, c.run("ann", id, turn), zebra)
	require.NotContains(t, strings.Replace(c.run("bob", id, turn), "found", "", 1), zebra)
	require.Contains(t, c.run("ann", id, turn), zebra)

	first := c.made("ann", "POST", "/api/v2/canvases/"+id+"/runs", `{}`)
	c.said("ann", first)
	again := func(key, run, more string) string {
		return c.said(key, c.made(key, "POST", "/api/v2/runs/"+run+"/rerun", `{"node":"Retrieval:R"`+more+`}`))
	}
	require.Contains(t, again("ann", first, ""), zebra)
	require.NotContains(t, again("bob", first, ""), zebra)

	form := c.canvas("ann", asking(`"kb_ids":["vault"]`), true)
	resume := func(by, with, body string) string {
		paused := c.made(by, "POST", "/api/v2/canvases/"+form+"/runs", body)
		require.Contains(t, c.said(by, paused), "paused")
		return c.said(with, c.made(with, "POST", "/api/v2/runs/"+paused+"/resume", `{"inputs":{"ok":"yes"}}`))
	}
	require.Contains(t, resume("ann", "ann", `{}`), zebra)
	require.NotContains(t, resume("ann", "bob", `{}`), zebra)
	require.Contains(t, resume("bob", "ann", `{}`), zebra)

	c.publish("ann", id)
	c.publish("ann", form)
	published := c.made("bob", "POST", "/api/v2/canvases/"+id+"/runs", `{"published":true}`)
	require.Contains(t, c.said("bob", published), zebra, "the publisher let those who may use the canvas read it")
	require.Contains(t, again("bob", published, ""), zebra)
	require.NotContains(t, again("bob", published, `,"pins":{"begin":{}}`), zebra)
	require.Contains(t, resume("bob", "bob", `{"published":true}`), zebra)
	session = c.made("bob", "POST", "/api/v2/canvases/"+id+"/sessions", `{"published":true}`)
	require.Contains(t, c.run("bob", id, `{"session":"`+session+`"}`), zebra)
	require.NotContains(t, c.run("bob", id, `{"session":"`+session+`","pins":{"begin":{}}}`), zebra)
}

// Who edits a shared canvas brings in its rights in unattended runs, never those of its
// creator, and what is published stays as its publisher published it.
func TestEditsOfSharedCanvases(t *testing.T) {
	c := newCrew(t)
	id := c.canvas("ann", says("nothing"), true)
	ways := func(published bool) map[string]string {
		out := map[string]string{"embedded": c.visit(id, published), "schedule": c.scheduled("ann", id, published)}
		if !published {
			out["webhook"] = c.send("", "POST", "/api/v1/webhook/"+id, `{}`)
		}
		return out
	}
	reads := func(want bool, published bool) {
		t.Helper()
		for way, said := range ways(published) {
			require.Equal(t, want, strings.Contains(said, zebra), "%s: %s", way, said)
		}
	}
	bobs := searching(`"kb_ids":["vault"]`)
	c.save("bob", id, bobs)
	reads(false, false)
	require.Contains(t, c.run("ann", id, `{}`), zebra, "a draft acts for who runs it")
	c.made("ann", "PUT", "/api/v2/canvases/"+id, `{"title":"renamed","dsl":`+bobs+`}`)
	reads(false, false)
	c.save("ann", id, searching(`"kb_ids":["vault"],"top_n":7`))
	reads(true, false)
	c.publish("ann", id)
	c.save("bob", id, bobs)
	reads(false, false)
	reads(true, true)
	c.publish("bob", id)
	reads(false, true)
}

// A publisher who loses access, or leaves, fails unattended runs, which name the object,
// until somebody publishes who has access.
func TestPublisherLosesAccess(t *testing.T) {
	c := newCrew(t)
	handbook := c.dataset("key", "handbook", "The code of the lift is "+zebra+".", true)
	id := c.canvas("ann", searching(`"kb_ids":["handbook"]`), true)
	c.publish("ann", id)
	require.Contains(t, c.visit(id, true), zebra)
	share := func(team string) { c.made("key", "PATCH", "/api/v2/datasets/"+handbook, `{"team":`+team+`}`) }
	share("false")
	const why = `dataset "handbook" does not exist, or the publisher of this canvas has no access to it any more; ` +
		`a user with access has to publish the canvas again`
	require.Contains(t, c.scheduled("key", id, true), why)
	require.NotContains(t, c.visit(id, true), zebra)
	c.publish("key", id)
	require.Contains(t, c.visit(id, true), zebra)

	// What a member published who is gone uses nothing; a draft uses what the whole tenant may.
	private, team := searching(`"kb_ids":["vault"]`), searching(`"kb_ids":["shared"]`)
	privates, teams := c.canvas("ann", private, true), c.canvas("ann", team, true)
	c.publish("ann", privates)
	c.publish("ann", teams)
	require.Contains(t, c.visit(privates, true), zebra)
	require.NoError(t, c.h.store.Members.Delete(t.Context(), firstTenantID, c.users["ann"]))
	require.Contains(t, c.scheduled("key", privates, true), `dataset "vault" does not exist, or the publisher`)
	require.NotContains(t, c.visit(privates, false), zebra)
	require.NotContains(t, c.visit(teams, true), quagga)
	require.Contains(t, c.scheduled("key", teams, true), `dataset "shared" does not exist, or the publisher`)
	require.Contains(t, c.visit(teams, false), quagga)
	c.publish("key", teams)
	require.Contains(t, c.visit(teams, true), quagga)
}

// A canvas inside of another one runs with the rights of its publisher; a draft has those of an
// unattended run around it only if the same member saved it.
func TestCanvasesInsideOfOthers(t *testing.T) {
	c := newCrew(t)
	inner := c.canvas("ann", searching(`"kb_ids":["vault"]`), true)
	of := func(version string) string {
		return strings.Replace(within(inner, version), "begin Begin", begin, 1)
	}
	require.Contains(t, c.run("bob", c.canvas("bob", of(""), false), `{}`), "publish it, or name a version")
	c.publish("ann", inner)
	bobs := c.canvas("bob", of(""), false)
	require.Contains(t, c.run("bob", bobs, `{}`), zebra)
	require.Contains(t, c.visit(bobs, false), zebra)
	require.NotContains(t, c.run("bob", c.canvas("bob", of("draft"), false), `{}`), zebra)

	// The draft that bob published is edited by ann, who names what bob keeps for himself.
	c.dataset("bob", "papers", "The code of the desk is "+zebra+".", false)
	c.save("ann", inner, searching(`"kb_ids":["papers"]`))
	drafts := c.canvas("bob", of("draft"), true)
	c.publish("bob", drafts)
	require.NotContains(t, c.visit(drafts, true), zebra)
	require.Contains(t, c.run("bob", drafts, `{}`), zebra, "bob runs it and is present")
	c.save("bob", inner, searching(`"kb_ids":["papers"],"top_n":7`))
	require.Contains(t, c.visit(drafts, true), zebra)

	// Of a private canvas a colleague learns nothing.
	private := c.canvas("ann", says(zebra), false)
	c.publish("ann", private)
	unknown := func(id string) string {
		said := c.run("bob", c.canvas("bob", within(id, ""), false), `{}`)
		return strings.ReplaceAll(said, id, "x")
	}
	require.Equal(t, unknown(engine.RandomIDs{}.NewID()), unknown(private))
}

// A canvas that waits for a form inside of another one continues with the rights that it had, and a
// forged state adds no rights.
func TestInnerCanvasContinuesWithItsRights(t *testing.T) {
	c := newCrew(t)
	inner := c.canvas("ann", asking(`"kb_ids":["vault"]`), true)
	c.publish("ann", inner)
	outer := c.canvas("bob", within(inner, ""), false)
	session := c.made("bob", "POST", "/api/v2/canvases/"+outer+"/sessions", `{}`)
	require.Contains(t, c.run("bob", outer, `{"session":"`+session+`"}`), "paused")
	c.save("ann", inner, says("nothing"))
	c.publish("ann", inner)
	answer := `{"session":"` + session + `","inputs":{"Canvas:C/ok":"yes"}}`
	require.Contains(t, c.run("bob", outer, answer), zebra)

	c.save("ann", inner, asking(`"kb_ids":["shared"]`))
	c.publish("ann", inner)
	c.send("bob", "POST", "/v1/canvas/completion", `{"id":"`+outer+`","query":"code?"}`)
	var v struct{ DSL engine.Value }
	require.Eventually(t, func() bool { // the state is saved behind the events
		callAs(t, "bob", "GET", c.url+"/api/v2/canvases/"+outer, "", &v)
		return strings.Contains(v.DSL.JSON(), "publisher:"+c.users["ann"])
	}, patience, poll)
	forged := strings.ReplaceAll(v.DSL.JSON(), "shared", "vault")
	require.NotEqual(t, v.DSL.JSON(), forged)
	c.save("bob", outer, forged)
	said := c.send("bob", "POST", "/v1/canvas/completion",
		`{"id":"`+outer+`","query":"","inputs":{"Canvas:C/ok":"yes"}}`)
	require.NotContains(t, said, zebra)
	require.Contains(t, said, "does not exist")
}

// A pipeline acts for the member who chose it, as far as its author may too.
func TestPipelinesActForWhoChoseThem(t *testing.T) {
	c := newCrew(t)
	private, team := c.canvas("ann", says("x"), false), c.canvas("ann", says("x"), true)
	of := func(canvas, by string, rerun *dataset.Rerun) (access.Actor, error) {
		in := ingest.Input{Tenant: firstTenantID, Pipeline: canvas, PipelineBy: by, Rerun: rerun}
		_, actor, err := pipelineOf(t.Context(), &in, c.h.store)
		return actor, err
	}
	ann, bob := c.users["ann"], c.users["bob"]
	actor, err := of(private, ann, nil)
	require.NoError(t, err)
	require.Equal(t, access.Actor{User: ann, As: access.Author}, actor)
	_, err = of(private, bob, nil)
	require.ErrorContains(t, err, "no such canvas in this tenant, or the member who chose it has no access to it")
	_, err = of(private, "", nil)
	require.ErrorContains(t, err, "no such canvas")
	actor, err = of(team, bob, nil)
	require.NoError(t, err)
	require.Equal(t, access.Actor{As: access.Author}, actor, "ann may edit what bob chose")
	actor, err = of(private, ann, &dataset.Rerun{Canvas: []byte(says("y")), By: bob})
	require.NoError(t, err)
	require.Equal(t, access.Actor{User: bob, As: access.Author}, actor)

	// A dataset and its documents keep who chose the pipeline last.
	service := c.h.datasets.Service
	anns, bobs := app.For(c.viewer("ann")), app.For(c.viewer("bob"))
	ds, err := service.Create(t.Context(), anns, dataset.Dataset{Name: "p", Team: true, Pipeline: team})
	require.NoError(t, err)
	upload := func(name string) *store.Document {
		d, err := service.Upload(t.Context(), bobs, ds.ID, app.Upload{Name: name, Body: strings.NewReader("x")})
		require.NoError(t, err)
		v, err := c.h.store.Documents.Get(t.Context(), firstTenantID, ds.ID, d.ID)
		require.NoError(t, err)
		return &v
	}
	require.Equal(t, ann, upload("a.md").PipelineBy)
	same, other := team, private
	_, err = service.Update(t.Context(), bobs, ds.ID, app.DatasetPatch{Pipeline: &same})
	require.NoError(t, err)
	require.Equal(t, ann, upload("b.md").PipelineBy)
	_, err = service.Update(t.Context(), bobs, ds.ID, app.DatasetPatch{Pipeline: &other})
	require.NoError(t, err)
	d := upload("c.md")
	require.Equal(t, bob, d.PipelineBy)
	_, err = service.UpdateDocument(t.Context(), anns, ds.ID, d.ID, app.DocumentPatch{Pipeline: &same})
	require.NoError(t, err)
	stored, err := c.h.store.Documents.Get(t.Context(), firstTenantID, ds.ID, d.ID)
	require.NoError(t, err)
	require.Equal(t, ann, stored.PipelineBy)
}

// The objects of a member who leaves go to any heir, but what it has published reads nothing until
// the heir publishes it again: others must not read what the heir has private. For an heir who
// removes the member, what acted for the member acts on, and its keys if that is asked for.
func TestLeaversHandOverWhatRuns(t *testing.T) {
	c := newCrew(t)
	id := c.canvas("ann", searching(`"kb_ids":["vault"]`), true)
	c.publish("ann", id)
	require.Contains(t, c.visit(id, true), zebra)
	require.Contains(t, c.scheduled("ann", id, true), zebra)
	remove := "/api/v2/users/" + c.users["ann"]
	require.Contains(t, c.send("bob", "DELETE", remove+"?hand_over_to="+c.users["bob"], ""), `"forbidden"`)
	for _, to := range []string{c.users["ann"], "stranger"} {
		require.Contains(t, c.send("key", "DELETE", remove+"?hand_over_to="+to, ""), "hand_over_to")
	}
	require.Contains(t, c.send("key", "GET", remove+"/belongings", ""), `"published":1`)
	keys := remove + "?hand_over_keys=true&hand_over_to=" + c.users["bob"]
	require.Contains(t, c.send("key", "DELETE", keys, ""), "hand_over_keys")
	require.Empty(t, c.send("key", "DELETE", remove+"?hand_over_to="+c.users["bob"], ""))

	require.Contains(t, c.send("bob", "GET", "/api/v2/datasets/"+c.vault, ""), "vault")
	require.NotContains(t, c.visit(id, true), zebra, "bob has not published it")
	require.NotContains(t, c.visit(id, false), zebra, "nor saved it")
	require.Contains(t, c.send("ann", "GET", "/api/v2/me", ""), "unauthorized")
	c.publish("bob", id)
	require.Contains(t, c.visit(id, true), zebra)

	remove = "/api/v2/users/" + c.users["bob"]
	require.Empty(t, c.send("key", "DELETE", remove+"?hand_over_keys=true&hand_over_to="+c.users["key"], ""))
	require.Contains(t, c.visit(id, true), zebra, "the published version acts for who removed bob")
	require.Contains(t, c.send("bob", "GET", "/api/v2/me", ""), c.users["key"])
}

// The token with which pages embed all canvases of a leaver is known outside, as keys are: it
// becomes one for all canvases of the heir only if that is asked for.
func TestLeaversKeepNoTokenForCanvasesOfTheHeir(t *testing.T) {
	for query, opens := range map[string]bool{"": false, "&hand_over_keys=true": true} {
		c := newCrew(t)
		c.dataset("key", "safe", "The code of the safe is "+zebra+".", false)
		private := c.canvas("key", searching(`"kb_ids":["safe"]`), false)
		token, err := c.h.store.Betas.ForAll(c.Context(), firstTenantID, c.users["bob"])
		require.NoError(t, err)
		visit := func() string {
			return c.send(token.Text, "POST", "/0.27/api/v1/agentbots/"+private+"/completions",
				`{"question":"code?","stream":false}`)
		}
		require.NotContains(t, visit(), zebra)
		path := "/api/v2/users/" + c.users["bob"] + "?hand_over_to=" + c.users["key"] + query
		require.Empty(t, c.send("key", "DELETE", path, ""))
		if said := visit(); opens {
			require.Contains(t, said, zebra)
		} else {
			require.NotContains(t, said, zebra)
		}
	}
}
