package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// contractDir contains the contract; the SDKs are in sibling folders.
const contractDir = "../../../plugins/contract"

// golden is a golden message of the contract.
type golden struct {
	name    string // kind.story
	Valid   bool
	Message json.RawMessage
}

// goldens are the messages of a kind, by name.
func goldens(t *testing.T, kind string) (out []golden) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(contractDir, "golden", kind+".*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files, "no golden messages of kind %s", kind)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		g := golden{name: strings.TrimSuffix(filepath.Base(file), ".json")}
		require.NoError(t, json.Unmarshal(raw, &g), file)
		out = append(out, g)
	}
	return out
}

// valid compares a message with the contract's schema of its kind.
func valid(t *testing.T, kind string, message []byte) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(contractDir, "messages.schema.json"))
	require.NoError(t, err)
	var s jsonschema.Schema
	require.NoError(t, json.Unmarshal(raw, &s))
	s.Ref = "#/$defs/" + kind
	resolved, err := s.Resolve(nil)
	require.NoError(t, err)
	var v any
	require.NoError(t, json.Unmarshal(message, &v), string(message))
	require.NoError(t, resolved.Validate(v), string(message))
}

// goldenWeb answers http.fetch as the golden answers say.
type goldenWeb struct{}

func (goldenWeb) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path == "/key" {
		return answerOf(r, 200, r.Header.Get("X-Key")+" "+r.Header.Get("X-Plain"), "Content-Type", "text/plain"), nil
	}
	if strings.HasSuffix(r.URL.Path, ".csv") {
		return answerOf(r, 200, "Ålesund,3\n", "Content-Type", "text/csv"), nil
	}
	return answerOf(r, 200, "3", "Content-Type", "text/plain"), nil
}

// answerOf is a response with one header.
func answerOf(r *http.Request, status int, body, name, value string) *http.Response {
	return &http.Response{
		StatusCode: status, Header: http.Header{name: {value}}, Request: r, ProtoMajor: 1, ProtoMinor: 1, Body: io.NopCloser(strings.NewReader(body)),
	}
}

// goldenServices returns the services for the golden calls.
func goldenServices() Services {
	return Services{
		Chat: model{}, Embed: model{}, KV: &MemoryKV{}, Secrets: keys{"WEATHER_KEY": "k-1"},
		Variables: vars{"sys.query": engine.String("why")},
		Files:     &memoryFiles{"f1": {name: "year.csv", mime: "text/csv", data: "Ålesund,3\n"}},
	}
}

var goldenGrants = map[string]any{
	"name": "golden",
	"permissions": map[string]any{
		"http":      map[string]any{"hosts": []string{"api.weather.example"}, "reason": "r"},
		"secrets":   map[string]any{"WEATHER_KEY": map[string]any{"hosts": []string{"api.weather.example"}, "reason": "r"}},
		"llm":       map[string]any{"max_calls": 5, "reason": "r"},
		"embed":     map[string]any{"max_calls": 5, "reason": "r"},
		"kv":        map[string]any{"bytes": 100, "reason": "r"},
		"variables": map[string]any{"read": []string{"sys.query"}, "write": []string{"env.count"}, "reason": "r"},
		"files":     map[string]any{"read": true, "write_bytes": 1000, "reason": "r"},
	},
}

