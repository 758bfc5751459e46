package model_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/model"
	"github.com/easel-canvas/easel/host/internal/model/embedding"
	"github.com/easel-canvas/easel/host/internal/testing/modeltest"
)

// Real answers of vendors' servers, as other projects store them to test their clients: NAME.json
// is a whole answer, NAME.chunks.txt has one event per line, NAME.sse is a stream.
// EASEL_MODEL_RECORDINGS is a folder with such files, at any depth. The short readers of this file
// share nothing with the dialects.
func TestRecordedAnswers(t *testing.T) {
	root := os.Getenv("EASEL_MODEL_RECORDINGS")
	if root == "" {
		t.Skip("EASEL_MODEL_RECORDINGS names no folder: recordings of others are not in the repository")
	}
	played, other := 0, 0
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		events, stream := recorded(path, data)
		api := apiOfRecording(events)
		if vectors := recordedVectors(events); vectors != nil {
			played++
			t.Run(strings.TrimPrefix(path, root+"/"), func(t *testing.T) { playVectors(t, data, vectors) })
			return nil
		}
		if api == "" {
			other++
			return nil
		}
		name := strings.TrimPrefix(path, root+"/")
		for i, answer := range answersOf(events) {
			played++
			t.Run(fmt.Sprint(name, "/", i), func(t *testing.T) { playRecording(t, api, answer, stream) })
		}
		return nil
	}))
	t.Logf("%d answers, %d other files", played, other)
	require.NotZero(t, played)
}

type jsonObject = map[string]any

// recorded returns the events of a file.
func recorded(path string, data []byte) (events []jsonObject, stream bool) {
	if strings.HasSuffix(path, ".json") {
		var whole jsonObject
		if json.Unmarshal(data, &whole) == nil {
			events = append(events, whole)
		}
		return events, false
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		text := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(lines.Text()), "data:"))
		var event jsonObject
		if json.Unmarshal([]byte(text), &event) == nil {
			events = append(events, event)
		}
	}
	return events, true
}

// apiOfRecording recognises answers of chats by their members.
func apiOfRecording(events []jsonObject) model.API {
	for _, e := range events {
		switch kind, _ := e["type"].(string); {
		case e["choices"] != nil && str(e, "object") != "text_completion":
			return model.OpenAI
		case e["candidates"] != nil:
			return model.Gemini
		case kind == "message" || kind == "message_start":
			return model.Anthropic
		case e["object"] == "response" || kind == "response.created":
			return model.Responses
		case e["messageStart"] != nil || e["contentBlockStart"] != nil || e["contentBlockDelta"] != nil ||
			e["stopReason"] != nil:
			return model.Bedrock
		}
	}
	return ""
}

// answersOf cuts a file that has the answers of several requests.
func answersOf(events []jsonObject) (answers [][]jsonObject) {
	begin := 0
	for i, e := range events {
		switch str(e, "type") {
		case "message_stop", "response.completed", "response.incomplete", "response.failed":
			answers, begin = append(answers, events[begin:i+1]), i+1
		}
	}
	if begin < len(events) {
		answers = append(answers, events[begin:])
	}
	return answers
}

func playRecording(t *testing.T, api model.API, events []jsonObject, stream bool) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		serveRecording(w, api, events, stream)
	}))
	defer server.Close()
	m, err := model.New(model.Config{Providers: []model.Provider{{
		Name: "Test", API: api, BaseURL: server.URL, Key: "sk-secret", Models: []model.Entry{{Name: "m"}},
	}}})
	require.NoError(t, err)
	want := readers[api](events, stream)
	want.text = thinkingOfText.ReplaceAllString(inline.ReplaceAllString(want.text, ""), "")
	if want.paused {
		return
	}
	req := &engine.ModelRequest{
		LLM: "m", Messages: []engine.ModelMessage{{Role: "user", Content: "Hello"}}, Stream: stream,
	}
	for _, c := range want.calls {
		if c.name != "" {
			req.Tools = append(req.Tools, engine.ToolDef{Name: c.name, Parameters: engine.Object("type", "object")})
		}
	}
	if want.text == "" && len(want.calls) == 0 { // a refusal, or tools of the vendor that were not asked for
		for _, err := range m.Generate(t.Context(), req) {
			if err != nil {
				return
			}
		}
		require.Fail(t, "nothing was said, and no error either")
	}
	var text string
	var last engine.ModelPiece
	for piece, err := range m.Generate(t.Context(), req) {
		require.NoError(t, err)
		text += piece.Text
		if piece.ToolCalls != nil {
			last.ToolCalls = piece.ToolCalls
		}
		if piece.Usage != nil {
			last.Usage = piece.Usage
		}
	}
	text, _, cut := strings.Cut(engine.WithoutReasoning(text), "\n\n[The answer was cut")
	if cut && text == "" { // in its reasoning
		return
	}
	require.Equal(t, strings.TrimSpace(want.text), strings.TrimSpace(text))
	require.Len(t, last.ToolCalls, len(want.calls))
	for i, c := range last.ToolCalls {
		require.Equal(t, want.calls[i].name, c.Name)
		require.JSONEq(t, cmp.Or(want.calls[i].args, "{}"), cmp.Or(c.Arguments, "{}"))
	}
	if want.tokens > 0 {
		require.NotNil(t, last.Usage)
		require.EqualValues(t, want.tokens, last.Usage.Completion)
	}
}

