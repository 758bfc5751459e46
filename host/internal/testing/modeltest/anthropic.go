package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// anthropicForm is Anthropic's Messages. Source: the types of anthropic-sdk-go 1.84.
var anthropicForm = Form{Name: "anthropic", check: checkAnthropic, write: writeAnthropic}

type anthropicRequest struct {
	Model         string             `json:"model"`
	MaxTokens     int                `json:"max_tokens"`
	Messages      []anthropicMessage `json:"messages"`
	System        []anthropicBlock   `json:"system"`
	Stream        bool               `json:"stream"`
	StopSequences []string           `json:"stop_sequences"`
	Temperature   *float64           `json:"temperature"`
	TopP          *float64           `json:"top_p"`
	Tools         []anthropicTool    `json:"tools"`
	Thinking      *struct {
		Type    string `json:"type"`
		Budget  int    `json:"budget_tokens"`
		Display string `json:"display"`
	} `json:"thinking"`
	Output *struct {
		Effort string `json:"effort"`
		Format *struct {
			Type   string          `json:"type"`
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"output_config"`
}

type anthropicMessage struct {
	Role    string           `json:"role"`
	Content []anthropicBlock `json:"content"`
}

type anthropicBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  *string         `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
	Source *struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
		URL       string `json:"url"`
	} `json:"source"`
	Cache *struct {
		Type string `json:"type"`
	} `json:"cache_control"`
}

type anthropicTool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	InputSchema struct {
		Type       string          `json:"type"`
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	} `json:"input_schema"`
	Cache *struct {
		Type string `json:"type"`
	} `json:"cache_control"`
}

var anthropicID = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

func checkAnthropic(r *http.Request, body []byte) (streamed bool, err error) {
	var in anthropicRequest
	if err := strictly(body, &in); err != nil {
		return false, err
	}
	thinks := in.Thinking != nil && in.Thinking.Type != "disabled"
	switch {
	case r.Method != http.MethodPost || r.URL.Path != "/v1/messages":
		return false, fmt.Errorf("%s %s", r.Method, r.URL.Path)
	case r.Header.Get("x-api-key") == "" || r.Header.Get("anthropic-version") != "2023-06-01":
		return false, errors.New("headers are missing")
	case r.Header.Get("Authorization") != "":
		return false, errors.New("a bearer token in place of x-api-key")
	case in.Model == "" || in.MaxTokens < 1 || len(in.Messages) == 0:
		return false, errors.New("model, max_tokens and messages are required")
	case thinks && (in.Temperature != nil || in.TopP != nil):
		return false, errors.New("temperature may only be set to 1 when thinking is enabled")
	case thinks && in.Thinking.Type == "enabled" && (in.Thinking.Budget < 1024 || in.Thinking.Budget >= in.MaxTokens):
		return false, errors.New("budget_tokens is at least 1024 and less than max_tokens")
	}
	for _, t := range in.Tools {
		if !anthropicID.MatchString(t.Name) || t.InputSchema.Type != "object" {
			return false, fmt.Errorf("tool %q: name or schema is invalid", t.Name)
		}
	}
	return in.Stream, in.checkMessages(thinks)
}

func (in *anthropicRequest) checkMessages(thinks bool) error {
	role := "user"
	var open []string
	last := 0 // the last message with a question
	for i, m := range in.Messages {
		if m.Role == "user" && len(m.Content) > 0 && m.Content[0].Type != "tool_result" {
			last = i
		}
	}
	for i, m := range in.Messages {
		switch {
		case m.Role != role:
			return fmt.Errorf("messages.%d: role %q, expected %q", i, m.Role, role)
		case len(m.Content) == 0:
			return fmt.Errorf("messages.%d: content is empty", i)
		}
		var calls []string
		for k, b := range m.Content {
			if err := b.check(m.Role); err != nil {
				return fmt.Errorf("messages.%d.content.%d: %w", i, k, err)
			}
			switch {
			case b.Type == "tool_use":
				calls = append(calls, b.ID)
			case b.Type == "tool_result" && (k >= len(open) || b.ToolUseID != open[k]):
				return fmt.Errorf("messages.%d.content.%d: unexpected tool_result %s", i, k, b.ToolUseID)
			case b.Type != "tool_result" && m.Role == "user" && k < len(open):
				return fmt.Errorf("messages.%d: tool_use without tool_result", i)
			}
		}
		if len(m.Content) < len(open) {
			return fmt.Errorf("messages.%d: tool_use without tool_result", i)
		}
		if thinks && i > last && len(calls) > 0 && m.Content[0].Type != "thinking" &&
			m.Content[0].Type != "redacted_thinking" {
			return fmt.Errorf("messages.%d.content.0: expected thinking, found %s", i, m.Content[0].Type)
		}
		if role, open = "user", calls; m.Role == "user" {
			role = "assistant"
		}
	}
	if len(open) > 0 {
		return errors.New("tool_use without tool_result")
	}
	return nil
}

