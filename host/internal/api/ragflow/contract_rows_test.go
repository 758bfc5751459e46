package ragflow_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

var agentContract = slices.Concat(
	both(contract{name: "list", method: "GET", path: "/api/v1/agents?page=1&page_size=5&orderby=update_time&desc=True"},
		result(agentKeys), func(t testing.TB, a apitest.Answer) {
			jsonResult("canvas total")(t, a)
			apitest.RequireKeys(t, a.Data().Get("canvas").At(0), canvasKeys)
			require.Equal(t, "agent", a.Data().Get("canvas").At(0).Get("type").Str())
		}),
	both(contract{name: "by title", method: "GET", path: "/api/v1/agents?title=missing"},
		dataError(102, "The agent doesn't exist."), jsonResult("canvas total")),
	both(contract{name: "unknown order", method: "GET", path: "/api/v1/agents?orderby=colour"}, dataError(100, "colour"), dataError(100, "colour")),
	both(contract{name: "foreign owner", method: "GET", path: "/api/v1/agents?owner_ids=two"},
		result(agentKeys), jsonError(103, "Only authorized owner_ids can be queried.")),
	[]contract{{name: "filter", dialect: "new", method: "GET", path: "/api/v1/agents?type=filter", want: jsonResult("filter total")}},
	both(contract{name: "create", method: "POST", path: "/api/v1/agents", body: `{"title":"new {canvas}","dsl":{echo}}`}, jsonValue("true"), jsonResult(canvasKeys)),
	both(contract{name: "again", method: "POST", path: "/api/v1/agents", body: `{"title":"{title}","dsl":{echo}}`},
		dataError(102, "Agent with title mine"), dataError(102, "already exists.")),
	[]contract{
		{name: "no dsl", method: "POST", path: "/api/v1/agents", body: `{"title":"x"}`, want: jsonError(101, "No DSL data in request.")},
		{name: "no title", method: "POST", path: "/api/v1/agents", body: `{"dsl":{echo}}`, want: jsonError(101, "No title in request.")},
		{name: "anonymous", method: "GET", path: "/api/v1/agents", as: "anonymous", want: status401},
		{name: "read", method: "GET", path: "/api/v1/agents/{canvas}", want: jsonResult(canvasKeys)},
		{name: "unknown", method: "GET", path: "/api/v1/agents/{none}", want: dataError(102, "canvas not found.")},
		{name: "tags", method: "GET", path: "/api/v1/agents/tags", want: jsonResult("")},
		{name: "set tags", method: "PUT", path: "/api/v1/agents/{canvas}/tags", body: `{"tags":["a","b"]}`, want: jsonValue("true")},
		{name: "delete", method: "DELETE", path: "/api/v1/agents/{canvas}", body: `{}`, want: jsonValue("true")},
		{name: "delete without a body", method: "DELETE", path: "/api/v1/agents/{canvas}", want: jsonValue("true")},
	},
	both(contract{name: "update", method: "PUT", path: "/api/v1/agents/{canvas}", body: `{"description":"d","avatar":null}`}, jsonValue("true"), jsonResult("update_time")),
	both(contract{name: "update with a dsl alone", method: "PUT", path: "/api/v1/agents/{canvas}", body: `{"dsl":{formed}}`}, jsonValue("true"), jsonResult("update_time")),
	both(contract{name: "update with a dsl that does not load", method: "PUT", path: "/api/v1/agents/{canvas}", body: `{"dsl":{"components":{"begin":{"obj":{"component_name":"Nothing","params":{}}}}}}`},
		jsonValue("true"), jsonError(101, "Nothing")),
	both(contract{name: "update of an unknown one", method: "PUT", path: "/api/v1/agents/{none}", body: `{"title":"x"}`},
		jsonError(103, "Only owner of canvas authorized for this operation."), jsonError(103, "Make sure you have permission to access the agent.")),
	both(contract{name: "delete of an unknown one", method: "DELETE", path: "/api/v1/agents/{none}"},
		jsonError(103, "Only owner of canvas authorized for this operation."), jsonError(103, "Only the owner of the agent is authorized for this operation.")),
)