func serveRecording(w http.ResponseWriter, api model.API, events []jsonObject, stream bool) {
	if !stream {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(events[0])
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if api == model.Bedrock {
		w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
	}
	for _, e := range events {
		data, _ := json.Marshal(e)
		switch {
		case api == model.Bedrock:
			for kind, payload := range e {
				body, _ := json.Marshal(payload)
				_, _ = fmt.Fprint(w, modeltest.Frame(kind, string(body)))
			}
		case e["type"] != nil:
			_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e["type"], data)
		default:
			_, _ = fmt.Fprintf(w, "data: %s\n\n", data)
		}
	}
	if api == model.OpenAI {
		_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
	}
}

// inline is reasoning in the text; one that is not closed is the answer.
var inline = regexp.MustCompile(`(?s)^\s*<think>(.*</think>)?`)

// said is the content of an answer.
type said struct {
	text   string
	calls  []call
	tokens float64 // of the answer, as the server counts them
	paused bool    // the rest is the answer to another request
}

type call struct {
	key        any
	name, args string
}

// at returns the call of a key.
func (s *said) at(key any) *call {
	for i := range s.calls {
		if s.calls[i].key == key {
			return &s.calls[i]
		}
	}
	s.calls = append(s.calls, call{key: key})
	return &s.calls[len(s.calls)-1]
}

func obj(v any) jsonObject                       { m, _ := v.(jsonObject); return m }
func inner(m jsonObject, name string) jsonObject { return obj(m[name]) }
func list(m jsonObject, name string) []any       { l, _ := m[name].([]any); return l }
func str(m jsonObject, name string) string       { s, _ := m[name].(string); return s }
func num(m jsonObject, name string) float64      { n, _ := m[name].(float64); return n }
func written(v any) string                       { data, _ := json.Marshal(v); return string(data) }

var readers = map[model.API]func(events []jsonObject, stream bool) said{
	model.OpenAI: readOpenAI, model.Anthropic: readAnthropic, model.Gemini: readGemini,
	model.Responses: readResponses, model.Bedrock: readBedrock,
}

func readOpenAI(events []jsonObject, _ bool) (s said) {
	for _, e := range events {
		if e["error"] != nil {
			return said{}
		}
		s.tokens = max(s.tokens, num(inner(e, "usage"), "completion_tokens"))
		for _, c := range list(e, "choices") {
			m := inner(obj(c), "delta")
			if m == nil {
				m = inner(obj(c), "message")
			}
			s.text += str(m, "content")
			for _, part := range list(m, "content") {
				if str(obj(part), "type") == "text" {
					s.text += str(obj(part), "text")
				}
			}
			for i, raw := range list(m, "tool_calls") {
				key := any(float64(i))
				if index, ok := obj(raw)["index"]; ok {
					key = index
				}
				found := s.at(key)
				found.name += str(inner(obj(raw), "function"), "name")
				found.args += str(inner(obj(raw), "function"), "arguments")
			}
		}
	}
	return s
}

func readAnthropic(events []jsonObject, _ bool) (s said) {
	for _, e := range events {
		s.tokens = max(s.tokens, num(inner(e, "usage"), "output_tokens"))
		if str(e, "stop_reason") == "pause_turn" || str(inner(e, "delta"), "stop_reason") == "pause_turn" {
			return said{paused: true}
		}
		block := func(key any, b jsonObject) {
			switch str(b, "type") {
			case "text":
				s.text += str(b, "text")
			case "tool_use":
				c := s.at(key)
				c.name = str(b, "name")
				if len(inner(b, "input")) > 0 {
					c.args = written(b["input"])
				}
			}
		}
		if str(e, "type") == "message_start" { // replaces one that did not end
			s.calls = nil
		}
		for i, b := range append(list(e, "content"), list(inner(e, "message"), "content")...) {
			block(i, obj(b))
		}
		block(e["index"], inner(e, "content_block"))
		delta := inner(e, "delta")
		s.text += str(delta, "text")
		for i := range s.calls {
			if s.calls[i].key == e["index"] {
				s.calls[i].args += str(delta, "partial_json")
			}
		}
	}
	return s
}