// TestGoldenCallsAndAnswers plays the golden calls as they stand, and wants answers of the
// contract: to an invalid call an error of the caller, and to some the golden answer itself.
func TestGoldenCallsAndAnswers(t *testing.T) {
	m := load(t, newHost(t, Config{HTTP: goldenWeb{}}), relay, goldenGrants)
	answers := map[string]json.RawMessage{}
	for _, g := range goldens(t, "answer") {
		answers[g.name] = g.Message
	}
	is := map[string]string{
		"call.http-fetch": "answer.fetched", "call.http-stream": "answer.stream",
		"call.file-read": "answer.file", "call.file-stream": "answer.file-stream", "call.file-put": "answer.stored",
		"call.file-put-bytes": "answer.stored",
	}
	for _, g := range goldens(t, "call") {
		t.Run(g.name, func(t *testing.T) {
			res, err := m.Call(context.Background(), CallRequest{Input: g.Message, Services: goldenServices()})
			require.NoError(t, err)
			valid(t, "answer", res.Output)
			var a struct{ Error *contract.Error }
			require.NoError(t, json.Unmarshal(res.Output, &a))
			switch {
			case !g.Valid:
				require.NotNil(t, a.Error)
				require.Contains(t, []contract.Code{contract.InvalidArgument, contract.NotFound}, a.Error.Code)
			case is[g.name] != "":
				require.JSONEq(t, string(answers[is[g.name]]), string(res.Output))
			case g.name == "call.future":
				require.Equal(t, contract.Unsupported, a.Error.Code)
			case g.name == "call.http-read": // no stream is open in this call
				require.Equal(t, contract.NotFound, a.Error.Code)
			default:
				require.Nil(t, a.Error)
			}
		})
	}
	t.Run("answer.piece", func(t *testing.T) {
		chained := load(t, newHost(t, Config{HTTP: goldenWeb{}}), chain, goldenGrants)
		all := asked(t, chained, goldenServices(), `{"op":"http.fetch","args":{"url":"https://api.weather.example/year.csv","stream":true}}`, `{"op":"http.read","args":{"stream":1,"max":4096}}`, `{"op":"http.read","args":{"stream":1,"max":4096}}`)
		first, last := decoded(t, all[1]), decoded(t, all[len(all)-1])
		if first.OK.Done {
			require.JSONEq(t, string(answers["answer.piece"]), string(all[1]))
		} else { // the end of a body may show only when nothing more comes
			require.Equal(t, "Ålesund,3\n", *first.OK.Body)
			require.True(t, last.OK.Done)
		}
	})
	t.Run("answer.denied", func(t *testing.T) {
		res, err := m.Call(context.Background(), CallRequest{Input: []byte(`{"op":"http.fetch","args":{"url":"https://evil.example/"}}`), Services: goldenServices()})
		require.NoError(t, err)
		valid(t, "answer", res.Output)
		require.Contains(t, string(res.Output), `"code":"denied"`)
		require.Contains(t, string(res.Output), "evil.example")
	})
}

// goldenGuests are one guest per SDK, built from plugins/sdk*/testdata. All do the same.
func goldenGuests(t testing.TB) map[string][]byte {
	out := map[string][]byte{"go": sdkGuest(t, "golden")}
	for name, file := range map[string]string{"assemblyscript": "../sdk-as/testdata/golden.wasm", "rust": "../sdk-rust/testdata/golden.wasm"} {
		b, err := os.ReadFile(filepath.Join(contractDir, file))
		require.NoError(t, err)
		out[name] = b
	}
	return out
}

// TestGoldenMessagesInGuests has each SDK read what a host sends and write what a host receives,
// under this host.
func TestGoldenMessagesInGuests(t *testing.T) {
	h := newHost(t, Config{HTTP: goldenWeb{}})
	reference := load(t, newHost(t, Config{HTTP: goldenWeb{}}), relay, goldenGrants)
	for language, wasm := range goldenGuests(t) {
		t.Run(language, func(t *testing.T) {
			if language == "go" { // it describes itself, without the permissions that are tested here
				described, err := h.Describe(context.Background(), wasm)
				require.NoError(t, err)
				require.Contains(t, string(described), `"name":"golden"`)
			}
			g := &goldenGuest{t: t, cites: language == "go"}
			var err error
			g.m, err = h.Load(context.Background(), pack(t, wasm, goldenGrants),
				LoadOptions{Granted: contract.Everything(), undescribed: true})
			require.NoError(t, err)
			for kind, play := range map[string]func(golden){
				"input": g.input, "output": g.output, "error": g.fail, "progress": g.progress, "partial": g.partial,
				"call": func(c golden) { g.call(c, reference) },
			} {
				for _, c := range goldens(t, kind) {
					t.Run(c.name, func(t *testing.T) {
						g.t = t
						play(c)
					})
				}
			}
			g.t = t
			g.reads()
			g.secrets()
			g.checks()
			g.textKinds()
			g.panics(language)
		})
	}
}

// goldenGuest is a guest under test.
type goldenGuest struct {
	t       *testing.T
	m       *Module
	cites   bool // the SDK has a way to write citations
	emitted []contract.Emission
}

// tell runs the guest with one argument and returns its outputs.
func (g *goldenGuest) tell(what string, message any) (json.RawMessage, error) {
	g.t.Helper()
	args, err := json.Marshal(map[string]any{what: message})
	require.NoError(g.t, err)
	return g.send(fmt.Appendf(nil, `{"abi":1,"call":{"id":"c","deadline_ms":1000},"params":{},"arguments":%s}`, args))
}

func (g *goldenGuest) send(input []byte) (json.RawMessage, error) {
	g.t.Helper()
	valid(g.t, "input", input)
	g.emitted = nil
	res, err := g.m.Call(context.Background(), CallRequest{
		Input: input, Services: goldenServices(),
		Emit: func(_ context.Context, e contract.Emission) error { g.emitted = append(g.emitted, e); return nil },
	})
	if err == nil {
		valid(g.t, "output", res.Output)
	}
	return res.Output, err
}

