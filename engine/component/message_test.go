package component_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// parrot is a model that streams the given pieces.
type parrot []string

func (p parrot) Generate(context.Context, *engine.ModelRequest) iter.Seq2[engine.ModelPiece, error] {
	return func(yield func(engine.ModelPiece, error) bool) {
		for _, text := range p {
			if !yield(engine.ModelPiece{Text: text}, nil) {
				return
			}
		}
	}
}

// press makes files from texts, or fails.
type press struct{ err error }

func (p press) Convert(_ context.Context, format, text string) (engine.Value, error) {
	return engine.Object("doc_id", "d", "format", format, "file_name", text), p.err
}

// notebook records the calls of Remember.
type notebook struct{ kept []engine.Remembered }

func (n *notebook) Remember(_ context.Context, m *engine.Remembered) error {
	n.kept = append(n.kept, *m)
	return nil
}

// message plays one Message with these params behind begin.
func message(t testing.TB, params, inputs string, ports engine.Ports, globals ...string) *seen {
	t.Helper()
	lines := append([]string{"begin Begin -> M", "M Message " + params}, globals...)
	return play(t, engine.Input{Query: engine.String("Q"), Inputs: value(t, inputs)}, ports, lines...)
}

func TestMessageText(t *testing.T) {
	const inputs = `{"s": "txt", "z": 0, "f": false, "l": ["a", 1], "e": [], "o": {"k": "é"}, "none": ` +
		`null, "code": "{sys.query} {{ 1 }} \\1", "x": "X", "xy": "XY"}`
	tests := []struct {
		name, content, want string
	}{
		{"values are shown as text", `{begin@s} {begin@l} {begin@o}`, `txt ["a", 1] {"k": "é"}`},
		{"0, false and empty lists are shown", `{begin@z} {begin@f} {begin@e}`, `0 false []`},
		{"null and unset variables are shown as empty text", `[{begin@none}{begin@nope}]`, `[]`},
		{"references inside a value are not resolved", `{begin@code}`, `{sys.query} {{ 1 }} \1`},
		{"double braces and a dollar belong to the reference", `{{sys.query}} {{ sys.query }} ${sys.query}`, `Q Q Q`},
		{"spaces around a reference are kept", ` a {sys.query}  b `, ` a Q  b `},
		{
			"other braces are kept",
			`{"a": {"b": 1}} { sys.query } {sys.query`, `{"a": {"b": 1}} { sys.query } {sys.query`,
		},
		{"the name of a secret is kept", `{{secret:KEY}} {sys.query}`, `{{secret:KEY}} Q`},

		{"jinja: a reference in a tag is its text", `{% if {sys.query} == 'Q' %}yes{% endif %}`, `yes`},
		{
			"jinja: a reference in an expression accepts filters", `{{ {sys.query}|lower }} {{ {begin@s} ~ '!' }}`,
			`q txt!`,
		},
		{"jinja: a reference outside of tags is its value", `{% if 1 %}{sys.query} {{sys.query}}{% endif %}`, `Q Q`},
		{
			"jinja: references inside a value are not resolved",
			`{% if 1 %}{begin@code}{% endif %}`, `{sys.query} {{ 1 }} \1`,
		},
		{"jinja: 0 and false are shown", `{% if 1 %}{begin@z}{begin@f}{begin@e}{% endif %}`, `0false[]`},
		{"jinja: null is empty text", `{% if {begin@none} %}x{% else %}y{% endif %}`, `y`},
		{"jinja: a reference inside a string literal", `{{ "<{sys.query}-{begin@s}>"|upper }}`, `<Q-TXT>`},
		{"jinja: a string literal with a closing delimiter", `{{ '}}' ~ {sys.query} }}`, `}}Q`},
		{"jinja: an object in an expression", `{{ {'a': {'b': {sys.query}}}['a']['b'] }}`, `Q`},
		{
			"jinja: a raw block keeps tags and resolves references",
			`{% raw %}{{ x }} {sys.query} {%- endraw %}!`, `{{ x }} Q!`,
		},
		{"jinja: a comment removes references", `{# {sys.query} #}{% if 1 %}x{% endif %}`, `x`},
		{"jinja: a brace before a reference is kept", `{% if 1 %}{ {begin@s}{{begin@s}{% endif %}`, `{ txt{txt`},
		{"jinja: a name that starts with another name", `{% if 1 %}{begin@x}|{begin@xy}{% endif %}`, `X|XY`},
		{
			"jinja: text that looks like an internal variable is kept",
			`{% if 1 %}ref0 {sys.query}{{ ref0 }}{% endif %}`,
			`ref0 Q`,
		},
		{"jinja: the original name of a variable", `{sys.query}{% if sys_query == 'Q' %}!{% endif %}`, `Q!`},
		{
			"jinja: set, for and whitespace control",
			`{% set n = 2 %}{% for i in range(n) -%}  {{ i }}{sys.query}{% endfor %}`, `0Q1Q`,
		},
	}
	for _, tt := range tests {
		for _, stream := range []string{"true", "false"} {
			t.Run(tt.name+" stream "+stream, func(t *testing.T) {
				params := engine.Object("content", engine.Strings(tt.content), "stream", stream == "true").JSON()
				s := message(t, params, inputs, engine.Ports{})
				require.NoError(t, s.err)
				require.Equal(t, tt.want, s.said)
				require.Equal(t, tt.want, s.outputs["M"].Get("content").Str())
			})
		}
	}
}

