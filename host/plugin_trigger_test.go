package host

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/plugins/contract"
	jsplugin "github.com/easel-canvas/easel/plugins/js"
)

// triggerPlugin is a plugin in JavaScript that starts runs; its manifest is completed.
func triggerPlugin(t *testing.T, kind, members, source string) []byte {
	t.Helper()
	wasm, err := jsplugin.Build([]byte(source))
	require.NoError(t, err)
	out, err := contract.WithSection(wasm, contract.ManifestSection, []byte(`{"abi":1,"name":"`+kind+
		`","version":"1.0.0","description":"Begins runs.","trigger":"`+kind+`",`+members+`}`))
	require.NoError(t, err)
	return out
}

// install approves a plugin in the folder of a host and waits until the host lists it.
func install(t *testing.T, dir, url, name string, wasm []byte) {
	t.Helper()
	c := installer(t, filepath.Join(dir, "plugins"))
	_, err := c.InstallApproved(t.Context(), wasm, plugin.Local, contract.Everything())
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		return refusal(t, "GET", url+"/api/v2/plugins/"+name+"/settings", "") == ""
	}, patience, poll)
}

type listedRun struct{ ID, Status, Error string }

func runsOf(t *testing.T, url, canvas string) []listedRun {
	t.Helper()
	var list struct{ Items []listedRun }
	call(t, "GET", url+"/api/v2/runs?page_size=100&canvas="+canvas, "", &list)
	return list.Items
}

const polling = `export default function (call) {
	const after = Number(call.load("cursor") ?? 0);
	const list = JSON.parse(call.fetch(call.params.url + "/events?after=" + after).body);
	if (list.length > 0) call.store("cursor", String(list[list.length - 1]));
	return { items: list.map((n) => ({ id: "event " + n, query: "n" + n, inputs: {} })) };
}`

// TestPollIsKilled kills a host in the middle of a poll, and while the runs of its items begin.
// Each item has one run in the end, and the cursor is behind the last.
func TestPollIsKilled(t *testing.T) {
	const events = 30
	// The test decides what the first requests wait for.
	asked, ran, caughtUp := make(chan struct{}, 100), make(chan struct{}, 100), make(chan struct{}, 100)
	answer := make(chan struct{})
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/events" {
			ran <- struct{}{}
			_, _ = io.WriteString(w, "ran")
			return
		}
		asked <- struct{}{}
		select {
		case <-answer:
		case <-r.Context().Done():
			return
		}
		after, _ := strconv.Atoi(r.URL.Query().Get("after"))
		list := []int{}
		for n := after + 1; n <= events; n++ {
			list = append(list, n)
		}
		if len(list) == 0 {
			caughtUp <- struct{}{}
		}
		_ = json.NewEncoder(w).Encode(list)
	}))
	t.Cleanup(outside.Close)
	at := strings.TrimPrefix(outside.URL, "http://")

	dir := t.TempDir()
	url, kill := start(t, dir)
	install(t, dir, url, "poll", triggerPlugin(t, "poll", `"params":{"type":"object","required":["url"],
		"properties":{"url":{"type":"string"}}},"permissions":{"kv":{"bytes":100,"reason":"cursor"},
		"http":{"hosts":["`+at+`"],"private":true,"reason":"reads events"}}`, polling))
	canvas := saved(t, url, "key", `{"components":{
		"begin":{"obj":{"component_name":"Begin","params":{}},"downstream":["I"],"upstream":[]},
		"I":{"obj":{"component_name":"Invoke","params":{"url":"`+outside.URL+`/ran","method":"get"}},
			"downstream":["M"],"upstream":["begin"]},
		"M":{"obj":{"component_name":"Message","params":{"content":["{sys.query}"]}},
			"downstream":[],"upstream":["I"]}}}`)
	require.Contains(t, refusal(t, "POST", url+"/api/v2/schedules",
		`{"canvas":"`+canvas+`","every":"1s","plugin":"poll"}`), "params.url: missing")
	var made struct{ ID, Plugin, Hook string }
	call(t, "POST", url+"/api/v2/schedules", `{"canvas":"`+canvas+`","every":"1s","plugin":"plugin:poll@1",
		"params":{"url":"`+outside.URL+`"}}`, &made)
	require.Equal(t, "poll@1", made.Plugin)
	require.Empty(t, made.Hook)

	<-asked // in the middle of the call
	kill()
	close(answer)
	_, kill = start(t, dir)
	<-ran // while runs begin
	kill()
	url, _ = start(t, dir)
	<-caughtUp
	require.Eventually(t, func() bool {
		done := 0
		for _, r := range runsOf(t, url, canvas) {
			if r.Status == "succeeded" {
				done++
			}
		}
		return done == events
	}, patience, poll)
	require.Len(t, runsOf(t, url, canvas), events)
}

const verifying = `export default function (call) {
	const { method, query, headers, body, url } = call.arguments.request;
	if (method === "GET") {
		if (query.token !== call.params.token) throw new PluginError("unauthorized", "wrong token");
		const answer = JSON.stringify({ url, challenge: query.challenge });
		return { items: [], response: { status: 202, content_type: "application/json", body: answer } };
	}
	if (headers["x-signature"] !== "good " + body.length) {
		throw new PluginError("unauthorized", "the signature does not fit");
	}
	if (body === "loop") for (;;) {}
	if (body === "many") return { items: Array.from({ length: 101 }, (_, n) => ({ id: "x" + n })) };
	if (body === "page") return { items: [], response: { content_type: "text/html", body: "<script></script>" } };
	if (body === "busy") throw new PluginError("rate_limited", "slowly", { retry_after_ms: 1500 });
	if (body === "cookie") return { items: [], response: { body: String(headers.cookie) } };
	const event = JSON.parse(body);
	const seen = Number(call.load("seen") ?? 0) + 1;
	call.store("seen", String(seen));
	return { items: [{ id: event.id, query: event.text, inputs: { seen } }], response: { body: "seen " + seen } };
}`

