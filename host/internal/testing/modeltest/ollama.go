package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// ollamaForm is Ollama's chat. Source: the types of package api of Ollama.
var ollamaForm = Form{Name: "ollama", check: checkOllama, write: writeOllama}

type ollamaRequest struct {
	Model    string          `json:"model"`
	Messages []ollamaMessage `json:"messages"`
	Stream   *bool           `json:"stream"`
	Format   json.RawMessage `json:"format"`
	Think    any             `json:"think"`
	Tools    []struct {
		Type     string `json:"type"`
		Function struct {
			Name        string `json:"name"`
			Description string `json:"description"`
			Parameters  struct {
				Type       string          `json:"type"`
				Properties json.RawMessage `json:"properties"`
				Required   []string        `json:"required"`
			} `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	Options struct {
		NumCtx           int      `json:"num_ctx"`
		NumPredict       int      `json:"num_predict"`
		Temperature      float64  `json:"temperature"`
		TopP             float64  `json:"top_p"`
		PresencePenalty  float64  `json:"presence_penalty"`
		FrequencyPenalty float64  `json:"frequency_penalty"`
		Stop             []string `json:"stop"`
	} `json:"options"`
}

type ollamaMessage struct {
	Role      string   `json:"role"`
	Content   string   `json:"content"`
	Thinking  string   `json:"thinking"`
	Images    [][]byte `json:"images"`
	ToolName  string   `json:"tool_name"`
	ToolID    string   `json:"tool_call_id"`
	ToolCalls []struct {
		ID       string `json:"id"`
		Function struct {
			Index     int            `json:"index"`
			Name      string         `json:"name"`
			Arguments map[string]any `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func checkOllama(r *http.Request, body []byte) (streamed bool, err error) {
	var in ollamaRequest
	if err := strictly(body, &in); err != nil {
		return false, err
	}
	switch {
	case r.Method != http.MethodPost || r.URL.Path != "/api/chat":
		return false, fmt.Errorf("%s %s", r.Method, r.URL.Path)
	case in.Model == "" || in.Stream == nil: // a stream is the server's default
		return false, errors.New("model and stream are required")
	case in.Options.NumCtx == 0:
		return false, errors.New("num_ctx is missing")
	}
	for i, m := range in.Messages {
		if m.Role == "tool" && m.ToolName == "" {
			return false, fmt.Errorf("messages[%d]: tool_name is missing", i)
		}
		if m.Role != "system" && m.Role != "user" && m.Role != "assistant" && m.Role != "tool" {
			return false, fmt.Errorf("messages[%d]: role %q", i, m.Role)
		}
	}
	return *in.Stream, nil
}

func writeOllama(reply Reply, streamed bool) string {
	reason := "stop"
	if reply.Finish == Length {
		reason = "length"
	}
	var calls []string
	for _, c := range reply.Calls {
		calls = append(calls, `{"function":{"name":`+quoted(c.Name)+`,"arguments":`+c.Arguments+`}}`)
	}
	list := ""
	if len(calls) > 0 {
		list = `,"tool_calls":[` + strings.Join(calls, ",") + `]`
	}
	line := func(thinking, content, calls, end string) string {
		return `{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":` +
			quoted(content) + `,"thinking":` + quoted(thinking) + calls + `},"done":` + end + "}\n"
	}
	thought := reply.Thought
	if reply.Signature != "" { // signatures are part of what is thought
		thought += reply.Signature
	}
	end := fmt.Sprintf(`true,"done_reason":%q,"prompt_eval_count":%d,"eval_count":%d`, reason,
		FreshTokens+CachedTokens+WrittenTokens, TextTokens+ThoughtTokens)
	if !streamed {
		return line(thought, reply.Text, list, end)
	}
	a, b := halves(thought)
	c, d := halves(reply.Text)
	return line(a, "", "", "false") + line(b, "", "", "false") + line("", c, "", "false") +
		line("", d, list, "false") + line("", "", "", end)
}