var sessionContract = slices.Concat(
	both(contract{name: "create", method: "POST", path: "/api/v1/agents/{canvas}/sessions?user_id=u1", body: `{}`},
		func(t testing.TB, a apitest.Answer) {
			result("id agent_id user_id source dsl message")(t, a)
			require.Equal(t, "u1", a.Data().Get("user_id").Str())
			require.Equal(t, `[{"content":"Welcome","role":"assistant"}]`, a.Data().Get("message").JSON())
			require.Equal(t, a.Data().Get("id").Str(), a.Data().Get("dsl").Get("task_id").Str())
		}, result("id agent_id user_id source dsl message name exp_user_id version_title")),
	both(contract{name: "create for an unknown one", method: "POST", path: "/api/v1/agents/{none}/sessions"},
		dataError(102, "Agent not found."), jsonError(103, "Make sure you have permission to access the agent.")),
	both(contract{name: "list", method: "GET", path: "/api/v1/agents/{canvas}/sessions?page=1&page_size=30&orderby=create_time&desc=True"},
		result(sessionKeys+" dsl"), func(t testing.TB, a apitest.Answer) {
			envelope(t, a, "code data message total")
			apitest.RequireKeys(t, a.Data().At(0), sessionKeys+" dsl")
		}),
	both(contract{name: "list without dsl", method: "GET", path: "/api/v1/agents/{canvas}/sessions?dsl=False&id={session}"},
		withoutDSL, withoutDSL),
	[]contract{
		{name: "list of an unknown one", method: "GET", path: "/api/v1/agents/{none}/sessions", want: dataError(102, "You don't own the agent")},
		{name: "wrong date", method: "GET", path: "/api/v1/agents/{canvas}/sessions?from_date=yesterday", want: jsonError(101, "from_date")},
		{name: "read", method: "GET", path: "/api/v1/agents/{canvas}/sessions/{session}", want: jsonResult(sessionKeys)},
		{name: "read of an unknown one", method: "GET", path: "/api/v1/agents/{canvas}/sessions/{none}", want: dataError(102, "Session not found!")},
		{name: "delete one", method: "DELETE", path: "/api/v1/agents/{canvas}/sessions/{session}", want: jsonValue("1")},
		{name: "delete by id", method: "DELETE", path: "/api/v1/agents/{canvas}/sessions", body: `{"ids":["{session}"]}`, want: bare},
		{name: "delete of an unknown agent's", method: "DELETE", path: "/api/v1/agents/{none}/sessions", want: dataError(102, "You don't own the agent")},
		{name: "delete of unknown ones", method: "DELETE", path: "/api/v1/agents/{canvas}/sessions", body: `{"ids":["{none}"]}`, want: dataError(102, "The agent doesn't own the session 0000")},
		{name: "delete all", dialect: "old", method: "DELETE", path: "/api/v1/agents/{canvas}/sessions", body: `{"ids":null}`, want: bare},
		{name: "delete all without a body", dialect: "old", method: "DELETE", path: "/api/v1/agents/{canvas}/sessions", want: bare},
		{name: "delete none", dialect: "new", method: "DELETE", path: "/api/v1/agents/{canvas}/sessions", body: `{"ids":null}`, want: bare},
		{name: "delete all", dialect: "new", method: "DELETE", path: "/api/v1/agents/{canvas}/sessions", body: `{"delete_all":true}`, want: bare},
		{
			name: "run history", method: "GET", path: "/v1/canvas/{canvas}/sessions?keywords=secret&from_date=2020-01-01%2000:00:00&to_date=2099-01-01%2000:00:00",
			want: func(t testing.TB, a apitest.Answer) {
				jsonResult("total sessions")(t, a)
				apitest.RequireKeys(t, a.Data().Get("sessions").At(0), sessionKeys)
			},
		},
		{name: "run history of an unknown one", method: "GET", path: "/v1/canvas/{none}/sessions", want: jsonError(103, "Only owner of canvas")},
	},
	both(contract{name: "delete some", method: "DELETE", path: "/api/v1/agents/{canvas}/sessions", body: `{"ids":["{session}","{none}","{session}"]}`},
		func(t testing.TB, a apitest.Answer) {
			result("success_count errors")(t, a)
			require.Equal(t, 2, a.Data().Get("errors").Len())
		}, func(t testing.TB, a apitest.Answer) {
			jsonPartly(t, a)
			require.Contains(t, a.Data().JSON(), "Duplicate session ids: ")
		}),
)

func withoutDSL(t testing.TB, a apitest.Answer) {
	require.Equal(t, 1, a.Data().Len(), a.Text)
	_, has := a.Data().At(0).Lookup("dsl")
	require.False(t, has)
}

func jsonPartly(t testing.TB, a apitest.Answer) {
	envelope(t, a, "code data message")
	require.Contains(t, a.Message(), "Partially deleted 1 sessions")
	apitest.RequireKeys(t, a.Data(), "success_count errors")
}

// lastEvent is an answer that came whole: the last event with all that was
// said as its content.
func lastEvent(kind, text string) expectation {
	return func(t testing.TB, a apitest.Answer) {
		result("event message_id created_at task_id data session_id")(t, a)
		require.Equal(t, kind, a.Data().Get("event").Str())
		require.Equal(t, text, a.Data().Get("data").Get("content").Str())
		require.Equal(t, "{}", a.Data().Get("data").Get("reference").JSON(), "there without passages as well")
	}
}

func traced(kinds string) expectation {
	return func(t testing.TB, a apitest.Answer) {
		stream(kinds, true, true)(t, a)
		list, _ := a.Events()
		for _, e := range list {
			if e.Get("event").Str() == "node_finished" {
				require.NotZero(t, e.Get("data").Get("trace").Len())
			}
		}
	}
}