// input: what the guest understood comes back.
func (g *goldenGuest) input(c golden) {
	if !c.Valid {
		return // a host that sends it is wrong; what a guest makes of it is its own affair
	}
	out, err := g.send(c.Message)
	require.NoError(g.t, err)
	var got struct {
		Outputs struct{ Params, Arguments, Call map[string]any }
	}
	var want struct{ Params, Arguments, Call map[string]any }
	require.NoError(g.t, json.Unmarshal(out, &got))
	require.NoError(g.t, json.Unmarshal(c.Message, &want))
	require.Equal(g.t, want.Params, got.Outputs.Params)
	require.Equal(g.t, want.Arguments, got.Outputs.Arguments)
	for name, v := range want.Call {
		require.Equal(g.t, v, got.Outputs.Call[name], name)
	}
}

// output: the guest makes the golden one, and the host reads it.
func (g *goldenGuest) output(c golden) {
	var m struct{ Outputs, Usage map[string]any }
	if !c.Valid || json.Unmarshal(c.Message, &m) != nil || m.Outputs == nil {
		return // the SDKs cannot write it
	}
	out, err := g.tell("output", c.Message)
	require.NoError(g.t, err)
	a, err := g.m.Manifest().ReadAnswer(string(out))
	require.NoError(g.t, err)
	want, err := g.m.Manifest().ReadAnswer(string(c.Message))
	require.NoError(g.t, err)
	require.True(g.t, engine.Equal(want.Outputs, a.Outputs), "want %s, got %s", want.Outputs, a.Outputs)
	require.Equal(g.t, want.Artifacts, a.Artifacts)
	require.Equal(g.t, want.Next, a.Next)
	if g.cites {
		require.Equal(g.t, want.Citations, a.Citations)
	}
}

// fail: the guest fails with the golden error, and the host reads the same.
func (g *goldenGuest) fail(c golden) {
	if !c.Valid {
		return
	}
	_, err := g.tell("error", c.Message)
	var got *contract.Error
	require.ErrorAs(g.t, err, &got)
	want := contract.GuestError(c.Message, 1)
	require.Equal(g.t, []any{want.Code, want.Message, want.Retryable, want.Data}, []any{got.Code, got.Message, got.Retryable, got.Data})
}

func (g *goldenGuest) progress(c golden) { g.emit(contract.Progress, c) }
func (g *goldenGuest) partial(c golden)  { g.emit(contract.Partial, c) }

// emit: the guest emits the golden piece, and the host receives the same.
func (g *goldenGuest) emit(kind contract.Kind, c golden) {
	want, ok := contract.ReadEmission(kind, c.Message)
	if !ok {
		return
	}
	var m map[string]any
	require.NoError(g.t, json.Unmarshal(c.Message, &m))
	m["kind"] = kind
	_, err := g.tell("emit", m)
	require.NoError(g.t, err)
	require.Equal(g.t, []contract.Emission{want}, g.emitted)
}

// call: the guest makes the golden call, and understands the same answer as a guest that knows
// bytes only.
func (g *goldenGuest) call(c golden, reference *Module) {
	want, err := reference.Call(context.Background(), CallRequest{Input: c.Message, Services: goldenServices()})
	require.NoError(g.t, err)
	out, err := g.tell("call", c.Message)
	if !c.Valid && err != nil { // a typed method cannot even make it
		return
	}
	require.NoError(g.t, err)
	var got struct {
		Outputs struct{ Answer json.RawMessage }
	}
	require.NoError(g.t, json.Unmarshal(out, &got))
	if !c.Valid {
		require.NotEmpty(g.t, got.Outputs.Answer)
		return
	}
	require.JSONEq(g.t, withoutFalse(g.t, want.Output), withoutFalse(g.t, got.Outputs.Answer))
	if c.name == "call.llm-chat" {
		require.Len(g.t, g.emitted, 2, "stream was passed on")
	}
}

// withoutFalse leaves out "retryable": false, which may be written or not.
func withoutFalse(t *testing.T, raw []byte) string {
	t.Helper()
	return string(bytes.ReplaceAll(raw, []byte(`,"retryable":false`), nil))
}

// reads has the guest read a body in pieces.
func (g *goldenGuest) reads() {
	g.t.Run("reads a stream", func(t *testing.T) {
		g.t = t
		out, err := g.tell("read", map[string]any{"url": "https://api.weather.example/year.csv"})
		require.NoError(t, err)
		require.JSONEq(t, `{"outputs":{"status":200,"text":"Ålesund,3\n"}}`, withoutEmpty(t, out))
		_, err = g.tell("read", map[string]any{"url": "https://evil.example/"})
		require.ErrorContains(t, err, "evil.example")
	})
}

