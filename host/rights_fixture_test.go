package host

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/memories"
	"github.com/easel-canvas/easel/host/internal/model"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/store"
)

// zebra is the text that only ann may read, and quagga the text that the whole tenant may read.
const (
	zebra  = "zebra"
	quagga = "quagga"
)

// crew is a host whose tenant has an owner and the members ann and bob; the keys are "key" and
// their names. What ann keeps for herself has the text zebra, what she shares the text quagga.
type crew struct {
	*testing.T
	h     *Host
	url   string
	users map[string]string // ids by key

	vault, shared  string // datasets
	diary, minutes string // memories
}

func newCrew(t *testing.T) *crew {
	t.Helper()
	h, url := open(t, Config{shortest: time.Second, AllowPrivate: true, Models: Models{Providers: []model.Provider{{
		Name: "local", BaseURL: searchCaller(t) + "/v1",
	}}}})
	c := &crew{T: t, h: h, url: url, users: map[string]string{"key": firstUserID}}
	for _, name := range []string{"ann", "bob"} {
		c.join(name)
	}
	c.vault = c.dataset("ann", "vault", "The code of the vault is "+zebra+".", false)
	c.shared = c.dataset("ann", "shared", "The code of the gate is "+quagga+".", true)
	c.diary = c.memory("diary", zebra, memories.PermissionMe)
	c.minutes = c.memory("minutes", quagga, memories.PermissionTeam)
	return c
}

// join adds a member with a key of the same name.
func (c *crew) join(name string) {
	c.Helper()
	u := store.User{Email: name + "@x.org", Nickname: name}
	u, err := c.h.store.Users.CreateMember(c.Context(), store.Member{Tenant: firstTenantID, Role: "normal"}, u, "pw")
	require.NoError(c, err)
	c.users[name] = u.ID
	key := store.Key{Tenant: firstTenantID, User: u.ID, Name: name, Scopes: app.RAGFlowScopes}
	_, _, err = c.h.store.Keys.Create(c.Context(), key, name)
	require.NoError(c, err)
}

func (c *crew) viewer(key string) access.Viewer {
	return access.Viewer{Tenant: firstTenantID, User: c.users[key]}
}

// dataset makes a dataset of one document.
func (c *crew) dataset(key, name, text string, team bool) string {
	c.Helper()
	who, service := app.For(c.viewer(key)), c.h.datasets.Service
	ds, err := service.Create(c.Context(), who, dataset.Dataset{Name: name, Team: team})
	require.NoError(c, err)
	d, err := service.Upload(c.Context(), who, ds.ID, app.Upload{Name: name + ".md", Body: strings.NewReader(text)})
	require.NoError(c, err)
	meta := map[string]any{"kind": "code"}
	_, err = service.UpdateDocument(c.Context(), who, ds.ID, d.ID, app.DocumentPatch{Meta: &meta})
	require.NoError(c, err)
	require.NoError(c, service.Parse(c.Context(), who, ds.ID, d.ID))
	require.Eventually(c, func() bool {
		now, err := service.Document(c.Context(), who, ds.ID, d.ID)
		return err == nil && now.State == dataset.Done
	}, patience, 5*time.Millisecond)
	return ds.ID
}

// memory makes a memory of ann with a message.
func (c *crew) memory(name, text, permission string) string {
	c.Helper()
	s := memories.New(c.h.store, c.h.models)
	who := memories.Principal{Viewer: c.viewer("ann")}
	settings := memories.Defaults()
	settings.Permission = permission
	m, err := s.Create(c.Context(), who, name, settings)
	require.NoError(c, err)
	require.NoError(c, s.Add(c.Context(), who, []string{m.ID}, memories.Exchange{Input: "code?", Response: text}))
	return m.ID
}

// remembered returns how many messages a memory has.
func (c *crew) remembered(memory string) int {
	c.Helper()
	_, n, err := c.h.store.Memories.Messages(
		c.Context(), firstTenantID, store.MemoryFilter{Memories: []string{memory}}, store.Page{Limit: 1},
	)
	require.NoError(c, err)
	return n
}

