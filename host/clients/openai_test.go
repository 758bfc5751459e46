package clients

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type understood struct {
	Whole, Streamed, ID, StreamID, Finish string
	Usage, Pieces                         int
	Refusal, Unauthorized                 *struct {
		Status        int
		Name, Message string
	}
}

// TestOpenAIClient queries agents and the host's models through openai-node.
func TestOpenAIClient(t *testing.T) {
	needNode(t)
	s := serve(t, nil)
	id := s.canvas("echo", echo)
	for _, c := range []struct{ name, base, model, want string }{
		{"agent", "/api/v1/agents_openai/" + id, "whatever", "Du sagst: tea? ✓"},
		{"agent, 0.27 dialect", "/0.27/api/v1/agents_openai/" + id, "whatever", "Du sagst: tea? ✓"},
		{"model list of the host", "/api/llm", "any", "Offline answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got understood
			script(t, &got, "openai.mjs", s.url+c.base, s.key, c.model, "tea?")
			require.Contains(t, got.Whole, c.want)
			require.Equal(t, got.Whole, got.Streamed)
			require.Greater(t, got.Pieces, 1)
			require.Positive(t, got.Usage)
			require.NotEmpty(t, got.ID)
			require.NotEmpty(t, got.StreamID)
			require.Equal(t, "stop", got.Finish)
			require.NotNil(t, got.Unauthorized)
			require.Equal(t, 401, got.Unauthorized.Status)
			require.Equal(t, "AuthenticationError", got.Unauthorized.Name)
			if c.base == "/api/llm" {
				require.Equal(t, 422, got.Refusal.Status)
				require.Contains(t, got.Refusal.Message, "messages is empty; expected a list")
			}
		})
	}
	t.Run("a session continues", func(t *testing.T) {
		var session struct{ Data struct{ ID string } }
		s.call("POST", "/api/v1/agents/"+id+"/sessions", map[string]any{}).into(t, &session)
		var got understood
		script(t, &got, "openai.mjs", s.url+"/api/v1/agents_openai/"+id, s.key, "m", "more", session.Data.ID)
		require.Equal(t, session.Data.ID, got.ID)
		require.Equal(t, session.Data.ID, got.StreamID)
		var list struct{ Data []struct{ Round int } }
		s.call("GET", "/api/v1/agents/"+id+"/sessions?id="+session.Data.ID, nil).into(t, &list)
		require.Equal(t, 2, list.Data[0].Round)
	})
}

type parsed struct {
	Type   string
	Events []struct {
		ID, Event string
		Data      struct {
			Event   string
			Session string `json:"session_id"`
			Task    string `json:"task_id"`
			Message string `json:"message_id"`
			Data    struct{ Content string }
		}
	}
	Done     bool
	Comments int
	Errors   []string
}

func (p *parsed) kinds() string {
	var out []string
	for _, e := range p.Events {
		out = append(out, e.Data.Event)
	}
	return strings.Join(out, " ")
}

// TestEventSourceParser reads the streams with the parser of RAGFlow's pages.
func TestEventSourceParser(t *testing.T) {
	needNode(t)
	s := serve(t, nil)
	id := s.canvas("echo", echo)
	const all = "workflow_started node_started node_finished node_started message message message message_end " +
		"node_finished workflow_finished"
	for _, c := range []struct {
		name, path, body, kinds string
		done, session           bool
	}{
		{"editor", "/v1/canvas/completion", `{"id":"` + id + `","query":"tea?"}`, all, false, false},
		{
			"completion", "/api/v1/agents/" + id + "/completions", `{"question":"tea?"}`,
			"message message message message_end", true, true,
		},
		{
			"newer completion", "/0.27/api/v1/agents/chat/completions",
			`{"agent_id":"` + id + `","query":"tea?","stream":true}`, all, true, true,
		},
		{"embedded page", "/api/v1/agentbots/" + id + "/completions", `{"query":"tea?"}`, all, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got parsed
			script(t, &got, "events.mjs", s.url+c.path, s.key, c.body)
			require.Equal(t, "text/event-stream; charset=utf-8", got.Type)
			require.Empty(t, got.Errors)
			require.Equal(t, c.kinds, got.kinds())
			require.Equal(t, c.done, got.Done)
			text := ""
			for _, e := range got.Events {
				require.Empty(t, e.ID+e.Event, "events of the dialects have no id and no type")
				require.NotEmpty(t, e.Data.Task)
				require.NotEmpty(t, e.Data.Message)
				require.Equal(t, c.session, e.Data.Session != "", "a page reads the session from the first frame")
				text += e.Data.Data.Content
			}
			require.Equal(t, "Du sagst: tea? ✓", text)
		})
	}
	t.Run("API v2 stream", func(t *testing.T) {
		var got parsed
		script(t, &got, "events.mjs", s.url+"/api/v2/canvases/"+id+"/runs", s.key, `{"query":"tea?"}`)
		last := got.Events[len(got.Events)-1]
		require.Equal(t, "end", last.Event)
		for _, e := range got.Events {
			require.NotEmpty(t, e.ID)
			require.NotEmpty(t, e.Event)
		}
	})
}