var completionContract = slices.Concat(
	both(contract{name: "streams unless told", method: "POST", path: "/api/v1/agents/{canvas}/completions", body: `{"question":"x","session_id":"{session}"}`},
		stream("message message message_end", true, true), lastEvent("message_end", "You said x")),
	both(contract{name: "stream", method: "POST", path: "/api/v1/agents/{canvas}/completions", body: `{"query":"x","stream":true,"session_id":"{session}"}`},
		stream("message message message_end", true, true), stream("node_finished message message message_end node_finished", true, true)),
	both(contract{name: "trace", method: "POST", path: "/api/v1/agents/{canvas}/completions", body: `{"query":"x","stream":true,"session_id":"{session}","return_trace":true}`},
		traced("node_finished message message message_end node_finished"), traced("node_finished message message message_end node_finished")),
	both(contract{name: "whole", method: "POST", path: "/api/v1/agents/{canvas}/completions", body: `{"question":"x","stream":false}`},
		lastEvent("workflow_finished", "You said x"), lastEvent("workflow_finished", "You said x")),
	both(contract{name: "whole in a session", method: "POST", path: "/api/v1/agents/{canvas}/completions", body: `{"question":"x","stream":false,"session_id":"{session}"}`},
		lastEvent("workflow_finished", "You said x"), lastEvent("message_end", "You said x")),
	both(contract{name: "stream without a session", method: "POST", path: "/api/v1/agents/{canvas}/completions", body: `{"question":"x","stream":true}`},
		stream("message message message_end", true, true), stream(everyEvent, true, true)),
	both(contract{name: "unknown agent", method: "POST", path: "/api/v1/agents/{none}/completions", body: `{"question":"x","stream":true}`},
		dataError(102, "You don't own the agent"), jsonError(103, "Make sure you have permission to access the agent.")),
	[]contract{
		{name: "unknown agent, before the first byte", dialect: "old", method: "POST", path: "/api/v1/agents/{none}/completions", body: `{"question":"x","stream":true}`, want: dataError(102, "You don't own the agent")},
		{name: "unknown session, before the first byte", method: "POST", path: "/api/v1/agents/{canvas}/completions", body: `{"question":"x","stream":true,"session_id":"{none}"}`, want: dataError(102, "Session not found!")},
		{name: "anonymous", method: "POST", path: "/api/v1/agents/{canvas}/completions", body: `{}`, as: "anonymous", want: status401},
		{name: "chat of 0.25.1, which streams", method: "POST", path: "/api/v1/agents/chat/completion", body: `{"agent_id":"{canvas}","query":"x"}`, want: stream(everyEvent, true, true)},
		{name: "chat of 0.25.1 in a session, whole", method: "POST", path: "/api/v1/agents/chat/completion", body: `{"agent_id":"{canvas}","query":"x","stream":false,"session_id":"{session}"}`, want: lastEvent("message_end", "You said x")},
		{name: "chat of 0.25.1 without an agent", method: "POST", path: "/api/v1/agents/chat/completion", body: `{"query":"x"}`, want: jsonError(101, "`agent_id` is required.")},
		{name: "chat of 0.25.1 as OpenAI", method: "POST", path: "/api/v1/agents/chat/completion", body: `{"agent_id":"{canvas}","openai-compatible":true,"messages":[{"role":"user","content":"x"}]}`, want: openWhole("You said x")},
		{name: "chat without a session", method: "POST", path: "/api/v1/agents/chat/completions", body: `{"agent_id":"{canvas}","query":"x","stream":true}`, want: stream(everyEvent, true, true)},
		{
			name: "chat in a session", method: "POST", path: "/api/v1/agents/chat/completions", body: `{"agent_id":"{canvas}","query":"x","stream":true,"session_id":"{session}"}`,
			want: stream("node_finished message message message_end node_finished", true, true),
		},
		{name: "chat whole", method: "POST", path: "/api/v1/agents/chat/completions", body: `{"agent_id":"{canvas}","query":"x"}`, want: lastEvent("workflow_finished", "You said x")},
		{name: "chat whole in a session", method: "POST", path: "/api/v1/agents/chat/completions", body: `{"agent_id":"{canvas}","query":"x","session_id":"{session}"}`, want: lastEvent("message_end", "You said x")},
		{name: "chat without an agent", method: "POST", path: "/api/v1/agents/chat/completions", body: `{"query":"x"}`, want: jsonError(101, "`agent_id` is required.")},
		{name: "chat with an unknown agent", method: "POST", path: "/api/v1/agents/chat/completions", body: `{"agent_id":"{none}"}`, want: jsonError(103, "Make sure you have permission")},
		{name: "chat as OpenAI", method: "POST", path: "/api/v1/agents/chat/completions", body: `{"agent_id":"{canvas}","openai-compatible":true,"messages":[{"role":"user","content":"x"}]}`, want: openWhole("You said x")},
		{name: "OpenAI whole", method: "POST", path: "/api/v1/agents_openai/{canvas}/chat/completions", body: `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"user","content":"x"}]}`, want: openWhole("You said x")},
		{name: "OpenAI stream", method: "POST", path: "/api/v1/agents_openai/{canvas}/chat/completions", body: `{"model":"m","stream":true,"user_id":"u","messages":[{"role":"user","content":"x"}]}`, want: openStream("You said x")},
		{
			name: "OpenAI without user messages", method: "POST", path: "/api/v1/agents_openai/{canvas}/chat/completions", body: `{"model":"m","messages":[{"role":"system","content":"x"}]}`,
			want: openWhole("No valid messages found (user or assistant)."),
		},
		{name: "OpenAI without messages", method: "POST", path: "/api/v1/agents_openai/{canvas}/chat/completions", body: `{"model":"m","messages":[]}`, want: openError(400, 102, "You must provide at least one message.")},
		{name: "OpenAI without members", method: "POST", path: "/api/v1/agents_openai/{canvas}/chat/completions", body: `{}`, want: openError(400, 101, "required argument are missing: model,messages; ")},
		{name: "OpenAI with an unknown agent", method: "POST", path: "/api/v1/agents_openai/{none}/chat/completions", body: `{"model":"m","messages":[{"role":"user","content":"x"}]}`, want: openError(404, 102, "You don't own the agent")},
	},
)

