package component_test

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// hush is the value of the secret KEY, which only the configuration of a canvas may send anywhere.
const hush = "s3cr3t-value-1234"

// receiver is an HTTP port that records the requests a real one would send.
type receiver struct {
	sent []string
	body string
}

func (r *receiver) Do(_ context.Context, req *engine.HTTPRequest) (*engine.HTTPResponse, error) {
	text := req.Method + " " + req.URL + "\n"
	for _, h := range req.Header {
		text += h.Name + ": " + h.Value + "\n"
	}
	text, err := engine.FillSecrets(text+"\n"+req.Body, req.SecretMark,
		func(string) (string, error) { return hush, nil })
	if err != nil {
		return nil, err
	}
	r.sent = append(r.sent, text)
	return &engine.HTTPResponse{Status: 200, Body: r.body}, nil
}

// outsider implements every port through which text comes in, with the same text.
type outsider struct{ text string }

func (o outsider) Generate(context.Context, *engine.ModelRequest) iter.Seq2[engine.ModelPiece, error] {
	return func(yield func(engine.ModelPiece, error) bool) { yield(engine.ModelPiece{Text: o.text}, nil) }
}

func (o outsider) Read(context.Context, engine.Value) (string, error) { return o.text, nil }

func (o outsider) RunCode(context.Context, *engine.CodeCall) (engine.CodeResult, error) {
	return engine.CodeResult{Value: engine.String(o.text)}, nil
}

func (o outsider) CallTool(context.Context, *engine.ExternalCall) (engine.Value, error) {
	return engine.Object("formalized_content", o.text), nil
}

func (o outsider) Retrieve(context.Context, *engine.RetrievalQuery) (engine.Found, error) {
	chunk := engine.Object("chunk_id", "1", "doc_id", "1", "docnm_kwd", "d", "content", o.text, "content_with_weight",
		o.text)
	return engine.Found{Chunks: []engine.Value{chunk}}, nil
}

