package component

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// outdoors answers every external component with the same outputs.
type outdoors struct {
	outs  engine.Value
	asked []engine.ExternalCall
}

func (o *outdoors) CallTool(_ context.Context, c *engine.ExternalCall) (engine.Value, error) {
	o.asked = append(o.asked, *c)
	return o.outs, nil
}

func TestExternalLoadsAndFailsWhenReached(t *testing.T) {
	for _, spec := range externalSpecs() {
		for _, name := range append([]string{spec.Name}, spec.Aliases...) {
			c := node(t, name, `{"strange": [1], "api_key": "", "content": "text"}`, "")
			s := run(t, c, nil, "q", engine.Null, engine.Ports{})
			if name != "ExcelProcessor" && name != "DocGenerator" && name != "PDFGenerator" {
				require.ErrorIs(t, s.err, engine.ErrNoPort, name)
				require.ErrorContains(t, s.err, spec.Name)
			}
			require.Contains(t, string(c.Save(s.state)), `"strange":[1]`, name)
		}
	}
}

func TestExternalActsThroughThePort(t *testing.T) {
	port := &outdoors{outs: parse(t, `{"json": [{"title": "T"}], "chunks": `+
		`[{"chunk_id": "5", "doc_id": "5", "docnm_kwd": "T", "url": "http://t", "content": "Text"}], "doc_aggs": `+
		`[{"doc_name": "T", "doc_id": "5", "count": 1}], "_x": 1}`)}
	s := run(t,
		node(t, "TavilySearch",
			`{"query": "about {sys.query}", "api_key": "{{secret:TAVILY}}", "outputs": {"json": {"value": []}}}`,
			"{X@formalized_content} [ID:1]"), nil, "q", engine.Null, engine.Ports{Tools: port})
	require.NoError(t, s.err)
	require.Equal(t, `{"query":"about q","topic":"general"}`, port.asked[0].Arguments.JSON())
	require.Equal(t, `{"query":"about {sys.query}","api_key":"{{secret:TAVILY}}"}`,
		engine.UnmarkSecrets(port.asked[0].Params.JSON(), port.asked[0].SecretMark))
	require.NotEmpty(t, port.asked[0].Key)
	require.Contains(t, s.outs.Get("formalized_content").Text(), "├── Title: T\n├── URL: http://t\n└── Content:\nText")
	require.Equal(t, "T", s.outs.Get("json").At(0).Get("title").Text())
	require.True(t, s.outs.Get("_x").IsNull())
}

func TestExternalWithoutQueryIsNotCalled(t *testing.T) {
	port := &outdoors{}
	s := run(t, node(t, "Wikipedia", `{}`, ""), nil, "", engine.Null, engine.Ports{Tools: port})
	require.NoError(t, s.err)
	require.Empty(t, port.asked)
}

func TestExternalWithoutQueryHasItsDeclaredOutput(t *testing.T) {
	for kind, want := range map[string]string{
		"Email": `{"success":false}`, "Wikipedia": `{"formalized_content":""}`, "YahooFinance": `{"report":""}`,
		"Browser": `{"content":""}`,
	} {
		port := &outdoors{}
		s := run(t, node(t, kind, `{}`, ""), nil, "", engine.Null, engine.Ports{Tools: port})
		require.NoError(t, s.err, kind)
		require.Empty(t, port.asked, kind)
		outs := s.outs
		for name := range outs.Fields() {
			if strings.HasPrefix(name, "_") {
				outs = outs.Without(name)
			}
		}
		require.JSONEq(t, want, outs.JSON(), kind)
	}
}

func TestMailTakesFilesOfNodes(t *testing.T) {
	port := &outdoors{outs: engine.Object("success", true)}
	c := node(t, "Email", `{"to_email": "a@b.c", "attachments": ["{sys.files}", "{sys.query}"]}`, "")
	s := run(t, c, nil, "q", engine.Null, engine.Ports{Tools: port})
	require.NoError(t, s.err)
	require.Equal(t, `[[],"q"]`, port.asked[0].Arguments.Get("attachments").JSON())
}

func TestExternalAsTool(t *testing.T) {
	port := &outdoors{outs: engine.Object("formalized_content", "rows")}
	m := say(`[{"name": "execute_sql_0", "arguments": {"sql": "select 1", "more": 2}}]`, complete, "done")
	s := run(t, node(t, "Agent", `{"tools": [{"component_name": "ExeSQL", "params": {"host": "h"}}]}`, ""), nil, "q",
		engine.Null, engine.Ports{Tools: port, Model: m})
	require.NoError(t, s.err)
	require.Equal(t, `{"sql":"select 1","more":2}`, port.asked[0].Arguments.JSON())
	require.Equal(t, "rows", s.outs.Get("use_tools").At(0).Get("results").Text())
}