// TestWebhookOfAPlugin sends requests to the address of a schedule: the plugin checks their proof,
// answers them and begins runs, one for each event however often it is delivered.
func TestWebhookOfAPlugin(t *testing.T) {
	dir := t.TempDir()
	_, url := open(t, Config{Dir: dir})
	install(t, dir, url, "webhook", triggerPlugin(t, "webhook", `"limits":{"fuel":200000000},
		"params":{"type":"object","properties":{"token":{"type":"string"}}},
		"permissions":{"kv":{"bytes":100,"reason":"counts"}}`, verifying))
	canvas := saved(t, url, "key", `{"components":{
		"begin":{"obj":{"component_name":"Begin","params":{}},"downstream":["M"],"upstream":[]},
		"M":{"obj":{"component_name":"Message","params":{"content":["{sys.query}"]}},
			"downstream":[],"upstream":["begin"]}}}`)
	require.Contains(t, refusal(t, "POST", url+"/api/v2/schedules",
		`{"canvas":"`+canvas+`","plugin":"webhook","every":"1h"}`), "leave every and cron out")
	var made struct {
		ID, Hook string
		Next     []string
	}
	call(t, "POST", url+"/api/v2/schedules",
		`{"canvas":"`+canvas+`","plugin":"webhook","params":{"token":"t0k"}}`, &made)
	require.Equal(t, "/api/webhooks/"+firstTenantID+"/"+made.ID, made.Hook)
	require.Empty(t, made.Next)
	send := func(method, path, body, signature string) (status int, text string, h http.Header) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, url+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("X-Signature", signature)
		req.Header.Set("Cookie", "easel_login=stolen")
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer res.Body.Close()
		raw, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return res.StatusCode, string(raw), res.Header
	}
	post := func(body string) (int, string, http.Header) {
		t.Helper()
		return send("POST", made.Hook, body, fmt.Sprintf("good %d", len(body)))
	}
	status, text, h := send("GET", made.Hook+"?challenge=a%20b&token=t0k", "", "")
	require.Equal(t, 202, status)
	require.JSONEq(t, `{"url":"`+made.Hook+`?challenge=a%20b&token=t0k","challenge":"a b"}`, text)
	require.Equal(t, "application/json; charset=utf-8", h.Get("Content-Type"))
	require.Equal(t, "sandbox; default-src 'none'", h.Get("Content-Security-Policy"))
	require.Equal(t, "nosniff", h.Get("X-Content-Type-Options"))

	for range 2 { // delivered twice
		status, _, _ = post(`{"id":"e1","text":"first"}`)
		require.Equal(t, 200, status)
	}
	status, text, _ = post(`{"id":"e2","text":"second"}`)
	require.Equal(t, 200, status)
	require.Equal(t, "seen 3", text)
	require.Eventually(t, func() bool {
		list := runsOf(t, url, canvas)
		return len(list) == 2 && list[0].Status == "succeeded" && list[1].Status == "succeeded"
	}, patience, poll)

	for _, row := range []struct {
		name, method, path, body, signature string
		status                              int
		want                                string
	}{
		{"a wrong signature", "POST", made.Hook, `{"id":"e3"}`, "bad", 401, "the signature does not fit"},
		{"a wrong token", "GET", made.Hook + "?token=x", "", "", 401, "wrong token"},
		{"a plugin that loops", "POST", made.Hook, "loop", "good 4", 502, "plugin"},
		{"too many items", "POST", made.Hook, "many", "good 4", 502, "plugin"},
		{"an HTML page as the answer", "POST", made.Hook, "page", "good 4", 502, "plugin"},
		{"a resource limit of the plugin", "POST", made.Hook, "busy", "good 4", 429, "slowly"},
		{"cookies are not forwarded", "POST", made.Hook, "cookie", "good 6", 200, "undefined"},
		{"a body that is too large", "POST", made.Hook, strings.Repeat("x", 1<<20+1), "", 413, "body_too_large"},
		{"another tenant", "POST", "/api/webhooks/other/" + made.ID, "", "", 404, "not_found"},
		{"an unknown schedule", "POST", "/api/webhooks/" + firstTenantID + "/none", "", "", 404, "not_found"},
	} {
		t.Run(row.name, func(t *testing.T) {
			status, text, h := send(row.method, row.path, row.body, row.signature)
			require.Equal(t, row.status, status, text)
			require.Contains(t, text, row.want)
			if row.status == 429 {
				require.Equal(t, "2", h.Get("Retry-After"))
			}
		})
	}
	require.Len(t, runsOf(t, url, canvas), 2)
	var out any
	call(t, "PUT", url+"/api/v2/schedules/"+made.ID, `{"paused":true}`, &out)
	status, _, _ = post(`{"id":"e4"}`)
	require.Equal(t, 404, status, "a paused schedule takes no requests")
	require.Contains(t, said(t, url, "key", saved(t, url, "key", `{"components":{
		"begin":{"obj":{"component_name":"Begin","params":{}},"downstream":["W"],"upstream":[]},
		"W":{"obj":{"component_name":"plugin:webhook@1","params":{}},"downstream":[],"upstream":["begin"]}}}`), "x"),
		"begins runs; name it in a schedule")
}