// TestSecretsOfOutsidersStayPlain sends text that names a secret from every outside source through
// Invoke, in each of its forms. The secret that the canvas names in the same request arrives.
func TestSecretsOfOutsidersStayPlain(t *testing.T) {
	const named = "{{secret:KEY}}"
	halves, err := json.Marshal(map[string]string{
		"a": "{{sec", "b": "ret:KEY}}", "name": "KEY}}", "t": named,
		"open": "{{secret:",
	})
	require.NoError(t, err)
	for _, c := range []struct {
		name, ref string
		webhook   string
		lines     []string
	}{
		{"the query", "sys.query", "", []string{"begin Begin -> X"}},
		{"a Begin input", "begin@t", "", []string{"begin Begin -> X"}},
		{"the history", "sys.history", "", []string{"begin Begin -> X", `=sys.history []`}},
		{"a file", "sys.files", "", []string{"begin Begin -> X"}},
		{"a saved variable", "env.x", "", []string{"begin Begin -> X", `=env.x "` + named + `"`}},
		{
			"a variable that was assigned", "env.x", "",
			[]string{
				"begin Begin -> A",
				`A VariableAssigner {"variables": ` +
					`[{"variable": "env.x", "operator": "overwrite", "parameter": "sys.query"}]} -> X`, `=env.x ""`,
			},
		},
		{
			"the body of a webhook", "begin@body", `{"body": {"t": "` + named + `"}}`,
			[]string{`begin Begin {"mode": "Webhook"} -> X`},
		},
		{
			"a key in the body of a webhook", "begin@body", `{"body": {"` + named + `": "t"}}`,
			[]string{`begin Begin {"mode": "Webhook"} -> X`},
		},
		{
			"the headers of a webhook", "begin@headers", `{"headers": {"X": "` + named + `"}}`,
			[]string{`begin Begin {"mode": "Webhook"} -> X`},
		},
		{
			"the query of a webhook", "begin@query", `{"query": {"t": "` + named + `"}}`,
			[]string{`begin Begin {"mode": "Webhook"} -> X`},
		},
		{"a form", "F@t", "", []string{
			"begin Begin -> F",
			`F UserFillUp {"enable_tips": false, "inputs": {"t": {"name": "t", "type": "line", "value": "` + named +
				`"}}} -> X`,
		}},
		{
			"a passage", "R@formalized_content", "",
			[]string{"begin Begin -> R", `R Retrieval {"kb_ids": ["k"], "query": "{sys.query}"} -> X`},
		},
		{"a model's answer", "L@content", "", []string{
			"begin Begin -> L",
			`L LLM {"llm_id": "m", "prompts": [{"role": "user", "content": "{sys.query}"}]} -> X`,
		}},
		{"an agent's answer", "L@content", "", []string{
			"begin Begin -> L",
			`L Agent {"llm_id": "m", "prompts": [{"role": "user", "content": "{sys.query}"}]} -> X`,
		}},
		{"a search result", "T@formalized_content", "", []string{
			"begin Begin -> T",
			`T Wikipedia {"query": "{sys.query}"} -> X`,
		}},
		{"a server's answer", "H@result", "", []string{
			"begin Begin -> H",
			`H Invoke {"url": "http://first", "headers": "{\"K\": \"{{secret:KEY}}\"}"} -> X`,
		}},
		{"a script", "C@result", "", []string{"begin Begin -> C", `C CodeExec {"lang": "python", "script": "def ` +
			`main(): pass", "outputs": {"result": {"type": "string", "value": ""}}} -> X`}},
		{"two halves that are joined", "S@result", "", []string{
			"begin Begin -> S",
			`S StringTransform {"method": "merge", "script": "{begin@a}{begin@b}", "delimiters": [""]} -> X`,
		}},
		{"one half in the canvas, one from outside", "S@result", "", []string{
			"begin Begin -> S",
			`S StringTransform {"method": "merge", "script": "{{secret:{begin@name}", "delimiters": [""]} -> X`,
		}},
		{"a template in the canvas", "S@result", "", []string{
			"begin Begin -> S",
			`S StringTransform {"method": "merge", "script": "{{ open }}{begin@name}", "delimiters": [""]} -> X`,
		}},
	} {
		for _, form := range []struct{ name, params string }{
			{"get", `"url": "http://h/{REF}", "variables": [{"key": "q", "ref": "REF"}]`},
			{"json", `"url": "http://h/", "method": "post", "variables": [{"key": "q", "ref": "REF"}]`},
			{"form", `"url": "http://h/", "method": "put", "datatype": "formdata", "variables": ` +
				`[{"key": "q", "ref": "REF"}]`},
			{"halves in the URL", `"url": "http://h/{{secret:{begin@name}{REF}?a={begin@open}KEY}}"`},
		} {
			t.Run(c.name+"/"+form.name, func(t *testing.T) {
				o, r := outsider{named}, &receiver{body: named}
				params := `{"headers": "{\"Authorization\": \"Bearer {{secret:KEY}}\"}", ` +
					strings.ReplaceAll(form.params, "REF", c.ref) + `}`
				in := engine.Input{
					Query: engine.String(named), Inputs: value(t, string(halves)),
					Files: engine.List(engine.Object("name", "f")),
				}
				if c.webhook != "" {
					in.Webhook = value(t, c.webhook)
				}
				ports := engine.Ports{Model: o, Files: o, Code: o, Tools: o, Retriever: o, HTTP: r}
				canvas, err := engine.Load(registry(t), sketch.Bytes(append(c.lines, "X Invoke "+params)...))
				require.NoError(t, err)
				st := canvas.State()
				s := playOn(t, canvas, st, in, ports)
				if st.Paused() {
					s = playOn(t, canvas, st, in, ports)
				}
				require.NoError(t, s.err)
				require.NotEmpty(t, r.sent)
				last := r.sent[len(r.sent)-1]
				require.Contains(t, last, "Authorization: Bearer "+hush, "the canvas's own secret arrives")
				require.Equal(t, 1, strings.Count(last, hush), last)
				require.Contains(t, last, "KEY", "what came from outside arrives as it is")
			})
		}
	}
}

// TestSecretsOfTheCanvasCount puts placeholders into every text param of Invoke.
func TestSecretsOfTheCanvasCount(t *testing.T) {
	r := &receiver{body: "seen " + hush}
	doc := sketch.Bytes("begin Begin -> X", `=env.own "{{secret:KEY}}"`, `X Invoke {
		"url": "http://h/{{secret:KEY}}/{sys.query}/{env.own}", "method": "post",
		"headers": "{\"A\": \"{{secret:KEY}}\"}", "variables": [
			{"key": "v", "value": {"deep": ["{{secret:KEY}} &"]}}, {"key": "{{secret:KEY}}", "value": 1}, {"key": "e", "ref": "env.own"}]} -> M`,
		`M Message {"content": ["{X@result} {{secret:KEY}}"]}`)
	d, err := engine.ParseJSON(doc)
	require.NoError(t, err)
	d = d.With("variables", value(t, `{"own": {"type": "string", "value": "{{secret:KEY}}"}}`))
	c, err := engine.Load(registry(t), d.AppendJSON(nil))
	require.NoError(t, err)
	s := playOn(t, c, c.State(), engine.Input{Query: engine.String("q")}, engine.Ports{HTTP: r})
	require.NoError(t, s.err)
	require.Equal(t, strings.ReplaceAll("POST http://h/KEY/q/KEY\nA: KEY\nContent-Type: application/json\n\n"+
		`{"v":{"deep":["KEY &"]},"KEY":1,"e":"KEY"}`, "KEY", hush), r.sent[0])
	require.Contains(t, s.said, "{{secret:KEY}}", "a message shows the name")
}