// The address of a SearXNG server is set by the canvas: it is an argument of the model only if the
// canvas has none. A model may leave out other params.
func TestModelsDoNotSeePinnedArguments(t *testing.T) {
	const calls = `[{"name": "searxng_search_0", "arguments": {"query": "a", "searxng_url": "http://other"}}]`
	for params, pinned := range map[string]bool{
		`{"searxng_url": "http://own"}`: true, `{"searxng_url": ""}`: false, `{}`: false,
	} {
		port := &outdoors{outs: engine.Object("formalized_content", "rows")}
		m := say(calls, complete, "done")
		agent := `{"tools": [{"component_name": "SearXNG", "params": ` + params + `},
			{"component_name": "TavilySearch", "params": {"topic": "news"}}]}`
		s := run(t, node(t, "Agent", agent, ""), nil, "q", engine.Null, engine.Ports{Tools: port, Model: m})
		require.NoError(t, s.err)
		shown := m.asked[0].Tools[0].Parameters.Get("properties")
		require.False(t, shown.Get("query").IsNull(), shown.JSON())
		require.Equal(t, pinned, shown.Get("searxng_url").IsNull(), shown.JSON())
		require.Equal(t, pinned, port.asked[0].Arguments.Get("searxng_url").IsNull(), port.asked[0].Arguments.JSON())
		require.False(t, m.asked[0].Tools[1].Parameters.Get("properties").Get("topic").IsNull(), "a default")
	}
}

func TestExternalNamesItsBlankParams(t *testing.T) {
	c, _ := node(t, "ExeSQL", `{"database": "d", "host": ""}`, "").Component("X")
	require.Equal(t, []string{"username", "host", "password"}, c.(interface{ Blank() []string }).Blank())
	require.Equal(t, "Tools", c.(interface{ Needs() string }).Needs())
}

func TestExternalRefusesParamsOfAWrongType(t *testing.T) {
	_, err := loadNode("ExeSQL", `{"port": "many"}`, "")
	require.ErrorContains(t, err, "port")
	_, err = loadNode("TavilySearch", `{"max_results": 0}`, "")
	require.ErrorContains(t, err, "max_results")
}

func TestDocGeneratorNeedsContent(t *testing.T) {
	for _, params := range []string{`{}`, `{"content": ""}`} {
		_, err := loadNode("DocGenerator", params, "")
		var param *engine.ParamError
		require.ErrorAs(t, err, &param)
		require.Equal(t, "content", param.Param)
	}
}

// A component that runs alone has a field of the type of each argument, and takes its value.
func TestExternalRunsAlone(t *testing.T) {
	c := node(t, "Google", `{"q": "{sys.query}"}`, "")
	form, err := c.InputForm("X")
	require.NoError(t, err)
	require.JSONEq(t, `{"q": {"name": "q", "type": "line", "optional": false},
		"start": {"name": "start", "type": "integer", "optional": true},
		"num": {"name": "num", "type": "integer", "optional": true}}`, form.JSON())
	form, err = node(t, "TavilySearch", `{}`, "").InputForm("X")
	require.NoError(t, err)
	require.JSONEq(t, `{"name": "topic", "type": "options", "options": ["general", "news"], "optional": true}`,
		form.Get("topic").JSON())

	for kind, tt := range map[string]struct{ values, want string }{
		"Google":       {`{"q": "tea", "num": 3}`, `{"q":"tea","num":3}`},
		"Keenable":     {`{"query": "tea", "site": "a.example"}`, `{"query":"tea","site":"a.example"}`},
		"TavilySearch": {`{"query": "tea", "topic": "news"}`, `{"query":"tea","topic":"news"}`},
	} {
		port := &outdoors{outs: engine.Object()}
		c := node(t, kind, `{}`, "")
		_, err := c.Debug(t.Context(), c.State(), "X", parse(t, tt.values), engine.Options{
			Ports: engine.Ports{Tools: port},
		})
		require.NoError(t, err)
		require.Len(t, port.asked, 1, kind)
		require.Equal(t, tt.want, port.asked[0].Arguments.JSON(), kind)
	}
}