func TestMessageInputsAreTexts(t *testing.T) {
	for _, content := range []string{
		`{begin@n}{begin@l}{begin@none}`,
		`{% if 1 %}{begin@n}{begin@l}{begin@none}{% endif %}`,
	} {
		s := message(t, `{"content": "`+content+`"}`, `{"n": 1.0, "l": [1, "a"], "none": null}`, engine.Ports{})
		require.NoError(t, s.err)
		require.Equal(t, `{"begin@n":"1.0","begin@l":"[1, \"a\"]","begin@none":""}`, s.inputs["M"].JSON())
	}
}

func TestMessageFailsWithoutSayingAnything(t *testing.T) {
	for name, content := range map[string]string{
		"unknown component":  `a {Nope:Z@x} b`,
		"unknown variable":   `a {env.nope} b`,
		"template, unclosed": `a {% if 1 %} {sys.query}`,
		"template, unknown":  `a {{ {sys.query}|nosuch }}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := message(t, engine.Object("content", engine.Strings(content)).JSON(), `{}`, engine.Ports{})
			require.Error(t, s.err)
			require.Empty(t, s.said)
		})
	}
}

func TestMessagePicksOneContent(t *testing.T) {
	c, err := engine.Load(registry(t), sketch.Bytes(`begin Begin -> M`, `M Message {"content": ["a", "b", "c"]}`))
	require.NoError(t, err)
	said := map[string]int{}
	for seed := range uint64(60) {
		for e, err := range c.Run(context.Background(), c.State(), engine.Input{}, engine.Options{Seed: seed + 1}) {
			require.NoError(t, err)
			if e.Type == engine.EventMessage {
				said[e.Data().Get("content").Str()]++
			}
		}
	}
	require.Len(t, said, 3, "each is picked at some time")
}

func TestMessageStreamsAndRenders(t *testing.T) {
	const llm = `L LLM {"llm_id": "m", "prompts": "p", "cite": false} -> M`
	ports := engine.Ports{Model: parrot{"<think>", "hm", "</think>", "one ", "two"}}
	for name, params := range map[string]string{
		"in pieces": `{"content": "<{L@content}|{L@content}>"}`,
		"whole":     `{"content": "<{L@content}|{L@content}>", "stream": false}`,
		"jinja":     `{"content": "<{L@content}|{% if 1 %}{L@content}>{% endif %}"}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := play(t, engine.Input{Query: engine.String("Q")}, ports, `begin Begin -> L`, llm, `M Message `+params)
			require.NoError(t, s.err)
			require.Equal(t, "<one two|one two>", s.outputs["M"].Get("content").Str(), "reasoning is left out")
		})
	}
}

// TestMessageLeavesReasoningOut has reasoning behind the beginning of the answer. A second Message
// reads the text when it is complete.
func TestMessageLeavesReasoningOut(t *testing.T) {
	ports := engine.Ports{Model: parrot{"so ", "<think>hm</think>", "be it"}}
	for _, params := range []string{`{"content": "{L@content}"}`, `{"content": "{L@content}", "stream": false}`} {
		s := play(t, engine.Input{Query: engine.String("Q")}, ports, `begin Begin -> L`,
			`L LLM {"llm_id": "m", "prompts": "p", "cite": false} -> M`,
			`M Message `+params+` -> N`, `N Message `+params)
		require.NoError(t, s.err)
		require.Equal(t, "so be it", s.outputs["M"].Get("content").Str())
		require.Equal(t, "so be it", s.outputs["N"].Get("content").Str())
	}
}

func TestMessageEnd(t *testing.T) {
	tests := []struct {
		name, params, want, note string
		documents                engine.Documents
	}{
		{name: "nothing to add", params: `"status": 0`, want: `{}`},
		{name: "status is passed on", params: `"status": 404`, want: `{"status":404}`},
		{
			name: "the text becomes a file", params: `"output_format": "pdf"`, documents: press{},
			want: `{"attachment":{"doc_id":"d","format":"pdf","file_name":"said"}}`,
		},
		{
			name: "an unknown format is markdown", params: `"output_format": "odt"`, documents: press{},
			want: `{"attachment":{"doc_id":"d","format":"markdown","file_name":"said"}}`,
		},
		{
			name: "a failing conversion is a warning", params: `"output_format": "pdf"`,
			documents: press{errors.New("jam")}, want: `{}`, note: "M: output_format pdf: jam",
		},
		{
			name: "no converter is a warning", params: `"output_format": "pdf"`, want: `{}`,
			note: "M: output_format pdf: not available here",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := message(t, `{"content": "said", `+tt.params+`} -> L`, `{}`,
				engine.Ports{Documents: tt.documents, Model: parrot{"x"}}, `L LLM {"cite": false}`)
			require.NoError(t, s.err)
			require.Equal(t, tt.want, s.ends[0].JSON())
			if tt.note != "" {
				require.Equal(t, []string{tt.note}, s.notes)
			}
		})
	}
}