// echoing returns the request as the answer, and fails with it the second time.
type echoing struct{ marks []string }

func (e *echoing) Do(_ context.Context, req *engine.HTTPRequest) (*engine.HTTPResponse, error) {
	e.marks = append(e.marks, req.SecretMark)
	if strings.Contains(req.URL, "fail") {
		return nil, &echoed{req.URL + req.Body}
	}
	return &engine.HTTPResponse{
		Status: 200, Body: req.URL + req.Body,
		Header: []engine.HTTPHeader{{Name: "X", Value: req.SecretMark}},
	}, nil
}

type echoed struct{ text string }

func (e *echoed) Error() string { return e.text }

// TestMarksAppearNowhere has a port that returns marks: no event, state or error contains one, each
// run has another mark, and it depends on neither the seed nor the IDs port.
func TestMarksAppearNowhere(t *testing.T) {
	e := &echoing{}
	for range 2 {
		for _, path := range []string{"ok", "fail"} {
			c, err := engine.Load(registry(t), sketch.Bytes("begin Begin -> X",
				`X Invoke {"url": "http://h/`+path+`/{{secret:KEY}}"} -> A`,
				`A VariableAssigner {"variables": [{"variable": "env.x", "operator": "overwrite", "parameter": "X@result"}]} -> M`, `M Message {"content": ["{X@result}{env.x}"]}`, `=env.x ""`))
			require.NoError(t, err)
			st := c.State()
			var all strings.Builder
			for ev, err := range c.Run(t.Context(), st, engine.Input{}, engine.Options{Ports: engine.Ports{
				HTTP: e,
				IDs:  fixedIDs{},
			}, Seed: 1, Internal: true, Checkpoints: true}) {
				if err != nil {
					all.WriteString(err.Error())
					break
				}
				all.Write(ev.JSON)
			}
			all.Write(c.Save(st))
			mark := e.marks[len(e.marks)-1]
			require.Len(t, mark, 32)
			require.False(t, strings.Contains(all.String(), mark))
			require.Contains(t, all.String(), "http://h/"+path+"/{{secret:KEY}}")
		}
	}
	seen := map[string]bool{}
	for _, mark := range e.marks {
		require.False(t, seen[mark], "each run draws its own")
		seen[mark] = true
	}
}

type fixedIDs struct{}

func (fixedIDs) NewID() string { return strings.Repeat("0", 32) }

// TestParamsOfExternalComponentsAreMarked has a Tools port read the params, which are
// configuration, and the arguments, which are not.
func TestParamsOfExternalComponentsAreMarked(t *testing.T) {
	var asked engine.ExternalCall
	port := toolPort(func(c *engine.ExternalCall) { asked = *c })
	s := play(t, engine.Input{Query: engine.String("{{secret:KEY}}")}, engine.Ports{Tools: port},
		"begin Begin -> X",
		`X Email {"to_email": "{sys.query}", "password": "{{secret:KEY}}", "smtp_server": "s", "email": "e"}`)
	require.NoError(t, s.err)
	fill := func(v engine.Value) string {
		text, err := engine.FillSecrets(v.JSON(), asked.SecretMark, func(string) (string, error) { return hush, nil })
		require.NoError(t, err)
		return text
	}
	require.Contains(t, fill(asked.Params), `"password":"`+hush+`"`)
	require.NotContains(t, fill(asked.Arguments), hush)
	require.Contains(t, asked.Arguments.JSON(), `"to_email":"{{secret:KEY}}"`)
}

type toolPort func(*engine.ExternalCall)

func (p toolPort) CallTool(_ context.Context, c *engine.ExternalCall) (engine.Value, error) {
	p(c)
	return engine.Object("success", true), nil
}