var botContract = []contract{
	{name: "stream", method: "POST", path: "/api/v1/agentbots/{canvas}/completions", as: "beta", body: `{"id":"{canvas}","query":"x","inputs":{},"files":[],"session_id":null}`, want: stream(everyEvent, true, false)},
	{name: "whole", method: "POST", path: "/api/v1/agentbots/{canvas}/completions", as: "beta", body: `{"query":"x","stream":false}`, want: lastEvent("workflow_finished", "You said x")},
	{name: "unknown agent", method: "POST", path: "/api/v1/agentbots/{none}/completions", as: "beta", body: `{}`, want: dataError(102, "Can't find agent by ID: ")},
	{name: "anonymous", method: "POST", path: "/api/v1/agentbots/{canvas}/completions", as: "anonymous", body: `{}`, want: status401},
	{name: "inputs", method: "GET", path: "/api/v1/agentbots/{canvas}/inputs", as: "beta", want: func(t testing.TB, a apitest.Answer) {
		result("title avatar inputs prologue mode")(t, a)
		require.Equal(t, "conversational", a.Data().Get("mode").Str())
	}},
	{name: "logs", method: "GET", path: "/api/v1/agentbots/{canvas}/logs/{message}", as: "beta", want: jsonValue("{}")},
	{
		name: "events of a run by others", method: "GET", path: "/api/v1/agentbots/{canvas}/events/{run}", as: "beta",
		want: dataError(102, "Can't find run by ID: "),
	},
	{
		name: "sessions without a signature", method: "GET", path: "/api/v1/agentbots/{canvas}/sessions", as: "beta",
		want: func(t testing.TB, a apitest.Answer) {
			require.Equal(t, 403, a.Status)
			require.Equal(t, 108, a.Code())
			require.Contains(t, a.Message(), "user_signature is missing")
		},
	},
	{
		name: "session of others", method: "GET", path: "/api/v1/agentbots/{canvas}/sessions/{session}", as: "beta",
		want: dataError(102, "Session not found!"),
	},
	{name: "row", method: "GET", path: "/v1/canvas/getsse/{canvas}", as: "beta", want: jsonResult(canvasKeys)},
	{name: "row of another", method: "GET", path: "/v1/canvas/getsse/{none}", as: "beta", want: dataError(102, "canvas not found.")},
	{name: "stop", method: "PUT", path: "/v1/canvas/cancel/{run}", as: "beta", want: jsonValue("true")},
}

