package host

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// begin is a start that webhooks can begin at, and answers when the run has ended.
const begin = `begin Begin {"mode":"Webhook","execution_mode":"Streaming",
	"security":{"auth_type":"none","allow_anonymous":true}}`

// searching returns a canvas that searches as the params of a Retrieval say.
func searching(params string) string {
	return sketch.Chain(begin, `Retrieval:R Retrieval {"query":"code",`+params+`}`,
		`Message:M Message {"content":["found {Retrieval:R@formalized_content}"]}`)
}

// doors are canvases by which a run reads objects by name, given as dataset and memory.
func doors(ds, name, memory, inner string) map[string]string {
	variable := strings.TrimSuffix(searching(`"kb_ids":["{env.kb}"]`), "}") +
		`,"variables":{"kb":{"type":"string","value":"` + ds + `"}}}`
	tool := `Retrieval`
	return map[string]string{
		"by id":          searching(`"kb_ids":["` + ds + `"]`),
		"by name":        searching(`"kb_ids":["` + strings.ToUpper(name) + `"]`),
		"by later name":  searching(`"dataset_ids":["` + ds + `"]`),
		"beside another": searching(`"kb_ids":["shared","` + ds + `"]`),
		"by reference":   variable,
		"by metadata": searching(`"kb_ids":["` + ds + `"],"meta_data_filter":{"method":"manual",
			"manual":[{"key":"kind","op":"=","value":"code"}]}`),
		"by a filter of the model": searching(`"kb_ids":["` + ds + `"],"meta_data_filter":{"method":"auto"}`),
		"by the tool of an agent": sketch.Chain(begin, `Agent:A Agent {"tool_mode":"native","llm_id":"any@local",
			"prompts":[{"role":"user","content":"code?"}],"tools":[{"component_name":"`+tool+`","name":"Search",
			"params":{"kb_ids":["`+ds+`"]}}]}`, `Message:M Message {"content":["{Agent:A@content}"]}`),
		"in a memory": searching(`"retrieval_from":"memory","memory_ids":["` + memory + `"]`),
		"by a private canvas": sketch.Chain(begin, `Canvas:C Canvas {"canvas":"`+inner+`","query":"code"}`,
			`Message:M Message {"content":["found {Canvas:C@content}"]}`),
		"by a private canvas as a tool": sketch.Chain(begin, `Agent:A Agent {"tool_mode":"native","llm_id":"any@local",
			"prompts":[{"role":"user","content":"code?"}],"tools":[{"component_name":"Canvas","name":"Inner",
			"params":{"canvas":"`+inner+`"}}]}`, `Message:M Message {"content":["{Agent:A@content}"]}`),
	}
}

// ways are requests that run a canvas of a member, and its answer.
func (c *crew) ways() map[string]func(key, id string) string {
	return map[string]func(key, id string) string{
		"own API":  func(key, id string) string { return c.run(key, id, `{}`) },
		"as saved": func(key, id string) string { return c.run(key, id, `{"published":true}`) },
		"session": func(key, id string) string {
			return c.send(key, "POST", "/api/v1/agents/"+id+"/completions", `{"question":"code?","stream":false}`)
		},
		"newer session": func(key, id string) string {
			return c.send(key, "POST", "/0.27/api/v1/agents/chat/completions",
				`{"agent_id":"`+id+`","query":"code?","stream":false,"release":true}`)
		},
		"editor": func(key, id string) string {
			return c.send(key, "POST", "/v1/canvas/completion", `{"id":"`+id+`","query":"code?"}`)
		},
		"OpenAI's form": func(key, id string) string {
			return c.send(key, "POST", "/api/v1/agents_openai/"+id+"/chat/completions",
				`{"model":"m","messages":[{"role":"user","content":"code?"}]}`)
		},
		"embedded draft": func(_, id string) string { return c.visit(id, false) },
		"embedded":       func(_, id string) string { return c.visit(id, true) },
		"webhook":        func(_, id string) string { return c.send("", "POST", "/api/v1/webhook/"+id, `{}`) },
		"webhook test":   func(key, id string) string { return c.send(key, "POST", "/api/v1/webhook_test/"+id, `{}`) },
	}
}

