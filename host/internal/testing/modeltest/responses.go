package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// responsesForm is OpenAI's Responses. Source: the types of openai-go 3.
var responsesForm = Form{Name: "responses", Base: "/v1", check: checkResponses, write: writeResponses}

type responsesRequest struct {
	Model           string            `json:"model"`
	Input           []json.RawMessage `json:"input"`
	Instructions    string            `json:"instructions"`
	Store           *bool             `json:"store"`
	Stream          bool              `json:"stream"`
	Include         []string          `json:"include"`
	MaxOutputTokens int               `json:"max_output_tokens"`
	Temperature     *float64          `json:"temperature"`
	TopP            *float64          `json:"top_p"`
	Reasoning       struct {
		Effort  string `json:"effort"`
		Summary string `json:"summary"`
	} `json:"reasoning"`
	Text struct {
		Format struct {
			Type   string          `json:"type"`
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"text"`
	Tools []struct {
		Type        string          `json:"type"`
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
		Strict      *bool           `json:"strict"`
	} `json:"tools"`
}

type responsesMessage struct {
	Type    string `json:"type"`
	ID      string `json:"id"`
	Status  string `json:"status"`
	Role    string `json:"role"`
	Content any    `json:"content"` // text or parts
}

type responsesCall struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type responsesResult struct {
	Type   string `json:"type"`
	CallID string `json:"call_id"`
	Output string `json:"output"`
}

type responsesThought struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	Summary   []any  `json:"summary"`
	Encrypted string `json:"encrypted_content"`
}

func checkResponses(r *http.Request, body []byte) (streamed bool, err error) {
	var in responsesRequest
	if err := strictly(body, &in); err != nil {
		return false, err
	}
	switch {
	case r.Method != http.MethodPost || r.URL.Path != "/v1/responses":
		return false, fmt.Errorf("%s %s", r.Method, r.URL.Path)
	case !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer "):
		return false, errors.New("the key is missing")
	case in.Model == "" || len(in.Input) == 0:
		return false, errors.New("model and input are required")
	case in.Store == nil || *in.Store:
		return false, errors.New("the response would be stored")
	}
	for _, t := range in.Tools {
		if t.Type != "function" || t.Strict == nil || *t.Strict {
			return false, fmt.Errorf("tool %q is strict", t.Name)
		}
	}
	open := map[string]bool{}
	for i, raw := range in.Input {
		if err := checkItem(raw, open); err != nil {
			return false, fmt.Errorf("input[%d]: %w", i, err)
		}
	}
	for id := range open {
		return false, fmt.Errorf("no tool output found for function call %s", id)
	}
	return in.Stream, nil
}

func checkItem(raw json.RawMessage, open map[string]bool) error {
	var kind struct{ Type, Role string }
	if err := json.Unmarshal(raw, &kind); err != nil {
		return err
	}
	switch kind.Type {
	case "function_call":
		var c responsesCall
		err := strictly(raw, &c)
		if open[c.CallID] {
			return fmt.Errorf("two calls %q", c.CallID)
		}
		open[c.CallID] = true
		return err
	case "function_call_output":
		var o responsesResult
		err := strictly(raw, &o)
		if !open[o.CallID] {
			return fmt.Errorf("no tool call found for function call output with call_id %s", o.CallID)
		}
		delete(open, o.CallID)
		return err
	case "reasoning":
		var t responsesThought
		err := strictly(raw, &t)
		if t.Summary == nil || t.Encrypted == "" {
			return errors.New("reasoning was not found: it is not stored")
		}
		return err
	case "message", "":
		var m responsesMessage
		err := strictly(raw, &m)
		if m.Role != "user" && m.Role != "assistant" || m.Content == nil {
			return errors.New("role or content is invalid")
		}
		return err
	}
	return fmt.Errorf("an item of type %q", kind.Type)
}

func writeResponses(reply Reply, streamed bool) string {
	var items, events []string
	event := func(kind, rest string) { events = append(events, `{"type":"response.`+kind+`",`+rest+`}`) }
	add := func(item, delta, text string) {
		n := len(items)
		items = append(items, item)
		event("output_item.added", fmt.Sprintf(`"output_index":%d,"item":{"type":"x","id":"i%d"}`, n, n))
		a, b := halves(text)
		for _, half := range []string{a, b} {
			if half != "" {
				event(delta, fmt.Sprintf(`"output_index":%d,"item_id":"i%d","delta":%s`, n, n, quoted(half)))
			}
		}
		event("output_item.done", fmt.Sprintf(`"output_index":%d,"item":%s`, n, item))
	}
	if reply.Thought != "" || reply.Signature != "" {
		encrypted := ""
		if reply.Signature != "" {
			encrypted = `,"encrypted_content":` + quoted(reply.Signature)
		}
		add(`{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":`+quoted(reply.Thought)+`}]`+
			encrypted+`}`, "reasoning_summary_text.delta", reply.Thought)
	}
	if reply.Text != "" {
		add(`{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text",`+
			`"text":`+quoted(reply.Text)+`,"annotations":[]}]}`, "output_text.delta", reply.Text)
	}
	for i, c := range reply.Calls {
		add(fmt.Sprintf(`{"type":"function_call","id":"fc_%d","status":"completed","call_id":"call_%d","name":%s,`+
			`"arguments":%s}`, i, i, quoted(c.Name), quoted(c.Arguments)), "function_call_arguments.delta", c.Arguments)
	}
	status, details := "completed", "null"
	switch reply.Finish {
	case Length:
		status, details = "incomplete", `{"reason":"max_output_tokens"}`
	case Refused:
		status, details = "incomplete", `{"reason":`+quoted(reply.Why)+`}`
	}
	whole := fmt.Sprintf(`{"id":"resp_1","object":"response","status":%q,"error":null,`+
		`"incomplete_details":%s,"model":"m",`+
		`"output":[%s],"usage":{"input_tokens":%d,"input_tokens_details":{"cached_tokens":%d},"output_tokens":%d,`+
		`"output_tokens_details":{"reasoning_tokens":%d},"total_tokens":99}}`, status, details, strings.Join(items,
		","),
		FreshTokens+CachedTokens+WrittenTokens, CachedTokens, TextTokens+ThoughtTokens, ThoughtTokens)
	if !streamed {
		return whole
	}
	event(status, `"response":`+whole)
	return named(append([]string{`{"type":"response.created","response":{"id":"resp_1","status":"in_progress"}}`},
		events...))
}
