package clients

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fixture is the agent of RAGFlow's own tests.
var fixture = Row{
	"components": Row{
		"begin": Row{
			"obj": Row{"component_name": "Begin", "params": Row{}}, "downstream": []string{"message"},
			"upstream": []string{},
		},
		"message": Row{
			"obj":        Row{"component_name": "Message", "params": Row{"content": []string{"{sys.query}"}}},
			"downstream": []string{}, "upstream": []string{"begin"},
		},
	},
	"history": []any{}, "messages": []any{}, "path": []any{}, "retrieval": []any{}, "variables": Row{},
	"globals": Row{"sys.query": "", "sys.user_id": "", "sys.conversation_turns": 0, "sys.files": []any{}},
}

// twice sends two messages.
var twice = document(map[string]any{
	"begin":     node("Begin", map[string]any{}, "Message:A"),
	"Message:A": node("Message", map[string]any{"content": []string{"first"}}, "Message:B"),
	"Message:B": node("Message", map[string]any{"content": []string{"second"}}),
})

// failing sends a message and then fails.
var failing = document(map[string]any{
	"begin":     node("Begin", map[string]any{}, "Message:A"),
	"Message:A": node("Message", map[string]any{"content": []string{"before"}}, "Invoke:X"),
	"Invoke:X":  node("Invoke", map[string]any{"url": "http://127.0.0.1:1/", "method": "get"}),
})

// asking pauses for a form.
var asking = document(map[string]any{
	"begin": node("Begin", map[string]any{}, "UserFillUp:F"),
	"UserFillUp:F": node("UserFillUp", map[string]any{
		"enable_tips": true, "tips": "Your city?",
		"inputs": map[string]any{"city": map[string]any{"name": "City", "type": "line", "optional": false}},
	}, "Message:A"),
	"Message:A": node("Message", map[string]any{"content": []string{"City {UserFillUp:F@city}"}}),
})

// byTitle finds an agent by its title, as clients of 0.23.1 must.
func byTitle(t *testing.T, c *SDK, title string) string {
	t.Helper()
	list, err := c.ListAgents()
	require.NoError(t, err)
	for _, a := range list {
		if a["title"] == title {
			return a["id"].(string)
		}
	}
	t.Fatalf("no agent %q among %d", title, len(list))
	return ""
}

// TestSDK makes the SDK's calls, each version in its dialect.
func TestSDK(t *testing.T) {
	s := serve(t, nil)
	for _, c := range []*SDK{{s.url, s.key, false}, {s.url + "/0.27", s.key, true}} {
		version := map[bool]string{false: "0.23.1", true: "0.27.0"}[c.Newer]
		t.Run(version, func(t *testing.T) {
			title := "agent " + version
			require.NoError(t, c.CreateAgent(title, fixture))
			require.ErrorContains(t, c.CreateAgent(title, fixture), "already exists")
			id := byTitle(t, c, title)
			if c.Newer {
				a, err := c.GetAgent(id)
				require.NoError(t, err)
				require.Equal(t, title, a["title"])
				_, err = c.GetAgent("none")
				require.EqualError(t, err, "Exception: canvas not found.")
			} else {
				_, err := c.ListAgents("title", "missing")
				require.EqualError(t, err, "Exception: The agent doesn't exist.")
				list, err := c.ListAgents("title", title)
				require.NoError(t, err)
				require.Len(t, list, 1)
			}
			require.NoError(t, c.UpdateAgent(id, Row{"title": title + "!"}))
			require.NoError(t, c.UpdateAgent(id, Row{"dsl": fixture}), "a dsl without a title")
			require.NoError(t, c.UpdateAgent(id, Row{"title": title, "description": "d"}))
			require.ErrorContains(t, c.UpdateAgent("none", Row{"title": "x"}), map[bool]string{
				false: "Only owner of canvas authorized", true: "Make sure you have permission",
			}[c.Newer])

			t.Run("sessions", func(t *testing.T) { sdkSessions(t, c, id) })
			t.Run("questions", func(t *testing.T) { sdkQuestions(t, c, id) })
			t.Run("failures", func(t *testing.T) { sdkFailures(t, c, id) })

			require.NoError(t, c.DeleteAgent(id))
			require.ErrorContains(t, c.DeleteAgent(id), "authorized for this operation")
		})
	}
	t.Run("a version in the other dialect", func(t *testing.T) {
		require.NoError(t, (&SDK{s.url, s.key, false}).CreateAgent("x", fixture))
		_, err := (&SDK{s.url + "/0.27", s.key, false}).ListAgents()
		require.ErrorIs(t, err, errShape, "responses of the other dialect have another shape")
		_, err = (&SDK{s.url, s.key, true}).ListAgents()
		require.ErrorIs(t, err, errShape)
	})
}