// send makes a request of any status and returns the text of its response.
func (c *crew) send(key, method, path, body string) string {
	c.Helper()
	req, err := http.NewRequestWithContext(c.Context(), method, c.url+path, strings.NewReader(body))
	require.NoError(c, err)
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultClient.Do(req)
	require.NoError(c, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(c, err)
	return string(text)
}

// made sends a request that has to succeed and returns the id in its response.
func (c *crew) made(key, method, path, body string) string {
	c.Helper()
	var v struct{ ID string }
	callAs(c.T, key, method, c.url+path, body, &v)
	return v.ID
}

// canvas saves a canvas, which is shared with the tenant if team is set.
func (c *crew) canvas(key, dsl string, team bool) string {
	c.Helper()
	permission := "me"
	if team {
		permission = "team"
	}
	return c.made(key, "POST", "/api/v2/canvases",
		fmt.Sprintf(`{"title":"c %d","permission":%q,"dsl":%s}`, time.Now().UnixNano(), permission, dsl))
}

func (c *crew) save(key, id, dsl string) {
	c.Helper()
	c.made(key, "PUT", "/api/v2/canvases/"+id, `{"dsl":`+dsl+`}`)
}

func (c *crew) publish(key, id string) {
	c.Helper()
	c.made(key, "POST", "/api/v2/canvases/"+id+"/publish", `{}`)
}

// visit sends a question to an embedded canvas, in the dialect that can choose the published
// version.
func (c *crew) visit(id string, published bool) string {
	c.Helper()
	token, err := c.h.store.Betas.For(c.Context(), firstTenantID, id)
	require.NoError(c, err)
	return c.send(token.Text, "POST", "/0.27/api/v1/agentbots/"+id+"/completions",
		fmt.Sprintf(`{"question":"code?","stream":false,"release":%v}`, published))
}

// scheduled makes a schedule and returns the answer of its first run. The schedule is paused then.
func (c *crew) scheduled(key, id string, published bool) string {
	c.Helper()
	schedule := c.made(key, "POST", "/api/v2/schedules", fmt.Sprintf(
		`{"canvas":%q,"name":"s %d","every":"1s","query":"code?","published":%v}`,
		id, time.Now().UnixNano(), published))
	var runs struct{ Items []struct{ ID, Status string } }
	require.Eventually(c, func() bool {
		callAs(c.T, key, "GET", c.url+"/api/v2/runs?schedule="+schedule+"&canvas="+id+"&desc=false", "", &runs)
		return len(runs.Items) > 0 && runs.Items[0].Status != "running"
	}, patience, poll)
	c.made(key, "PUT", "/api/v2/schedules/"+schedule, `{"paused":true}`)
	return c.said(key, runs.Items[0].ID)
}

// said waits for the end of a run and returns what it said with its error.
func (c *crew) said(key, run string) string {
	c.Helper()
	var r struct{ Status, Error string }
	require.Eventually(c, func() bool {
		callAs(c.T, key, "GET", c.url+"/api/v2/runs/"+run, "", &r)
		return r.Status != "running"
	}, patience, poll)
	answer := r.Status + " " + r.Error
	for line := range frames(c.T, strings.NewReader(c.send(key, "GET", "/api/v2/runs/"+run+"/events", ""))) {
		var e struct {
			Event string
			Data  struct{ Content string }
		}
		require.NoError(c, json.Unmarshal([]byte(line), &e))
		if e.Event == "message" {
			answer += e.Data.Content
		}
	}
	return answer
}

// run runs a canvas and returns what it said with its error.
func (c *crew) run(key, id, body string) string {
	c.Helper()
	return c.said(key, c.made(key, "POST", "/api/v2/canvases/"+id+"/runs", body))
}

// searchCaller returns a model server that calls the first offered tool with a question, and
// answers with the result of the tool.
func searchCaller(t *testing.T) (url string) {
	return httpServer(t, func(w http.ResponseWriter, r *http.Request) {
		var ask struct {
			Messages []struct{ Role, Content string }
			Tools    []struct{ Function struct{ Name string } }
		}
		if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		delta, reason := map[string]any{"content": "nothing to search"}, "stop"
		if last := ask.Messages[len(ask.Messages)-1]; last.Role == "tool" {
			delta["content"] = "found " + last.Content
		} else if len(ask.Tools) > 0 {
			reason = "tool_calls"
			delta = map[string]any{"tool_calls": []any{map[string]any{
				"index": 0, "id": "c1", "type": "function", "function": map[string]any{
					"name": ask.Tools[0].Function.Name, "arguments": `{"query":"code"}`,
				},
			}}}
		}
		raw, err := json.Marshal(map[string]any{"choices": []any{map[string]any{
			"index": 0, "delta": delta, "finish_reason": reason,
		}}})
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", raw) // the client may be gone
	})
}