func (b *anthropicBlock) check(role string) error {
	assistant := role == "assistant"
	switch {
	case b.Type == "text" && strings.TrimSpace(b.Text) == "":
		return errors.New("text content blocks must contain non-whitespace text")
	case b.Type == "text":
	case b.Type == "thinking" && assistant:
		if b.Thinking == nil || b.Signature == "" {
			return errors.New("thinking without signature")
		}
	case b.Type == "redacted_thinking" && assistant && b.Data != "":
	case b.Type == "tool_use" && assistant:
		if !anthropicID.MatchString(b.ID) || b.Name == "" || len(b.Input) == 0 || b.Input[0] != '{' {
			return errors.New("tool_use: id, name or input is invalid")
		}
	case b.Type == "tool_result" && !assistant:
	case (b.Type == "image" || b.Type == "document") && !assistant && b.Source != nil:
		if b.Source.Type == "base64" && (b.Source.MediaType == "" || b.Source.Data == "") {
			return errors.New("an image without data")
		}
	default:
		return fmt.Errorf("a block of type %q", b.Type)
	}
	return nil
}

func writeAnthropic(reply Reply, streamed bool) string {
	reasons := map[Finish]string{
		Done: "end_turn", Length: "max_tokens", Refused: "refusal", Paused: "pause_turn", Malformed: "end_turn",
	}
	reason := reasons[reply.Finish]
	if len(reply.Calls) > 0 {
		reason = "tool_use"
	}
	details := "null"
	if reply.Why != "" {
		details = `{"type":"refusal","explanation":` + quoted(reply.Why) + `}`
	}
	usage := fmt.Sprintf(`"input_tokens":%d,"cache_read_input_tokens":%d,"cache_creation_input_tokens":%d`,
		FreshTokens, CachedTokens, WrittenTokens)
	blocks := anthropicContent(reply)
	if !streamed {
		var list []string
		for _, b := range blocks {
			list = append(list, b.whole)
		}
		return fmt.Sprintf(`{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[%s],`+
			`"stop_reason":%q,"stop_sequence":null,"stop_details":%s,"usage":{%s,"output_tokens":%d}}`,
			strings.Join(list, ","), reason, details, usage, TextTokens+ThoughtTokens)
	}
	events := []string{
		`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m",` +
			`"content":[],"stop_reason":null,"usage":{` + usage + `,"output_tokens":1}}}`, `{"type":"ping"}`,
	}
	for i, b := range blocks {
		events = append(events, fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, i, b.start))
		for _, delta := range b.deltas {
			events = append(events, fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, i, delta))
		}
		events = append(events, fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i))
	}
	events = append(events, fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%q,"stop_sequence":null,`+
		`"stop_details":%s},"usage":{"output_tokens":%d}}`, reason, details, TextTokens+ThoughtTokens),
		`{"type":"message_stop"}`)
	return named(events)
}

// named returns a stream of events that are named by their type.
func named(events []string) string {
	var b strings.Builder
	for _, e := range events {
		kind, _, _ := strings.Cut(strings.TrimPrefix(e, `{"type":"`), `"`)
		b.WriteString("event: " + kind + "\ndata: " + e + "\n\n")
	}
	return b.String()
}

// anthropicPart is a block as a whole, and in a stream.
type anthropicPart struct {
	whole, start string
	deltas       []string
}

func anthropicContent(reply Reply) (parts []anthropicPart) {
	if reply.Thought != "" || reply.Signature != "" {
		a, b := halves(reply.Thought)
		parts = append(parts, anthropicPart{
			`{"type":"thinking","thinking":` + quoted(reply.Thought) + `,"signature":` + quoted(reply.Signature) + `}`,
			`{"type":"thinking","thinking":"","signature":""}`,
			[]string{
				`{"type":"thinking_delta","thinking":` + quoted(a) + `}`,
				`{"type":"thinking_delta","thinking":` + quoted(b) + `}`,
				`{"type":"signature_delta","signature":` + quoted(reply.Signature) + `}`,
			},
		})
	}
	if reply.Redacted != "" {
		b := `{"type":"redacted_thinking","data":` + quoted(reply.Redacted) + `}`
		parts = append(parts, anthropicPart{b, b, nil})
	}
	if reply.Text != "" {
		a, b := halves(reply.Text)
		parts = append(parts, anthropicPart{
			`{"type":"text","text":` + quoted(reply.Text) + `}`, `{"type":"text","text":""}`,
			[]string{`{"type":"text_delta","text":` + quoted(a) + `}`, `{"type":"text_delta","text":` + quoted(b) +
				`}`},
		})
	}
	for i, c := range reply.Calls {
		a, b := halves(c.Arguments)
		head := fmt.Sprintf(`{"type":"tool_use","id":"toolu_%d","name":%s,"input":`, i, quoted(c.Name))
		parts = append(parts, anthropicPart{
			head + c.Arguments + `}`, head + `{}}`,
			[]string{
				`{"type":"input_json_delta","partial_json":""}`,
				`{"type":"input_json_delta","partial_json":` + quoted(a) + `}`,
				`{"type":"input_json_delta","partial_json":` + quoted(b) + `}`,
			},
		})
	}
	return parts
}
