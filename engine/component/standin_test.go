package component

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func TestEveryExternalComponentHasAStandInAndNoOther(t *testing.T) {
	outside := map[string]bool{}
	for _, s := range externalSpecs() {
		outside[s.Name] = true
	}
	for _, s := range Builtin() {
		require.Equal(t, outside[s.Name], s.StandIn != nil, s.Name)
		if s.StandIn == nil {
			continue
		}
		outputs, _ := s.StandIn(engine.Object("query", "what to say"), engine.Object())
		require.Equal(t, engine.KindObject, outputs.Kind(), s.Name)
	}
}

func TestStandInsSayThatTheyAreSome(t *testing.T) {
	search := find(t, "TavilySearch").StandIn
	outputs, invented := search(engine.Object("query", "price of tea"), engine.Object())
	require.True(t, invented)
	chunk := outputs.Get("chunks").At(0)
	require.Equal(t, "Stand-in: TavilySearch was not called.", chunk.Get("content").Str())
	require.NotContains(t, outputs.JSON(), "price of tea", "a model would take the question for a finding")
	outputs, _ = search(engine.Object("query", "茶的价格"), engine.Object())
	require.Contains(t, outputs.JSON(), "替身：没有调用 TavilySearch。")
	outputs, _ = search(engine.Object("query", ""), engine.Object())
	require.Zero(t, outputs.Get("chunks").Len())
}

func TestStandInWritesDocuments(t *testing.T) {
	write := find(t, "DocGenerator").StandIn
	for format, want := range map[string]struct{ name, text string }{
		"txt": {"a-b.txt", "T\n\nx < y"},
		"md":  {"a-b.md", "# T\n\nx < y"},
		"pdf": {
			"a-b.html",
			"<!doctype html>\n<meta charset=\"utf-8\">\n<title>T</title>\n<h1>T</h1>\n<p>x &lt; y</p>\n",
		},
	} {
		args := engine.Object("title", "T", "content", "x < y", "filename", "a / b")
		outputs, invented := write(args, engine.Object("output_format", format))
		require.False(t, invented)
		file, err := engine.ParseJSONText(outputs.Get("download").Str())
		require.NoError(t, err)
		require.Equal(t, want.name, file.Get("filename").Str())
		text, err := base64.StdEncoding.DecodeString(file.Get("base64").Str())
		require.NoError(t, err)
		require.Equal(t, want.text, string(text))
	}
}

func TestStandInWritesSheets(t *testing.T) {
	write := find(t, "ExcelProcessor").StandIn
	_, invented := write(engine.Object("operation", "read"), engine.Object())
	require.True(t, invented)
	rows := engine.List(engine.Object("a", 1, "b", `say "hi"`), engine.Object("c", "x,y"))
	args := engine.Object("operation", "output", "transform_data", rows)
	outputs, invented := write(args, engine.Object("output_filename", "t"))
	require.False(t, invented)
	text, err := base64.StdEncoding.DecodeString(outputs.Get("attachment").Get("base64").Str())
	require.NoError(t, err)
	require.Equal(t, "a,b,c\n1,\"say \"\"hi\"\"\",\n,,\"x,y\"\n", string(text))
	require.Equal(t, "| a | b | c |\n| --- | --- | --- |\n| 1 | say \"hi\" |  |\n|  |  | x,y |",
		outputs.Get("markdown").Str())
}

// find returns a built-in component.
func find(t *testing.T, name string) engine.Spec {
	t.Helper()
	for _, s := range Builtin() {
		if s.Name == name {
			return s
		}
	}
	require.Fail(t, "no component "+name)
	return engine.Spec{}
}
