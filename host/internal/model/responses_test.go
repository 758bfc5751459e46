package model

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/testing/modeltest"
)

func TestAddressesOfResponses(t *testing.T) {
	p, err := newProvider(Provider{Name: "P", API: Responses, BaseURL: "http://h/v1/responses"}, nil)
	require.NoError(t, err)
	require.Equal(t, "http://h/v1/responses", p.endpoint(p.base("m"), target{model: "m", path: chatPath}))
	require.Equal(t, "http://h/v1/embeddings", p.endpoint(p.base("m"), target{model: "m", path: "/embeddings"}))
}

// A model that does not reason refuses encrypted reasoning; what it refuses is remembered.
func TestParametersOfResponses(t *testing.T) {
	half, most := 0.5, 100
	server, m := vendorBy(t, modeltest.FormOf("responses"), func(_ int, r *modeltest.Request) any {
		reasoning, _ := r.Body["reasoning"].(map[string]any)
		for reason, refused := range map[string]bool{
			"Encrypted content is not supported with this model.":   r.Has("include"),
			"You must be verified to generate reasoning summaries.": reasoning["summary"] != nil,
			"Unsupported parameter: 'reasoning.effort'.":            reasoning["effort"] != nil,
			"Unsupported parameter: 'temperature'.":                 r.Has("temperature"),
			"Unsupported parameter: 'text.format'.":                 r.Has("text"),
		} {
			if refused {
				return modeltest.Answer{Status: 400, Body: fmt.Sprintf(`{"error":{"message":%q}}`, reason)}
			}
		}
		return modeltest.Reply{Text: "fine"}
	})
	req := hello(true)
	req.Tools, req.Config.MaxTokens, req.Config.Thinking = offered, &most, "high"
	for range 2 {
		_, _, err := collect(m.Generate(t.Context(), req))
		require.NoError(t, err)
	}
	require.Empty(t, server.Faults())
	n := len(server.Requests())
	require.LessOrEqual(t, n, 5)
	require.NotContains(t, server.Requests()[n-1].Raw, "reasoning")
	require.Contains(t, server.Requests()[n-1].Raw, `"max_output_tokens":100`)
	req.Tools, req.Config.Temperature, req.Config.Thinking = nil, &half, ""
	req.Purpose, req.Schema = engine.PurposeStructured, citySchema
	for range 2 {
		_, _, err := collect(m.Generate(t.Context(), req))
		require.NoError(t, err)
	}
	require.LessOrEqual(t, len(server.Requests()), n+4)
}

func TestFailuresOfResponses(t *testing.T) {
	for body, want := range map[string]string{
		`{"object":"response","status":"failed",` +
			`"error":{"code":"server_error","message":"try again"},"output":[]}`: "500 " +
			"Internal Server Error: try again",
		`data: {"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded",` +
			`"message":"slow down"}}}`: "429 Too Many Requests: slow down",
		`data: {"type":"error","code":"server_error","message":"oops","param":null}`: "oops",
		`data: {"type":"response.incomplete","response":` +
			`{"incomplete_details":{"reason":"content_filter"}}}`: "content filter",
		`data: {"type":"response.output_text.delta","output_index":0,"delta":"I"}`: "broke off",
		`data: {"type":"response.completed","response":` +
			`{"object":"response","status":"completed","output":[]}}` +
			"\n": "empty",
	} {
		_, m := vendor(t, modeltest.FormOf("responses"), modeltest.Answer{Body: body})
		_, _, err := collect(m.Generate(t.Context(), hello(true)))
		require.ErrorContains(t, err, want)
	}
}

// Places of a stream may have gaps where the whole response has none.
func TestPlacesOfResponses(t *testing.T) {
	const item = `{"type":"message","id":"b","content":[{"type":"output_text","text":"fine"}]}`
	body := `data: {"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"a",` +
		`"content":[{"type":"output_text","text":"I look. "}]}}` + "\n\n" +
		`data: {"type":"response.output_text.delta","output_index":2,"item_id":"b","delta":"fine"}` + "\n\n" +
		`data: {"type":"response.output_item.done","output_index":2,"item":` + item + "}\n\n" +
		`data: {"type":"response.completed","response":{"status":"completed","output":[{"type":"message",` +
		`"id":"a"},` + item + "]}}\n\n"
	_, m := vendor(t, modeltest.FormOf("responses"), modeltest.Answer{Body: body})
	text, _, err := collect(m.Generate(t.Context(), hello(true)))
	require.NoError(t, err)
	require.Equal(t, "I look. fine", text)
}

func TestHostileAnswersOfResponses(t *testing.T) {
	const n = 100_000
	event := func(kind, rest string) string { return `data: {"type":"response.` + kind + `",` + rest + "}\n\n" }
	end := event("completed", `"response":{"status":"completed"}`)
	text := event("output_text.delta", `"output_index":0,"delta":"fine"`)
	var items, pieces strings.Builder
	for i := range n {
		items.WriteString(event("output_item.done",
			fmt.Sprintf(`"output_index":%d,"item":{"type":"function_call","name":"x"}`, i)))
		pieces.WriteString(event("output_text.delta", fmt.Sprintf(`"output_index":%d,"delta":"x"`, i)))
	}
	for name, c := range map[string]struct{ body, want string }{
		"calls":  {items.String() + end, "too large"},
		"items":  {pieces.String() + end, "too large"},
		"pieces": {strings.Repeat(text, n) + end, ""},
		"indexes": {event("output_text.delta", `"output_index":{"a":[]},"delta":7`) + event("output_item.done",
			`"item":7`) + end, ""},
		"encrypted": {event("output_item.done", `"item":{"type":"reasoning","encrypted_content":"`+strings.Repeat("s",
			8<<20)+`"}`) + text + end, ""},
		"response": {text + event("completed", `"response":[7]`), ""},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, c.body) })
			p.config.API = Responses
			req := asking(engine.PurposeAnswer)
			req.Tools = offered
			_, _, err := collect(p.generate(t.Context(), "m", req))
			if c.want != "" {
				require.ErrorContains(t, err, c.want)
				return
			}
			require.NoError(t, err)
		})
	}
}
