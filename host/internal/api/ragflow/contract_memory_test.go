package ragflow_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

const (
	memoryShortKeys = "id name avatar tenant_id owner_name memory_type storage_type permissions description " +
		"create_time create_date update_time update_date"
	memoryKeys = memoryShortKeys + " embd_id llm_id memory_size forgetting_policy temperature " +
		"system_prompt user_prompt"
	memoryMessageKeys = "message_id message_type source_id memory_id user_id agent_id session_id status valid_at " +
		"invalid_at forget_at"
)

// truth is an answer whose message is true.
func truth(check func(t testing.TB, a apitest.Answer)) expectation {
	return func(t testing.TB, a apitest.Answer) {
		envelope(t, a, "code data message")
		require.Equal(t, 0, a.Code(), a.Text)
		require.True(t, a.Body.Get("message").True())
		check(t, a)
	}
}

func truthWith(names string) expectation {
	return truth(func(t testing.TB, a apitest.Answer) { apitest.RequireKeys(t, a.Data(), names) })
}

// truthWithout is an answer whose message is true and whose data is null.
var truthWithout = truth(func(t testing.TB, a apitest.Answer) { require.True(t, a.Data().IsNull()) })

func truthList(names string) expectation {
	return truth(func(t testing.TB, a apitest.Answer) { apitest.RequireKeys(t, a.Data().At(0), names) })
}

// eachPrefix returns a row for the page's path and one for the clients'.
func eachPrefix(c contract, path string) []contract { return rows(c, "/v1"+path, "/api/v1"+path) }

var memoryContract = slices.Concat(
	eachPrefix(
		contract{
			name: "create", method: "POST",
			body: `{"name":"{title}","memory_type":["raw"],"embd_id":"e","llm_id":"l"}`, want: truthWith(memoryKeys),
		},
		"/memories",
	),
	eachPrefix(
		contract{
			name: "create without", method: "POST", body: `{"name":"x"}`, want: lacks("memory_type,embd_id,llm_id"),
		},
		"/memories",
	),
	eachPrefix(contract{name: "list", method: "GET", want: truth(func(t testing.TB, a apitest.Answer) {
		apitest.RequireKeys(t, a.Data(), "memory_list total_count")
		apitest.RequireKeys(t, a.Data().Get("memory_list").At(0), memoryShortKeys)
	})}, "/memories"),
	eachPrefix(
		contract{name: "update", method: "PUT", body: `{"description":"d"}`, want: truthWith(memoryKeys)},
		"/memories/{memory}",
	),
	eachPrefix(contract{name: "delete", method: "DELETE", want: truthWithout}, "/memories/{memory}"),
	eachPrefix(contract{name: "messages", method: "GET", want: truth(func(t testing.TB, a apitest.Answer) {
		apitest.RequireKeys(t, a.Data(), "messages storage_type")
		apitest.RequireKeys(
			t, a.Data().Get("messages").Get("message_list").At(0), memoryMessageKeys+" agent_name extract task",
		)
	})}, "/memories/{memory}"),
	eachPrefix(contract{name: "config", method: "GET", want: truthWith(memoryKeys)}, "/memories/{memory}/config"),
	eachPrefix(contract{name: "add", method: "POST", body: `{"memory_id":["{memory}"],"agent_id":"a",` +
		`"session_id":"s","user_input":"q","agent_response":"r"}`, want: func(
		t testing.TB, a apitest.Answer,
	) {
		require.Equal(t, `{"code":0,"data":null,"message":"All add to task."}`, a.Text)
	}}, "/messages"),
	eachPrefix(
		contract{name: "recent", method: "GET", want: truthList(memoryMessageKeys + " content")},
		"/messages?memory_id={memory}",
	),
	eachPrefix(
		contract{name: "recent of none", method: "GET", want: dataError(101, "memory_ids is required.")}, "/messages",
	),
	eachPrefix(
		contract{name: "search", method: "GET", want: truthList(memoryMessageKeys + " content")},
		"/messages/search?query=secret&memory_id={memory}",
	),
	eachPrefix(
		contract{name: "disable", method: "PUT", body: `{"status":false}`, want: truthWithout},
		"/messages/{memory}:1",
	),
	eachPrefix(contract{name: "forget", method: "DELETE", want: truthWithout}, "/messages/{memory}:1"),
	eachPrefix(
		contract{name: "content", method: "GET", want: truthWith(memoryMessageKeys + " content content_embed")},
		"/messages/{memory}:1/content",
	),
	eachPrefix(contract{name: "unknown", method: "GET", want: func(t testing.TB, a apitest.Answer) {
		require.Equal(t, `{"code":404,"data":null,"message":"Memory '`+apitest.Nowhere+`' not found."}`, a.Text)
	}}, "/memories/{none}/config"),
)