func readGemini(events []jsonObject, _ bool) (s said) {
	for _, e := range events {
		usage := inner(e, "usageMetadata")
		s.tokens = num(usage, "candidatesTokenCount") + num(usage, "thoughtsTokenCount")
		for _, c := range list(e, "candidates") {
			if str(obj(c), "finishReason") == "UNEXPECTED_TOOL_CALL" {
				return said{}
			}
			for _, p := range list(inner(obj(c), "content"), "parts") {
				if inner(obj(p), "functionCall")["willContinue"] != nil {
					return said{} // arguments in pieces are sent on request only: an error
				}
				if obj(p)["thought"] != true {
					s.text += str(obj(p), "text")
				}
				if f := inner(obj(p), "functionCall"); f != nil {
					s.calls = append(s.calls, call{len(s.calls), str(f, "name"), written(f["args"])})
				}
			}
		}
	}
	return s
}

func readResponses(events []jsonObject, stream bool) (s said) {
	output := func(o jsonObject) {
		for _, item := range list(o, "output") {
			switch str(obj(item), "type") {
			case "message":
				for _, part := range list(obj(item), "content") {
					s.text += str(obj(part), "text")
				}
			case "function_call":
				s.calls = append(s.calls, call{len(s.calls), str(obj(item), "name"), str(obj(item), "arguments")})
			}
		}
	}
	if !stream {
		output(events[0])
		s.tokens = num(inner(events[0], "usage"), "output_tokens")
		return s
	}
	for _, e := range events {
		s.tokens = max(s.tokens, num(inner(inner(e, "response"), "usage"), "output_tokens"))
		switch str(e, "type") {
		case "response.output_text.delta":
			s.text += str(e, "delta")
		case "response.output_item.done":
			if item := inner(e, "item"); str(item, "type") == "function_call" {
				output(jsonObject{"output": []any{e["item"]}})
			}
		}
	}
	return s
}

func readBedrock(events []jsonObject, _ bool) (s said) {
	for _, e := range events {
		s.tokens = max(s.tokens, num(inner(e, "usage"), "outputTokens"),
			num(inner(inner(e, "metadata"), "usage"), "outputTokens"))
		for i, b := range list(inner(inner(e, "output"), "message"), "content") {
			s.text += str(obj(b), "text")
			if u := inner(obj(b), "toolUse"); u != nil {
				s.calls = append(s.calls, call{i, str(u, "name"), written(u["input"])})
			}
		}
		if start := inner(e, "contentBlockStart"); start != nil {
			if u := inner(inner(start, "start"), "toolUse"); u != nil {
				s.at(start["contentBlockIndex"]).name = str(u, "name")
			}
		}
		if d := inner(e, "contentBlockDelta"); d != nil {
			s.text += str(inner(d, "delta"), "text")
			if u := inner(inner(d, "delta"), "toolUse"); u != nil {
				s.at(d["contentBlockIndex"]).args += str(u, "input")
			}
		}
	}
	return s
}

// recordedVectors returns the vectors of an answer of embeddings; nil for others.
func recordedVectors(events []jsonObject) (vectors [][]any) {
	if len(events) != 1 {
		return nil
	}
	found := events[0]["data"]
	if found == nil {
		found = events[0]["embeddings"]
	}
	if m := obj(found); m != nil {
		found = m["float"]
	}
	entries, _ := found.([]any)
	for _, e := range entries {
		v, ok := e.([]any)
		if m := obj(e); m != nil {
			if v, ok = m["embedding"].([]any); !ok {
				v, ok = m["values"].([]any)
			}
			if text, is := m["embedding"].(string); is {
				v, ok = fromBase64(text), true
			}
		}
		if ok {
			vectors = append(vectors, v)
		}
	}
	return vectors
}

// fromBase64 reads numbers of 32 bits.
func fromBase64(text string) (v []any) {
	data, _ := base64.StdEncoding.DecodeString(text)
	for ; len(data) >= 4; data = data[4:] {
		v = append(v, float64(math.Float32frombits(binary.LittleEndian.Uint32(data))))
	}
	return v
}

func playVectors(t *testing.T, data []byte, want [][]any) {
	v, err := engine.ParseJSON(data)
	require.NoError(t, err)
	got, err := embedding.Vectors(v, len(want))
	require.NoError(t, err)
	for i := range want {
		require.Len(t, got[i], len(want[i]))
		for k, x := range want[i] {
			number, _ := x.(float64)
			require.InDelta(t, number, got[i][k], 1e-6*max(1, math.Abs(number)))
		}
	}
}

// thinkingOfText is reasoning that models of Amazon and Anthropic write at the start of their text.
var thinkingOfText = regexp.MustCompile(`(?s)^\s*<thinking>.*?</thinking>`)