// TestRunsReadWhatTheirMemberMay runs canvases of each member in each way, and through each door:
// what ann keeps for herself answers in hers only, what she shares in all.
func TestRunsReadWhatTheirMemberMay(t *testing.T) {
	c := newCrew(t)
	inner := c.canvas("ann", searching(`"kb_ids":["vault"]`), false)
	c.publish("ann", inner)
	innerShared := c.canvas("ann", searching(`"kb_ids":["shared"]`), true)
	c.publish("ann", innerShared)
	private, team := doors(c.vault, "vault", c.diary, inner), doors(c.shared, "shared", c.minutes, innerShared)
	for _, key := range []string{"key", "ann", "bob"} {
		for door, dsl := range private {
			id, public := c.canvas(key, dsl, false), c.canvas(key, team[door], false)
			c.publish(key, id)
			c.publish(key, public)
			for way, run := range c.ways() {
				name := fmt.Sprintf("%s, %s, %s", key, door, way)
				if door == "in a memory" && strings.HasPrefix(way, "embedded") { // messages of its visitor only
					said := run(key, id) + run(key, public)
					require.NotContains(t, said, zebra, name)
					require.NotContains(t, said, quagga, name)
					continue
				}
				if key == "ann" {
					require.Contains(t, run(key, id), zebra, name)
				} else {
					require.NotContains(t, run(key, id), zebra, name)
				}
				require.Contains(t, run(key, public), quagga, name)
			}
		}
	}
}

// A schedule acts for the author of the draft, or the publisher.
func TestSchedulesReadWhatTheirMemberMay(t *testing.T) {
	c := newCrew(t)
	for _, key := range []string{"ann", "bob"} {
		id := c.canvas(key, searching(`"kb_ids":["vault"]`), true)
		c.publish(key, id)
		for _, published := range []bool{false, true} {
			said := c.scheduled("key", id, published)
			if key == "ann" {
				require.Contains(t, said, zebra, "the owner's schedule of ann's canvas, published %v", published)
			} else {
				require.NotContains(t, said, zebra)
				require.Contains(t, said, `dataset "vault" does not exist`)
			}
		}
	}
}

// A run writes into memories that its member may use, and into no others.
func TestRunsRememberWhereTheirMemberMay(t *testing.T) {
	c := newCrew(t)
	remembering := func(memory string) string {
		return sketch.Chain(begin, `Message:M Message {"content":["noted"],"memory_ids":["`+memory+`"]}`)
	}
	for _, key := range []string{"key", "bob", "ann"} {
		private, team := c.canvas(key, remembering(c.diary), false), c.canvas(key, remembering(c.minutes), false)
		c.publish(key, private)
		c.publish(key, team)
		for way, run := range c.ways() {
			before, shared := c.remembered(c.diary), c.remembered(c.minutes)
			require.Contains(t, run(key, private), "noted", way)
			require.Contains(t, run(key, team), "noted", way)
			wrote := 0
			if key == "ann" {
				wrote = 1
			}
			require.Equal(t, before+wrote, c.remembered(c.diary), "%s, %s", key, way)
			require.Equal(t, shared+1, c.remembered(c.minutes), "%s, %s", key, way)
		}
	}
}

// A node that is tried alone acts for who tries it.
func TestDebugReadsWhatItsMemberMay(t *testing.T) {
	c := newCrew(t)
	id := c.canvas("ann", searching(`"kb_ids":["vault"]`), true)
	try := func(key string) string {
		return c.send(key, "POST", "/v1/canvas/debug", `{"id":"`+id+`","component_id":"Retrieval:R","params":{}}`)
	}
	require.NotContains(t, try("bob"), zebra)
	require.Contains(t, try("bob"), "does not exist; there are shared")
	require.Contains(t, try("ann"), zebra)
}

// A wrong name lists what the one who runs the canvas may use; an unattended run lists
// nothing, and names what is missing.
func TestErrorsNameWhatTheirReaderMayUse(t *testing.T) {
	c := newCrew(t)
	for key, there := range map[string]string{"ann": "there are shared, vault", "bob": "there are shared"} {
		id := c.canvas(key, searching(`"kb_ids":["handbook"]`), true)
		c.publish(key, id)
		said := c.run(key, id, `{}`)
		require.Contains(t, said, `dataset "handbook" does not exist; `+there)
		require.Equal(t, key == "ann", strings.Contains(said, "vault"))
		said = c.run(key, id, `{"published":true}`)
		require.Contains(t, said, `dataset "handbook" does not exist, or the publisher of this canvas has no access`)
		require.NotContains(t, said, "shared")
	}
	notFound := func(name string) string {
		id := c.canvas("bob", searching(`"kb_ids":["`+name+`"]`), false)
		return strings.ReplaceAll(c.run("bob", id, `{}`), name, "x")
	}
	require.Equal(t, notFound("nothing"), notFound("vault"), "a private dataset is like none")
}