func sdkSessions(t *testing.T, c *SDK, id string) {
	err := c.DeleteSessions(id, nil, false)
	if c.Newer {
		require.NoError(t, err)
	} else {
		require.EqualError(t, err, "Exception: Agent "+id+" has no sessions")
	}
	one, err := c.CreateSession(id, Row{"user_id": "u7"})
	require.NoError(t, err)
	require.Equal(t, id, one["agent_id"])
	require.Equal(t, "u7", one["user_id"], "the SDK sends it in the body")
	require.NotEmpty(t, one["message"])
	two, err := c.CreateSession(id, nil)
	require.NoError(t, err)
	list, err := c.ListSessions(id, one["id"].(string))
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, one["id"], list[0]["id"])
	require.NoError(t, c.DeleteSessions(id, []string{one["id"].(string)}, false))
	require.ErrorContains(t, c.DeleteSessions(id, []string{"none"}, false), "The agent doesn't own the session none")
	require.NoError(t, c.DeleteSessions(id, nil, true), "in 0.23.1 null ids delete all")
	list, err = c.ListSessions(id, two["id"].(string))
	require.NoError(t, err)
	require.Empty(t, list)
	_, err = c.ListSessions("none", "")
	require.ErrorContains(t, err, "You don't own the agent none")
}

func sdkQuestions(t *testing.T, c *SDK, id string) {
	session, err := c.CreateSession(id, nil)
	require.NoError(t, err)
	sid := session["id"].(string)
	for _, stream := range []bool{false, true} {
		contents, err := c.Ask(id, sid, "hello, Grüße 世界", stream, nil)
		require.NoError(t, err)
		require.Equal(t, "hello, Grüße 世界", strings.Join(contents, ""))
	}
	contents, err := c.Ask(id, sid, "again", true, Row{"return_trace": true})
	if c.Newer {
		require.NoError(t, err)
		require.Equal(t, []string{"again"}, contents)
	} else {
		require.ErrorIs(t, err, KeyError("content"), "with return_trace, 0.23.1 receives frames that it cannot read")
	}
	require.Eventually(t, func() bool { // the SDK may disconnect before the turn ends, which continues
		list, err := c.ListSessions(id, sid)
		return err == nil && list[0]["round"] == 3.0
	}, 2*time.Minute, 10*time.Millisecond)
	_, err = c.Ask(id, "forged", "x", false, nil)
	require.Error(t, err)
	unauthorized := *c
	unauthorized.Key = "ragflow-wrong"
	_, err = unauthorized.ListAgents()
	require.ErrorContains(t, err, map[bool]string{
		false: "Authentication error: API key is invalid!",
		true:  "Unauthorized",
	}[c.Newer])
}

// sdkFailures queries agents whose streams contain events that older clients mishandle.
func sdkFailures(t *testing.T, c *SDK, _ string) {
	for _, test := range []struct {
		title        string
		dsl          any
		older, newer string // expected text
	}{
		{"two messages", twice, "first", "firstsecond"},
		{"a form", asking, "Your city?", ""},
		{"a failure after the first byte", failing, "before", "before**ERROR**"},
	} {
		title := test.title + map[bool]string{true: " newer"}[c.Newer]
		require.NoError(t, c.CreateAgent(title, test.dsl))
		id := byTitle(t, c, title)
		session, err := c.CreateSession(id, nil)
		require.NoError(t, err)
		contents, err := c.Ask(id, session["id"].(string), "x", true, nil)
		require.NoError(t, err, title)
		want := test.older
		if c.Newer {
			want = test.newer
		}
		text := strings.Join(contents, "")
		require.True(t, strings.HasPrefix(text, want), "%s: %q", title, text)
		require.Equal(t, want == "", text == "", title)
	}
}