func TestMessageRemembers(t *testing.T) {
	for _, params := range []string{
		`{"content": "a {sys.query}", "memory_ids": ["m1"]}`,
		`{"content": "a {sys.query}", "memory_ids": ["m1"], "stream": false}`,
	} {
		book := &notebook{}
		s := message(t, params, `{}`, engine.Ports{Memory: book})
		require.NoError(t, s.err)
		require.Equal(t, []engine.Remembered{{
			MemoryIDs: []string{"m1"}, AgentID: "canvas", SessionID: "task",
			UserInput: "Q", AgentResponse: "a Q",
		}}, book.kept)
	}
}

func TestMessageDownloads(t *testing.T) {
	const file = `{"doc_id": "1", "filename": "a.csv", "mime_type": "text/csv"}`
	const inputs = `{"f": ` + file + `, "l": [` + file +
		`], "t": "{\"doc_id\": \"2\", \"filename\": \"b\", \"mime_type\": \"c\"}", "no": {"doc_id": "1"}}`
	s := message(t, `{"content": "see {begin@f}{begin@l}{begin@t} {begin@no}"}`, inputs, engine.Ports{})
	require.NoError(t, s.err)
	require.Equal(t, `see  {"doc_id": "1"}`, s.said)
	require.Equal(t, 3, s.ends[0].Get("downloads").Len())
	require.Equal(t, "b", s.outputs["M"].Get("downloads").At(2).Get("filename").Str())

	s = message(t, `{"content": "see {begin@f}", "include_download_info_in_content": true, "stream": false}`, inputs,
		engine.Ports{})
	require.Equal(t, `see `+value(t, file).Text(), s.said)
	require.Equal(t, 1, s.ends[0].Get("downloads").Len())
}

// The node that wrote a file decides whether its descriptor stays in the text.
func TestMessageKeepsMarkedDescriptors(t *testing.T) {
	const inputs = `{"f": "{\"doc_id\":\"1\",\"filename\":\"a\",\"mime_type\":\"m\",` +
		`\"include_download_info_in_content\":MARK}",
		"l": [{"doc_id": "2", "filename": "b", "mime_type": "m", "include_download_info_in_content": MARK}]}`
	for mark, said := range map[string]string{
		"false": "see  ",
		"true": `see {"doc_id":"1","filename":"a","mime_type":"m","include_download_info_in_content":true} ` +
			`[{"doc_id": "2", "filename": "b", "mime_type": "m", "include_download_info_in_content": true}]`,
	} {
		for _, stream := range []string{"true", "false"} {
			s := message(t, `{"content": "see {begin@f} {begin@l}", "stream": `+stream+`}`,
				strings.ReplaceAll(inputs, "MARK", mark), engine.Ports{})
			require.NoError(t, s.err)
			require.Equal(t, said, s.said)
			require.JSONEq(t, `[{"doc_id":"1","filename":"a","mime_type":"m"},
				{"doc_id":"2","filename":"b","mime_type":"m"}]`, s.ends[0].Get("downloads").JSON())
		}
	}
}

func TestAnswerSendsItsInput(t *testing.T) {
	c, err := engine.Load(registry(t), sketch.Bytes(`begin Begin -> L`, `L LLM {"cite": false} -> A`, `A Answer`))
	require.NoError(t, err)
	s := playOn(t, c, c.State(), engine.Input{Query: engine.String("Q")}, engine.Ports{Model: parrot{"the ", "answer"}})
	require.NoError(t, s.err)
	require.Equal(t, "the answer", s.said)
}

func TestMessageOfOlderCanvases(t *testing.T) {
	s := message(t, `{"messages": ["old {sys.query}"]}`, `{}`, engine.Ports{})
	require.NoError(t, s.err)
	require.Equal(t, "old Q", s.said)
}

func TestMessageIsRefused(t *testing.T) {
	require.Contains(t, refused(t, `begin Begin`, `M Message {"content": []}`), `"M", Message, parameter content`)
	require.Contains(t, refused(t, `begin Begin`, `M Message`), `"M", Message, parameter content`)
	require.Contains(t, refused(t, `begin Begin`, `M Message {"content": [1]}`), `parameter content[0]`)
}
