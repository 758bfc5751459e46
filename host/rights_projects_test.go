package host

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// project makes a project with what canvases name: the dataset "vault", the memory, the secret PASS
// and a canvas. All are shared in it.
func (c *crew) project() (id, inner string) {
	c.Helper()
	id = c.made("key", "POST", "/api/v2/projects", `{"name":"Zoo"}`)
	inner = c.canvas("ann", searching(`"kb_ids":["vault"]`), false)
	c.publish("ann", inner)
	// The canvas acts for who published it, so its dataset stays in reach of ann.
	c.member("ann", id, "admin")
	place := fmt.Sprintf(`{"project":%q,"permission":"team"}`, id)
	c.made("ann", "PUT", "/api/v2/canvases/"+inner, place)
	c.made("ann", "PUT", "/api/v2/memories/"+c.diary, place)
	c.made("ann", "PATCH", "/api/v2/datasets/"+c.vault, fmt.Sprintf(`{"project":%q,"team":true}`, id))
	require.NotContains(c, c.send("ann", "PUT", "/api/v2/secrets/PASS", fmt.Sprintf(`{"value":%q,"project":%q}`,
		zebra, id)), "error")
	return id, inner
}

// member sets the role of a member in a project; "" takes it.
func (c *crew) member(key, project, role string) {
	c.Helper()
	subject, object := "user:"+c.users[key], "project:"+project
	if role == "" {
		c.send("key", "DELETE", "/api/v2/grants?subject="+subject+"&object="+object, "")
		return
	}
	said := c.send("key", "PUT", "/api/v2/grants",
		fmt.Sprintf(`{"subject":%q,"object":%q,"role":%q}`, subject, object, role))
	require.Contains(c, said, `"role":"`+role+`"`)
}

// secretSender returns a canvas that sends the secret PASS to a site and shows whether it arrived.
func secretSender(t *testing.T) string {
	t.Helper()
	site := httpServer(t, func(w http.ResponseWriter, r *http.Request) {
		said := "nothing"
		if r.Header.Get("X-Pass") == zebra {
			said = "it is " + quagga // the host hides the value itself
		}
		_, _ = w.Write([]byte(said)) // the client may be gone
	})
	return sketch.Chain(begin, `Invoke:R Invoke {"url":"`+site+`","method":"get","clean_html":false,
		"headers":"{\"X-Pass\":\"{{secret:PASS}}\"}"}`, `Message:M Message {"content":["found {Invoke:R@result}"]}`)
}

// TestPortsAcrossProjects runs canvases that name objects of another project through each port, in
// each way: they find them as far as the member has a role there for whom the run acts.
func TestPortsAcrossProjects(t *testing.T) {
	c := newCrew(t)
	project, inner := c.project()
	all := doors(c.vault, "vault", c.diary, inner)
	all["by a secret"] = secretSender(t)
	for _, step := range []struct {
		role string
		sees []string // doors that are open to bob beyond none
		none bool
	}{
		{"", nil, true},
		{"viewer", nil, false},
		{"runner", nil, false},
		{"", nil, true},
	} {
		c.member("bob", project, step.role)
		for door, dsl := range all {
			id := c.canvas("bob", dsl, false)
			c.publish("bob", id)
			// A viewer reads documents; memories, canvases and secrets are for those who run.
			runs := map[string]bool{
				"in a memory": true, "by a private canvas": true, "by a private canvas as a tool": true,
				"by a secret": true,
			}
			open := step.role == "runner" || step.role == "viewer" && !runs[door]
			want := zebra
			if door == "by a secret" {
				want = quagga
			}
			for way, run := range c.ways() {
				if door == "in a memory" && way != "own API" {
					continue
				}
				said, label := run("bob", id), fmt.Sprintf("%s as %q, %s: ", door, step.role, way)
				if open {
					require.Contains(t, said, want, label+said)
				} else {
					require.NotContains(t, said, want, label+said)
				}
			}
		}
	}
}

// A published canvas acts for its publisher in each project, until the publisher loses the role:
// its runs then fail and name the object. A draft inside of it has no secrets of the publisher.
func TestPublisherLosesTheProject(t *testing.T) {
	c := newCrew(t)
	project, _ := c.project()
	c.member("bob", project, "runner")
	id := c.canvas("bob", searching(`"kb_ids":["vault"]`), true)
	sends := c.canvas("bob", secretSender(t), true)
	c.publish("bob", id)
	c.publish("bob", sends)
	require.Contains(t, c.visit(id, true), zebra)
	require.Contains(t, c.visit(sends, true), quagga)

	// What a stranger to the project saved is run inside of what bob published.
	c.join("carl")
	carls := c.canvas("carl", secretSender(t), true)
	outer := c.canvas("bob", sketch.Chain(begin, `Canvas:C Canvas {"canvas":"`+carls+`","version":"draft"}`,
		`Message:M Message {"content":["found {Canvas:C@content}"]}`), true)
	c.publish("bob", outer)
	require.NotContains(t, c.visit(outer, true), quagga)
	c.save("bob", carls, secretSender(t))
	require.Contains(t, c.visit(outer, true), quagga, "bob saved it")

	c.member("bob", project, "")
	const why = `dataset "vault" does not exist, or the publisher of this canvas has no access to it any more`
	require.Contains(t, c.scheduled("key", id, true), why)
	require.NotContains(t, c.visit(id, true), zebra)
	require.Contains(t, c.scheduled("key", sends, true), `secret "PASS"`)
	require.NotContains(t, c.visit(sends, true), quagga)
	c.publish("ann", id)
	require.Contains(t, c.visit(id, true), zebra)
}