// secrets has the guest name a secret with the mark of its call. In the output the mark is gone.
func (g *goldenGuest) secrets() {
	g.t.Run("names secrets", func(t *testing.T) {
		for mark, text := range map[string]string{`,"secret_mark":"m4rk"`: "*** {{secret:WEATHER_KEY}}", "": "{{secret:WEATHER_KEY}} {{secret:WEATHER_KEY}}"} {
			res, err := g.m.Call(context.Background(), CallRequest{
				Input:    []byte(`{"abi":1,"call":{"id":"c","deadline_ms":1000` + mark + `},"params":{},"arguments":{"secret":{"url":"https://api.weather.example/key","name":"WEATHER_KEY"}}}`),
				Services: Services{Secrets: keys{"WEATHER_KEY": "k-1234"}}, SecretMark: "m4rk",
			})
			require.NoError(t, err)
			require.JSONEq(t, `{"outputs":{"text":"`+text+`","sent":"{{secret:WEATHER_KEY}}"}}`, withoutEmpty(t, res.Output))
		}
	})
}

// withoutEmpty leaves out members of an output that say nothing.
func withoutEmpty(t *testing.T, raw []byte) string {
	t.Helper()
	var m map[string]any
	require.NoError(t, json.Unmarshal(raw, &m))
	out, err := json.Marshal(map[string]any{"outputs": m["outputs"]})
	require.NoError(t, err)
	return string(out)
}

// checks has the guest test params.
func (g *goldenGuest) checks() {
	g.t.Run("checks params", func(t *testing.T) {
		require.NoError(t, g.m.Check(context.Background(), nil, engine.Object("bad", false)))
		err := g.m.Check(context.Background(), nil, engine.Object("bad", true))
		require.ErrorIs(t, err, contract.InvalidArgument)
		require.ErrorContains(t, err, "bad is true")
	})
}

// panics has the guest give up: what it said, and in which line where its language knows, is the
// error of the call.
func (g *goldenGuest) panics(language string) {
	g.t.Run("panics", func(t *testing.T) {
		g.t = t
		_, err := g.tell("panic", "no way out")
		require.ErrorIs(t, err, contract.Panic)
		require.ErrorContains(t, err, "no way out")
		source := map[string]string{"assemblyscript": "golden.ts:", "rust": "golden.rs:"}[language]
		require.ErrorContains(t, err, source)
	})
}

// textKinds has the guest say pieces of answer and reasoning.
func (g *goldenGuest) textKinds() {
	g.t.Run("emits text", func(t *testing.T) {
		g.t = t
		for _, kind := range []contract.Kind{contract.Delta, contract.Reasoning} {
			_, err := g.tell("emit", map[string]any{"kind": kind, "text": "Ålesund 🌧"})
			require.NoError(t, err)
			require.Equal(t, []contract.Emission{{Kind: kind, Text: "Ålesund 🌧"}}, g.emitted)
		}
	})
}

// TestInputOfThisHostIsOfTheContract compares the input of Invoke with the schema.
func TestInputOfThisHostIsOfTheContract(t *testing.T) {
	m := load(t, newHost(t, Config{}), echo, nil)
	for _, in := range []Invocation{
		{ID: "c"}, {
			ID: "c", Node: "P:0", Attempt: 3, Locale: "de", Preview: true,
			Params: engine.Object("a", engine.List(engine.Int(1))), Arguments: engine.Object(),
		},
	} {
		a, err := m.Invoke(context.Background(), in)
		require.ErrorIs(t, err, contract.BadOutput, "an echo has no outputs")
		valid(t, "input", a.Output)
	}
}

// TestEveryOperationHasAGoldenCall keeps contract and host together.
func TestEveryOperationHasAGoldenCall(t *testing.T) {
	var have []string
	for _, g := range goldens(t, "call") {
		var m struct{ Op string }
		require.NoError(t, json.Unmarshal(g.Message, &m))
		have = append(have, m.Op)
	}
	text, err := os.ReadFile(filepath.Join(contractDir, "contract.md"))
	require.NoError(t, err)
	for op := range operations {
		require.Contains(t, string(text), "| `"+op+"` |", "the contract describes it")
		require.NoError(t, (&contract.Manifest{Requires: []string{op + "@1"}}).CheckHost(""),
			"a manifest may require it")
		require.True(t, slices.Contains(have, op), "no golden message of %s", op)
	}
}