var editorContract = slices.Concat(
	[]contract{
		{name: "list", method: "GET", path: "/v1/canvas/list?page=1&page_size=3&keywords=mine", as: "login", want: func(t testing.TB, a apitest.Answer) {
			jsonResult("canvas total")(t, a)
			require.Equal(t, 3, a.Data().Get("canvas").Len())
			apitest.RequireKeys(t, a.Data().Get("canvas").At(0), "id avatar title dsl description permission tenant_id nickname tenant_avatar update_time canvas_category")
		}},
		{name: "anonymous", method: "GET", path: "/v1/canvas/list", as: "anonymous", want: status401},
		{name: "get", method: "GET", path: "/v1/canvas/get/{canvas}", as: "login", want: jsonResult(canvasKeys)},
		{name: "get unknown", method: "GET", path: "/v1/canvas/get/{none}", want: dataError(102, "canvas not found.")},
		{name: "set new", method: "POST", path: "/v1/canvas/set", body: `{"title":"set {canvas}","dsl":{echo},"avatar":"a"}`, as: "login", want: jsonResult("id user_id title dsl avatar")},
		{name: "set again", method: "POST", path: "/v1/canvas/set", body: `{"title":"{title}","dsl":{echo}}`, want: dataError(102, "already exists.")},
		{name: "set over", method: "POST", path: "/v1/canvas/set", body: `{"id":"{canvas}","title":"{title}","dsl":{formed}}`, want: jsonResult("id title dsl update_time update_date")},
		{name: "set as the editor begins", method: "POST", path: "/v1/canvas/set", body: `{"id":"{canvas}","title":"{title}","dsl":{"graph":{"nodes":[],"edges":[]},"components":{"begin":{"obj":{"component_name":"Begin","params":{}},"downstream":[],"upstream":[]}},"retrieval":[],"history":[],"path":[],"globals":{},"variables":[]}}`, want: jsonResult("id update_time")},
		{name: "set over an unknown one", method: "POST", path: "/v1/canvas/set", body: `{"id":"{none}","title":"x","dsl":{echo}}`, want: jsonError(103, "Only owner of canvas authorized for this operation.")},
		{name: "set without members", method: "POST", path: "/v1/canvas/set", body: `{}`, want: lacks("dsl,title")},
		{name: "setting", method: "POST", path: "/v1/canvas/setting", body: `{"id":"{canvas}","title":"{title}!","permission":"team"}`, want: jsonValue("1")},
		{name: "setting of an unknown one", method: "POST", path: "/v1/canvas/setting", body: `{"id":"{none}","title":"x","permission":"me"}`, want: dataError(102, "canvas not found.")},
		{name: "rm", method: "POST", path: "/v1/canvas/rm", body: `{"canvas_ids":["{canvas}"]}`, want: jsonValue("true")},
		{name: "rm of an unknown one", method: "POST", path: "/v1/canvas/rm", body: `{"canvas_ids":["{none}"]}`, want: jsonError(103, "Only owner of canvas")},
		{name: "run", method: "POST", path: "/v1/canvas/completion", body: `{"id":"{canvas}","query":"x","session_id":"ignored","running_hint_text":"","reasoning":false,"internet":false}`, as: "login", want: stream(everyEvent, false, false)},
		{name: "run without an id", method: "POST", path: "/v1/canvas/completion", body: `{}`, want: lacks("id")},
		{name: "run of an unknown one", method: "POST", path: "/v1/canvas/completion", body: `{"id":"{none}"}`, want: jsonError(103, "Only owner of canvas")},
		{name: "cancel unknown", method: "PUT", path: "/v1/canvas/cancel/{none}", want: jsonValue("true")},
		{name: "cancel", method: "POST", path: "/api/v1/tasks/{run}/cancel", want: jsonValue("true")},
		{name: "stop", method: "PATCH", path: "/api/v1/tasks/{run}", body: `{"action":"stop"}`, want: jsonValue("true")},
		{name: "pause", method: "PATCH", path: "/api/v1/tasks/{run}", body: `{"action":"pause"}`, want: jsonError(101, "Invalid action 'pause'. Only 'stop' is supported.")},
		{name: "cancel without a key", method: "POST", path: "/api/v1/tasks/{run}/cancel", as: "anonymous", want: status401},
	},
	rows(contract{name: "reset", method: "POST", body: `{"id":"{canvas}"}`, want: jsonResult("components history path retrieval")}, "/v1/canvas/reset", "/api/v1/agents/{canvas}/reset"),
	rows(contract{name: "input form", method: "GET", want: jsonValue("{}")}, "/v1/canvas/input_form?id={canvas}&component_id=begin", "/api/v1/agents/{canvas}/components/begin/input-form"),
	rows(contract{name: "input form of an unknown node", method: "GET", want: dataError(100, "X")}, "/v1/canvas/input_form?id={canvas}&component_id=X", "/api/v1/agents/{canvas}/components/X/input-form"),
	rows(contract{name: "debug", method: "POST", body: `{"id":"{canvas}","component_id":"Message:A","params":{"sys.query":{"value":"x"}}}`, want: jsonResult("content _created_time _elapsed_time")},
		"/v1/canvas/debug", "/api/v1/agents/{canvas}/components/Message:A/debug"),
	rows(contract{name: "debug without params", method: "POST", body: `{"id":"{canvas}","component_id":"Message:A"}`, want: lacks("params")},
		"/v1/canvas/debug", "/api/v1/agents/{canvas}/components/Message:A/debug"),
	rows(contract{name: "trace of a run without tools", method: "GET", want: jsonValue("{}")},
		"/v1/canvas/trace?canvas_id={canvas}&message_id={message}", "/api/v1/agents/{canvas}/logs/{message}", "/v1/canvas/trace?canvas_id={canvas}&message_id={none}"),
	rows(contract{name: "versions", method: "GET", want: jsonList(versionKeys)}, "/v1/canvas/getlistversion/{canvas}", "/api/v1/agents/{canvas}/versions"),
	rows(contract{name: "version", method: "GET", want: jsonResult(versionKeys + " dsl")}, "/v1/canvas/getversion/{version}", "/api/v1/agents/{canvas}/versions/{version}"),
	rows(contract{name: "unknown version", method: "GET", want: dataError(102, "Version not found.")}, "/v1/canvas/getversion/{none}", "/api/v1/agents/{canvas}/versions/{none}"),
	rows(contract{name: "templates", method: "GET", want: jsonList("id avatar title description canvas_type canvas_category dsl create_time create_date update_time update_date")},
		"/v1/canvas/templates", "/api/v1/agents/templates"),
	rows(contract{name: "prompts", method: "GET", want: jsonResult("task_analysis plan_generation reflection citation_guidelines")}, "/v1/canvas/prompts", "/api/v1/agents/prompts"),
	rows(contract{name: "prompts without a key", method: "GET", as: "anonymous", want: status401}, "/v1/canvas/prompts", "/api/v1/agents/prompts"),
)

