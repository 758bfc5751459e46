package modeltest

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"regexp"
	"strings"
)

// bedrockForm is Converse of Amazon Bedrock. Source: the types of
// aws-sdk-go-v2/service/bedrockruntime 1.63.
var bedrockForm = Form{
	Name: "bedrock", check: checkBedrock, write: writeBedrock, stream: "application/vnd.amazon.eventstream",
}

type bedrockRequest struct {
	Messages  []bedrockMessage `json:"messages"`
	System    []bedrockBlock   `json:"system"`
	Inference *struct {
		MaxTokens     *int     `json:"maxTokens"`
		Temperature   *float64 `json:"temperature"`
		TopP          *float64 `json:"topP"`
		StopSequences []string `json:"stopSequences"`
	} `json:"inferenceConfig"`
	Tools *struct {
		Tools []struct {
			Spec *struct {
				Name        string `json:"name"`
				Description string `json:"description"`
				Input       struct {
					JSON struct {
						Type       string          `json:"type"`
						Properties json.RawMessage `json:"properties"`
						Required   []string        `json:"required"`
					} `json:"json"`
				} `json:"inputSchema"`
			} `json:"toolSpec"`
			Cache *bedrockCache `json:"cachePoint"`
		} `json:"tools"`
	} `json:"toolConfig"`
	Output *struct {
		Effort string `json:"effort"`
		Format *struct {
			Type      string `json:"type"`
			Structure struct {
				JSONSchema struct {
					Schema string `json:"schema"`
					Name   string `json:"name"`
				} `json:"jsonSchema"`
			} `json:"structure"`
		} `json:"textFormat"`
	} `json:"outputConfig"`
	More *struct {
		Thinking *struct {
			Type    string `json:"type"`
			Budget  int    `json:"budget_tokens"`
			Display string `json:"display"`
		} `json:"thinking"`
		Reasoning *struct {
			Type   string `json:"type"`
			Effort string `json:"maxReasoningEffort"`
		} `json:"reasoningConfig"`
		Effort string `json:"reasoning_effort"`
	} `json:"additionalModelRequestFields"`
}

type bedrockMessage struct {
	Role    string         `json:"role"`
	Content []bedrockBlock `json:"content"`
}

type bedrockCache struct {
	Type string `json:"type"`
}

type bedrockSource struct {
	Bytes []byte `json:"bytes"`
}

