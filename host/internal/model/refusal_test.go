package model

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// refusalBodies are responses of servers to a request with tools that they do not accept.
var refusalBodies = map[string]struct {
	status int
	body   string
}{
	"ollama": {400, `{"error":{"message":"registry.ollama.ai/library/gemma:2b does not support tools",
		"type":"api_error","param":null,"code":null}}`},
	"openai": {400, `{"error":{"message":"Unsupported parameter: 'tools' is not supported with this model.",
		"type":"invalid_request_error","param":"tools","code":"unsupported_parameter"}}`},
	"openai functions": {400, `{"error":{"message":"tools is not supported in this model. For a list of
		supported models, refer to the docs.","type":"invalid_request_error","param":null,"code":null}}`},
	"azure": {400, `{"error":{"message":"Unrecognized request argument supplied: tools",
		"type":"invalid_request_error","param":null,"code":null}}`},
	"vllm": {400, `{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and
		--tool-call-parser to be set","type":"BadRequestError","param":null,"code":400}`},
	"llama.cpp": {500, `{"error":{"code":500,"message":"tools param requires --jinja flag",
		"type":"server_error"}}`},
	"llama.cpp 400": {400, `{"error":{"code":400,"message":"tools param requires --jinja flag",
		"type":"invalid_request_error"}}`},
	"openrouter": {404, `{"error":{"message":"No endpoints found that support tool use. To learn more, see the docs",
		"code":404}}`},
	"mistral": {400, `{"message":"Function calling is not enabled for this model",
		"type":"invalid_request_error"}`},
	"gemini": {400, `[{"error":{"code":400,
		"message":"Function calling is not enabled for models/gemma-3-1b-it"}}]`},
	"deepseek": {400, `{"error":{"message":"deepseek-reasoner does not support Function Calling",
		"code":"invalid_request_error"}}`},
	"groq": {400, "{\"error\":{\"message\":\"`tool calling` is not supported with this model\"}}"},
	"tgi": {422, `{"detail":[{"type":"extra_forbidden","loc":["body","tools"],
		"msg":"Extra inputs are not permitted"}]}`},
	"sglang":   {400, `{"object":"error","message":"Tools cannot be used: launch the server with --tool-call-parser"}`},
	"lmdeploy": {400, `{"message":"Please launch the api_server with --tool-call-parser if you want to use tool."}`},
	"zhipu":    {400, `{"error":{"code":"1214","message":"该模型不支持 tools 参数"}}`},
	"baidu":    {400, `{"error":{"code":"invalid_argument","message":"model not support function call"}}`},
	"plain":    {400, `unknown field "tools"`},
}

// otherBodies are responses that are not a refusal of tools.
var otherBodies = []string{
	`{"error":{"message":"Invalid schema for function 'get_x': In context=(), 'oneOf' is not permitted."}}`,
	`{"error":{"message":"Unknown parameter: 'tools[0].function.strict'."}}`,
	`{"error":{"message":"An assistant message with 'tool_calls' must be followed by tool messages"}}`,
	`{"error":{"message":"This model's maximum context length is 8192 tokens, but you requested 9000 (tools 500)"}}`,
	`{"error":{"message":"Invalid 'tools[0].function.name': string does not match pattern"}}`,
	`{"error":{"message":"temperature is not supported with this model"}}`,
	`{"error":{"message":"model not found"}}`,
	`{"error":{"message":"Failed to call a function. See 'failed_generation'.","code":"tool_use_failed"}}`,
}

// picky returns an endpoint that answers requests with tools with body, and others with "fine".
func picky(t *testing.T, status int, body string) (*provider, *atomic.Int32) {
	t.Helper()
	withTools := &atomic.Int32{}
	p, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var in map[string]json.RawMessage
		if json.NewDecoder(r.Body).Decode(&in) != nil {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if _, ok := in["tools"]; ok {
			withTools.Add(1)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, strings.ReplaceAll(body, "\n\t\t", " "))
			return
		}
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"fine"},"finish_reason":"stop"}]}`)
	})
	return p, withTools
}

// asking returns a request with a tool.
func asking(purpose engine.Purpose) *engine.ModelRequest {
	return &engine.ModelRequest{
		Purpose: purpose, Messages: []engine.ModelMessage{{Role: "user", Content: "hi"}},
		Tools: []engine.ToolDef{{Name: "x", Parameters: engine.Object("type", "object")}},
	}
}

func TestRefusedToolsAreRemembered(t *testing.T) {
	for name, server := range refusalBodies {
		t.Run(name, func(t *testing.T) {
			p, withTools := picky(t, server.status, server.body)
			require.True(t, p.info("m").Tools)
			first := asking(engine.PurposeAnswer)
			first.Stream = true
			_, _, err := collect(p.generate(t.Context(), "m", first))
			require.ErrorIs(t, err, engine.ErrToolsRefused)
			require.False(t, p.info("m").Tools)
			require.True(t, p.info("another").Tools)

			asked := withTools.Load()
			text, _, err := collect(p.generate(t.Context(), "m", asking(engine.PurposePlan)))
			require.NoError(t, err)
			require.Equal(t, "fine", text)
			require.Equal(t, asked, withTools.Load(), "a plan is requested without the member tools")
		})
	}
}

func TestOtherErrorsAreNotRefusals(t *testing.T) {
	for _, body := range otherBodies {
		p, _ := picky(t, http.StatusBadRequest, body)
		_, _, err := collect(p.generate(t.Context(), "m", asking(engine.PurposeAnswer)))
		require.Error(t, err)
		require.NotErrorIs(t, err, engine.ErrToolsRefused, body)
		var answer struct{ Error struct{ Message string } }
		require.NoError(t, json.Unmarshal([]byte(body), &answer))
		require.ErrorContains(t, err, answer.Error.Message)
		require.True(t, p.info("m").Tools)
	}
	p, _ := picky(t, http.StatusForbidden, `{"error":{"message":"tools are not enabled"}}`)
	_, _, err := collect(p.generate(t.Context(), "m", asking(engine.PurposeAnswer)))
	require.NotErrorIs(t, err, engine.ErrToolsRefused, "of the account, not of the model")
}

func TestLessonsAreBounded(t *testing.T) {
	var l lessons
	for i := range 2 * maxLessons {
		l.change(lessonKey{model: fmt.Sprint(i)}, func(one *Lesson) { one.NoTools = true })
	}
	require.Len(t, l.all, maxLessons)
	require.True(t, l.get(lessonKey{model: fmt.Sprint(2*maxLessons - 1)}).NoTools)
}

// A model is tried again after some time, because its server may get another configuration.
func TestLessonsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lessons
		l.change(lessonKey{model: "m"}, func(one *Lesson) { one.Drop = []string{"stop"} })
		time.Sleep(lessonTTL - time.Second)
		require.Equal(t, []string{"stop"}, l.get(lessonKey{model: "m"}).Drop)
		time.Sleep(2 * time.Second)
		require.Empty(t, l.get(lessonKey{model: "m"}).Drop)
		l.change(lessonKey{model: "m"}, func(one *Lesson) { one.Batch = 10 })
		require.Empty(t, l.get(lessonKey{model: "m"}).Drop, "what was forgotten does not come back")
	})
}