var fileContract = slices.Concat(
	rows(contract{name: "upload", method: "POST", body: "FILE", want: func(t testing.TB, a apitest.Answer) {
		jsonResult(fileKeys)(t, a)
		require.Equal(t, "ä.txt", a.Data().Get("name").Str())
		require.Equal(t, "txt", a.Data().Get("extension").Str())
		require.Equal(t, engine.KindNumber, a.Data().Get("created_at").Kind())
	}}, "/v1/canvas/upload/{canvas}", "/api/v1/agents/{canvas}/upload", "/v1/document/upload_info"),
	rows(contract{name: "several", method: "POST", body: "FILES", want: jsonList(fileKeys)}, "/v1/canvas/upload/{canvas}", "/api/v1/agents/{canvas}/upload"),
	rows(contract{name: "upload to an unknown one", method: "POST", body: "FILE", want: dataError(102, "canvas not found.")}, "/v1/canvas/upload/{none}", "/api/v1/agents/{none}/upload"),
	rows(contract{name: "upload by an embedded page", method: "POST", body: "FILE", as: "beta", want: jsonResult(fileKeys)}, "/v1/canvas/upload/{canvas}"),
	rows(contract{name: "download", method: "GET", want: raw("my secret")},
		"/v1/canvas/download?id={file}&created_by=one", "/api/v1/agents/download?id={file}", "/api/v1/agents/attachments/{file}/download", "/api/v1/agents/attachments/{file}/preview"),
	rows(contract{name: "download without a key", method: "GET", as: "anonymous", want: status401}, "/v1/canvas/download?id={file}&created_by=one"),
)

func webhookBad(message string) expectation {
	return func(t testing.TB, a apitest.Answer) {
		require.Equal(t, 400, a.Status)
		require.Equal(t, `{"code":400,"message":"`+message+`"}`, a.Text)
	}
}

// noTrigger is the answer of our own API about a schedule that takes no requests.
func noTrigger(t testing.TB, a apitest.Answer) {
	require.Equal(t, 404, a.Status, a.Text)
	require.Contains(t, a.Text, `"code":"not_found"`)
}

var hookContract = slices.Concat(
	rows(
		contract{name: "no trigger", dialect: "old", method: "POST", as: "anonymous", want: noTrigger},
		"/api/webhooks/one/{none}",
	),
	rows(contract{name: "no webhook", method: "POST", as: "anonymous", want: webhookBad("Webhook not configured for this agent.")}, "/api/v1/webhook/{canvas}", "/api/v1/agents/{canvas}/webhook"),
	rows(contract{name: "unknown", method: "POST", as: "anonymous", want: webhookBad("Canvas not found.")}, "/api/v1/webhook/{none}", "/api/v1/agents/{none}/webhook"),
	rows(contract{name: "test", method: "POST", want: webhookBad("Webhook not configured for this agent.")}, "/api/v1/webhook_test/{canvas}", "/api/v1/agents/{canvas}/webhook/test"),
	rows(contract{name: "test without a key", method: "POST", as: "anonymous", want: status401}, "/api/v1/webhook_test/{canvas}", "/api/v1/agents/{canvas}/webhook/test"),
	rows(contract{name: "trace", method: "GET", want: func(t testing.TB, a apitest.Answer) {
		jsonResult("webhook_id events next_since_ts finished")(t, a)
		require.Equal(t, "false", a.Data().Get("finished").JSON())
		require.Zero(t, a.Data().Get("events").Len())
	}}, "/api/v1/webhook_trace/{canvas}?since_ts=0", "/api/v1/agents/{canvas}/webhook/logs?since_ts=0"),
)