// bedrockBlock has one of its members.
type bedrockBlock struct {
	Text *string `json:"text"`
	Use  *struct {
		ID    string          `json:"toolUseId"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	} `json:"toolUse"`
	Result *struct {
		ID      string `json:"toolUseId"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"toolResult"`
	Reasoning *struct {
		Text *struct {
			Text      *string `json:"text"`
			Signature string  `json:"signature"`
		} `json:"reasoningText"`
		Redacted []byte `json:"redactedContent"`
	} `json:"reasoningContent"`
	Image *struct {
		Format string        `json:"format"`
		Source bedrockSource `json:"source"`
	} `json:"image"`
	Document *struct {
		Format string        `json:"format"`
		Name   string        `json:"name"`
		Source bedrockSource `json:"source"`
	} `json:"document"`
	Cache *bedrockCache `json:"cachePoint"`
}

var (
	bedrockPath  = regexp.MustCompile(`^/model/([^/]+)/(converse|converse-stream)$`)
	bedrockID    = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	bedrockNamed = regexp.MustCompile(`^[a-zA-Z0-9()\[\]-]+( [a-zA-Z0-9()\[\]-]+)*$`)
)

func checkBedrock(r *http.Request, body []byte) (streamed bool, err error) {
	var in bedrockRequest
	if err := strictly(body, &in); err != nil {
		return false, err
	}
	path := bedrockPath.FindStringSubmatch(r.URL.EscapedPath())
	switch {
	case r.Method != http.MethodPost || path == nil:
		return false, fmt.Errorf("%s %s", r.Method, r.URL.Path)
	case r.Header.Get("Authorization") == "":
		return false, errors.New("the request is not authorized")
	case len(in.Messages) == 0:
		return false, errors.New("messages are required")
	}
	names := map[string]bool{}
	if in.Tools != nil {
		for _, t := range in.Tools.Tools {
			if (t.Spec == nil) == (t.Cache == nil) {
				return false, errors.New("a tool is one of toolSpec and cachePoint")
			}
			if t.Spec != nil {
				if !bedrockID.MatchString(t.Spec.Name) || t.Spec.Input.JSON.Type != "object" {
					return false, fmt.Errorf("tool %q: name or schema is invalid", t.Spec.Name)
				}
				names[t.Spec.Name] = true
			}
		}
	}
	if f := in.Output; f != nil && f.Format != nil && !json.Valid([]byte(f.Format.Structure.JSONSchema.Schema)) {
		return false, errors.New("the schema is not JSON in a string")
	}
	return path[2] == "converse-stream", in.checkMessages(names)
}

func (in *bedrockRequest) checkMessages(tools map[string]bool) error {
	role := "user"
	var open []string
	for i, m := range in.Messages {
		switch {
		case m.Role != role:
			return fmt.Errorf("messages.%d: role %q, expected %q", i, m.Role, role)
		case len(m.Content) == 0:
			return fmt.Errorf("messages.%d: content is empty", i)
		}
		var calls, results []string
		text, document := false, false
		for k, b := range m.Content {
			if err := b.check(m.Role); err != nil {
				return fmt.Errorf("messages.%d.content.%d: %w", i, k, err)
			}
			text, document = text || b.Text != nil, document || b.Document != nil
			switch {
			case b.Use != nil && !tools[b.Use.Name]:
				return fmt.Errorf("messages.%d: toolConfig must define %q", i, b.Use.Name)
			case b.Use != nil:
				calls = append(calls, b.Use.ID)
			case b.Result != nil:
				results = append(results, b.Result.ID)
			}
		}
		if strings.Join(results, ",") != strings.Join(open, ",") {
			return fmt.Errorf("messages.%d: the number of toolResult blocks differs from that of toolUse blocks", i)
		}
		if document && !text {
			return fmt.Errorf("messages.%d: a document requires a text", i)
		}
		if role, open = "user", calls; m.Role == "user" {
			role = "assistant"
		}
	}
	if len(open) > 0 {
		return errors.New("toolUse without toolResult")
	}
	return nil
}

func (b *bedrockBlock) check(role string) error {
	assistant := role == "assistant"
	switch {
	case b.Text != nil:
		if strings.TrimSpace(*b.Text) == "" {
			return errors.New("the text field in the ContentBlock is blank")
		}
	case b.Use != nil && assistant:
		if !bedrockID.MatchString(b.Use.ID) || b.Use.Name == "" || len(b.Use.Input) == 0 || b.Use.Input[0] != '{' {
			return errors.New("toolUse: id, name or input is invalid")
		}
	case b.Result != nil && !assistant:
		for _, c := range b.Result.Content {
			if strings.TrimSpace(c.Text) == "" {
				return errors.New("the text of a toolResult is blank")
			}
		}
	case b.Reasoning != nil && assistant:
		if (b.Reasoning.Text == nil) == (b.Reasoning.Redacted == nil) {
			return errors.New("reasoningContent has one of reasoningText and redactedContent")
		}
	case b.Image != nil && !assistant:
		if !strings.Contains(" png jpeg gif webp ", " "+b.Image.Format+" ") || len(b.Image.Source.Bytes) == 0 {
			return errors.New("an image of another format or without data")
		}
	case b.Document != nil && !assistant:
		if !bedrockNamed.MatchString(b.Document.Name) || len(b.Document.Source.Bytes) == 0 {
			return errors.New("a document with an invalid name or without data")
		}
	default:
		return errors.New("an unknown block")
	}
	return nil
}

func writeBedrock(reply Reply, streamed bool) string {
	reasons := map[Finish]string{
		Done: "end_turn", Length: "max_tokens", Refused: "content_filtered", Malformed: "malformed_tool_use",
	}
	reason := reasons[reply.Finish]
	if len(reply.Calls) > 0 {
		reason = "tool_use"
	}
	usage := fmt.Sprintf(`{"inputTokens":%d,"outputTokens":%d,"totalTokens":%d,"cacheReadInputTokens":%d,`+
		`"cacheWriteInputTokens":%d}`, FreshTokens, TextTokens+ThoughtTokens, FreshTokens+TextTokens+ThoughtTokens,
		CachedTokens, WrittenTokens)
	parts := bedrockContent(reply)
	if !streamed {
		var list []string
		for _, p := range parts {
			list = append(list, p.whole)
		}
		return fmt.Sprintf(`{"metrics":{"latencyMs":7},"output":{"message":{"role":"assistant","content":[%s]}},`+
			`"stopReason":%q,"usage":%s}`, strings.Join(list, ","), reason, usage)
	}
	var b strings.Builder
	b.WriteString(Frame("messageStart", `{"role":"assistant"}`))
	for i, p := range parts {
		if p.start != "" {
			b.WriteString(Frame("contentBlockStart", fmt.Sprintf(`{"contentBlockIndex":%d,"start":%s}`, i, p.start)))
		}
		for _, delta := range p.deltas {
			b.WriteString(Frame("contentBlockDelta", fmt.Sprintf(`{"contentBlockIndex":%d,"delta":%s}`, i, delta)))
		}
		b.WriteString(Frame("contentBlockStop", fmt.Sprintf(`{"contentBlockIndex":%d}`, i)))
	}
	b.WriteString(Frame("messageStop", fmt.Sprintf(`{"stopReason":%q}`, reason)))
	b.WriteString(Frame("metadata", `{"usage":`+usage+`,"metrics":{"latencyMs":7}}`))
	return b.String()
}

func bedrockContent(reply Reply) (parts []anthropicPart) {
	if reply.Thought != "" || reply.Signature != "" {
		a, b := halves(reply.Thought)
		parts = append(parts, anthropicPart{
			`{"reasoningContent":{"reasoningText":{"text":` + quoted(reply.Thought) + `,"signature":` +
				quoted(reply.Signature) + `}}}`,
			"",
			[]string{
				`{"reasoningContent":{"text":` + quoted(a) + `}}`, `{"reasoningContent":{"text":` + quoted(b) + `}}`,
				`{"reasoningContent":{"signature":` + quoted(reply.Signature) + `}}`,
			},
		})
	}
	if reply.Redacted != "" {
		b := `{"reasoningContent":{"redactedContent":` + quoted(reply.Redacted) + `}}`
		parts = append(parts, anthropicPart{b, "", []string{b}})
	}
	if reply.Text != "" {
		a, b := halves(reply.Text)
		parts = append(parts, anthropicPart{
			`{"text":` + quoted(reply.Text) + `}`, "",
			[]string{`{"text":` + quoted(a) + `}`, `{"text":` + quoted(b) + `}`},
		})
	}
	for i, c := range reply.Calls {
		a, b := halves(c.Arguments)
		head := fmt.Sprintf(`{"toolUse":{"toolUseId":"tooluse_%d","name":%s`, i, quoted(c.Name))
		parts = append(parts, anthropicPart{
			head + `,"input":` + c.Arguments + `}}`, head + `}}`,
			[]string{`{"toolUse":{"input":` + quoted(a) + `}}`, `{"toolUse":{"input":` + quoted(b) + `}}`},
		})
	}
	return parts
}

// Frame returns a message of Amazon's event streams.
func Frame(event, payload string) string {
	return frameOf([][2]string{
		{":event-type", event}, {":content-type", "application/json"}, {":message-type", "event"},
	}, payload)
}

// Exception returns a message of Amazon's event streams that ends it with a failure.
func Exception(kind, message string) string {
	return frameOf([][2]string{{":exception-type", kind}, {":message-type", "exception"}},
		`{"message":`+quoted(message)+`}`)
}

// Failure returns an exception with any payload, or without a type a failure of the stream itself.
func Failure(kind, payload, reason string) string {
	if kind == "" {
		return frameOf([][2]string{
			{":message-type", "error"}, {":error-code", "E"}, {":error-message", reason},
		}, payload)
	}
	return frameOf([][2]string{{":exception-type", kind}, {":message-type", "exception"}}, payload)
}

func frameOf(headers [][2]string, payload string) string {
	var head []byte
	for _, h := range headers {
		head = append(append(head, byte(len(h[0]))), h[0]...)
		head = binary.BigEndian.AppendUint16(append(head, 7), uint16(len(h[1])))
		head = append(head, h[1]...)
	}
	message := binary.BigEndian.AppendUint32(nil, uint32(16+len(head)+len(payload)))
	message = binary.BigEndian.AppendUint32(message, uint32(len(head)))
	message = binary.BigEndian.AppendUint32(message, crc32.ChecksumIEEE(message))
	message = append(append(message, head...), payload...)
	return string(binary.BigEndian.AppendUint32(message, crc32.ChecksumIEEE(message)))
}