var serverContract = slices.Concat(
	[]contract{
		{name: "list", method: "POST", path: "/v1/mcp_server/list", body: `{}`, want: serverList},
		{name: "list", method: "GET", path: "/api/v1/mcp/servers?page=1&page_size=10", want: serverList},
		{name: "detail", method: "GET", path: "/v1/mcp_server/detail?mcp_id={server}", want: jsonResult(serverKeys)},
		{name: "detail", method: "GET", path: "/api/v1/mcp/servers/{server}", want: jsonResult(serverKeys)},
		{name: "download", method: "GET", path: "/api/v1/mcp/servers/{server}?mode=download", want: jsonResult("mcpServers")},
		{name: "unknown detail", method: "GET", path: "/api/v1/mcp/servers/{none}", want: dataError(102, "Cannot find MCP server")},
		{name: "delete", method: "DELETE", path: "/api/v1/mcp/servers/{server}", want: jsonValue("true")},
		{name: "rm", method: "POST", path: "/v1/mcp_server/rm", body: `{"mcp_ids":["{server}"]}`, want: jsonValue("true")},
		{name: "update", method: "POST", path: "/v1/mcp_server/update", body: `{"mcp_id":"{server}","description":"d","timeout":1}`, want: jsonResult(serverKeys)},
		{name: "update", method: "PUT", path: "/api/v1/mcp/servers/{server}", body: `{"description":"d","timeout":1}`, want: jsonResult(serverKeys)},
		{name: "export", method: "POST", path: "/v1/mcp_server/export", body: `{"mcp_ids":["{server}"]}`, want: jsonResult("mcpServers")},
		{name: "tools of one that is away", method: "POST", path: "/v1/mcp_server/list_tools", body: `{"mcp_ids":["{server}"],"timeout":1}`, want: dataError(102, "MCP list tools error")},
		{name: "tool of one that is away", method: "POST", path: "/v1/mcp_server/test_tool", body: `{"mcp_id":"{server}","tool_name":"x","arguments":{"a":1}}`, want: dataError(102, "MCP test tool error")},
		{name: "tool without arguments", method: "POST", path: "/v1/mcp_server/test_tool", body: `{"mcp_id":"{server}","tool_name":"x"}`, want: lacks("arguments")},
		{name: "cache", method: "POST", path: "/v1/mcp_server/cache_tools", body: `{"mcp_id":"{server}","tools":[{"name":"x","enabled":false}]}`, want: jsonResult("x")},
		{name: "test of one that is away", method: "POST", path: "/v1/mcp_server/test_mcp", body: `{"url":"http://127.0.0.1:1/","server_type":"sse","timeout":1}`, want: dataError(102, "Test MCP error: ")},
		{name: "test of one that is away", method: "POST", path: "/api/v1/mcp/servers/{server}/test", body: `{"timeout":1}`, want: dataError(102, "Test MCP error: ")},
	},
	[]contract{{name: "unknown detail", dialect: "old", method: "GET", path: "/v1/mcp_server/detail?mcp_id={none}", want: func(t testing.TB, a apitest.Answer) {
		require.Equal(t, `{"code":404,"data":null,"message":"success"}`, a.Text)
	}}},
	rows(contract{name: "create", method: "POST", body: `{"name":"new {server}","url":"http://127.0.0.1:1/","server_type":"sse","timeout":1}`, want: jsonResult(serverKeys)}, "/v1/mcp_server/create", "/api/v1/mcp/servers"),
	rows(contract{name: "create again", method: "POST", body: `{"name":"{title}","url":"http://127.0.0.1:1/","server_type":"sse"}`, want: dataError(102, "Duplicated MCP server name: ")}, "/v1/mcp_server/create", "/api/v1/mcp/servers"),
	rows(contract{name: "create of another kind", method: "POST", body: `{"name":"x","url":"http://127.0.0.1:1/","server_type":"stdio"}`, want: dataError(102, "Unsupported MCP server type.")}, "/v1/mcp_server/create", "/api/v1/mcp/servers"),
	rows(contract{name: "create elsewhere", method: "POST", body: `{"name":"x","url":"file:///x","server_type":"sse"}`, want: dataError(102, "Invalid url.")}, "/v1/mcp_server/create", "/api/v1/mcp/servers"),
	rows(contract{name: "import", method: "POST", body: `{"timeout":1,"mcpServers":{"{title}":{"type":"sse","url":"http://127.0.0.1:1/"},"bad":{"url":"x"}}}`, want: func(t testing.TB, a apitest.Answer) {
		jsonResult("results")(t, a)
		r := a.Data().Get("results")
		apitest.RequireKeys(t, r.At(0), "server success action id new_name")
		require.Regexp(t, "_0$", r.At(0).Get("new_name").Str())
		require.Equal(t, "false", r.At(1).Get("success").JSON())
	}}, "/v1/mcp_server/import", "/api/v1/mcp/servers/import"),
)

func serverList(t testing.TB, a apitest.Answer) {
	jsonResult("mcp_servers total")(t, a)
	apitest.RequireKeys(t, a.Data().Get("mcp_servers").At(0), serverKeys)
}

var accountContract = slices.Concat(
	rows(contract{name: "new key", method: "POST", want: func(t testing.TB, a apitest.Answer) {
		jsonResult(tokenKeys)(t, a)
		require.Regexp(t, `^ragflow-[A-Za-z0-9_-]{43}$`, a.Data().Get("token").Str())
		require.Regexp(t, `^[A-Za-z0-9_-]{32}$`, a.Data().Get("beta").Str())
		require.Equal(t, "null", a.Data().Get("update_time").JSON())
	}}, "/v1/system/new_token", "/api/v1/system/tokens"),
	rows(contract{name: "keys", method: "GET", want: jsonList(tokenKeys)}, "/v1/system/token_list", "/api/v1/system/tokens"),
	rows(contract{name: "delete of an unknown key", method: "DELETE", want: jsonValue("true")}, "/v1/system/token/unknown", "/api/v1/system/tokens/unknown"),
	[]contract{
		{name: "key of a canvas", method: "POST", path: "/v1/api/new_token", body: `{"canvas_id":"{canvas}"}`, want: func(t testing.TB, a apitest.Answer) {
			jsonResult(tokenKeys+" dialog_id source")(t, a)
			require.Equal(t, "agent", a.Data().Get("source").Str())
		}},
		{name: "keys of a canvas", method: "GET", path: "/v1/api/token_list?canvas_id={canvas}", want: jsonList(tokenKeys)},
		{name: "keys of nothing", method: "GET", path: "/v1/api/token_list", want: lacks("dialog_id")},
		{name: "rm", method: "POST", path: "/v1/api/rm", body: `{"tokens":["x"],"tenant_id":"one"}`, want: jsonValue("true")},
		{name: "rm of nothing", method: "POST", path: "/v1/api/rm", body: `{}`, want: lacks("tokens,tenant_id")},
	},
	rows(contract{name: "statistics", method: "GET", want: jsonResult(statsKeys)}, "/v1/api/stats", "/api/v1/system/stats"),
	rows(contract{name: "login", method: "POST", as: "anonymous", body: `{"email":"ann@x.org","password":"correct horse"}`, want: func(t testing.TB, a apitest.Answer) {
		jsonResult("id email nickname")(t, a)
		require.NotEmpty(t, a.Header.Get("Authorization"))
		require.Contains(t, a.Header.Get("Access-Control-Expose-Headers"), "Authorization")
	}}, "/v1/user/login", "/api/v1/auth/login"),
	rows(contract{name: "wrong login", method: "POST", as: "anonymous", body: `{"email":"bob@x.org","password":"x"}`, want: jsonError(109, "Email and password do not match!")}, "/v1/user/login"),
	rows(contract{name: "who", method: "GET", as: "login", want: jsonResult("id email nickname")}, "/v1/user/info", "/api/v1/users/me"),
	rows(contract{name: "tenant", method: "GET", as: "login", want: jsonResult("tenant_id name role llm_id embd_id tts_id")}, "/v1/user/tenant_info"),
	rows(contract{name: "logout", method: "GET", want: jsonValue("true")}, "/v1/user/logout"),
	rows(contract{name: "logout", method: "POST", want: jsonValue("true")}, "/v1/user/logout", "/api/v1/auth/logout"),
	rows(contract{name: "version", method: "GET", want: jsonValue(`""`)}, "/v1/system/version", "/api/v1/system/version"),
	rows(contract{name: "config", method: "GET", as: "anonymous", want: jsonValue(`{"disablePasswordLogin":false,"registerEnabled":0}`)},
		"/v1/system/config", "/api/v1/system/config"),
	rows(
		contract{name: "ping", method: "GET", as: "anonymous", want: raw("pong")},
		"/v1/system/ping", "/api/v1/system/ping",
	),
	rows(contract{name: "health", method: "GET", as: "anonymous", want: raw(`{"db":"ok","log":"ok","status":"ok"}`)}, "/v1/system/healthz", "/api/v1/system/healthz"),
	rows(contract{name: "status", method: "GET", want: func(t testing.TB, a apitest.Answer) {
		jsonResult("database storage runs task_executor_heartbeats")(t, a)
		for name, kind := range map[string]string{"database": "sqlite", "storage": "nats"} {
			require.Equal(t, kind, a.Data().Get(name).Get(name).Str())
			require.Equal(t, "green", a.Data().Get(name).Get("status").Str())
			require.Regexp(t, `^\d+\.\d$`, a.Data().Get(name).Get("elapsed").Str())
		}
	}}, "/v1/system/status", "/api/v1/system/status"),
	rows(contract{name: "database of nothing", method: "POST", body: `{"db_type":"mysql"}`, want: lacks("database,username,host,port,password")}, "/v1/canvas/test_db_connect", "/api/v1/agents/test_db_connection"),
	rows(contract{name: "database", method: "POST", body: `{"db_type":"mysql","database":"d","username":"u","host":"h","port":3306,"password":"p"}`, want: dataError(100, "this host tests no databases")},
		"/v1/canvas/test_db_connect", "/api/v1/agents/test_db_connection"),
	rows(contract{name: "rerun of nothing", method: "POST", body: `{}`, want: lacks("id,dsl,component_id")}, "/v1/canvas/rerun", "/api/v1/agents/rerun"),
	rows(contract{name: "rerun", method: "POST", body: `{"id":"x","dsl":{},"component_id":"y"}`, want: dataError(102, "Document not found.")}, "/v1/canvas/rerun", "/api/v1/agents/rerun"),
	rows(contract{name: "rerun without a key", method: "POST", as: "anonymous", body: `{}`, want: status401}, "/v1/canvas/rerun", "/api/v1/agents/rerun"),
	rows(contract{name: "plugin tools", method: "GET", want: jsonValue("[]")}, "/v1/plugin/llm_tools", "/api/v1/plugin/tools"),
	rows(
		contract{name: "plugin tools without a key", method: "GET", as: "anonymous", want: status401},
		"/v1/plugin/llm_tools", "/api/v1/plugin/tools",
	),
	rows(contract{name: "plugins", method: "GET", want: jsonValue("[]")}, "/api/v1/plugins"),
)
