package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/document/pdftest"
)

func TestRunPrintsTheAnswerWithItsSources(t *testing.T) {
	code, out, errs := easel(t, "run", examples+"shop.json", "--knowledge", examples+"knowledge", "-q",
		"How long can I return shoes?")
	require.Equal(t, ExitOK, code, errs)
	require.Empty(t, errs)
	require.Equal(t, "[Offline answer: no language model was called.]\nThe sources say:\n"+
		"- You can return shoes and clothes within thirty days. [ID:156]\n- Returns are free. [ID:156]\n[ID:156] "+
		"returns.md\n", out)
}

func TestRunShowsProgress(t *testing.T) {
	code, out, errs := easel(t, "run", examples+"guide.json", "--knowledge", examples+"knowledge", "-q",
		"Which shoes for a wet trail?", "--progress", "always")
	require.Equal(t, ExitOK, code, errs)
	require.Contains(t, out, "[ID:475] shoes.md\n")
	for _, part := range []string{
		"> Guide\n", "+ Guide, ",
		`search_guides_0 {"query": "Which shoes for a wet trail?"} -> `, "done in ",
	} {
		require.Contains(t, errs, part)
	}
	require.NotContains(t, errs, "analyze_task")
}

func TestRunEventsAreThoseOfTheWire(t *testing.T) {
	code, out, _ := easel(t, "run", "--events", examples+"guide.json", "--knowledge", examples+"knowledge", "-q",
		"wet trails")
	require.Equal(t, ExitOK, code)
	var kinds []string
	for line := range strings.Lines(out) {
		kind := parse1(t, line).Get("event").Str()
		require.True(t, engine.EventType(kind).Wire(), kind)
		kinds = append(kinds, kind)
	}
	require.Equal(t, "workflow_started", kinds[0])
	require.Equal(t, "workflow_finished", kinds[len(kinds)-1])
}

// A program that runs a component does not say that it needs one.
func TestRunKeepsQuietAboutToolsItHas(t *testing.T) {
	canvas := file(t, "canvas.json", string(sketch.Bytes(`begin Begin -> M`,
		`S TavilySearch {"api_key": "k"} -> M`, `M Message {"content": ["x"]}`)))
	code, _, errs := easel(t, "run", canvas, "-q", "x")
	require.Equal(t, ExitOK, code, errs)
	require.NotContains(t, errs, "acts outside the engine")
	_, out, _ := easel(t, "validate", canvas)
	require.Contains(t, out, "acts outside the engine")
}

func TestRunJSON(t *testing.T) {
	code, out, _ := easel(t, "run", "--json", examples+"shop.json", "--knowledge", examples+"knowledge", "-q",
		"Thank you")
	require.Equal(t, ExitOK, code)
	v := parse1(t, out)
	require.Equal(t, "You are welcome. Ask me anything about returns and shipping.", v.Get("answer").Str())
	require.Equal(t, `["begin","Categorize:Topic","Message:Thanks"]`, v.Get("path").JSON())
}

func TestScriptedModelAnswersEveryID(t *testing.T) {
	script := file(t, "script.json", `{"llm_script": [{"text": "Thanks"}], "fallback": {"text": "scripted"}}`)
	_, out, errs := easel(t, "run", examples+"shop.json", "--model", "scripted:"+script, "-q",
		"How long can I return shoes?")
	require.Equal(t, "You are welcome. Ask me anything about returns and shipping.\n", out, errs)
}

func TestStateKeepsTheConversation(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state.json")
	run := func(q string) string {
		code, out, errs := easel(t, "run", examples+"shop.json", "--state", state, "-q", q)
		require.Equal(t, ExitOK, code, errs)
		return out
	}
	run("Thank you")
	run("Hello")
	saved, err := os.ReadFile(state)
	require.NoError(t, err)
	v := parse1(t, string(saved))
	require.Equal(t, "2", v.Get("globals").Get("sys.conversation_turns").Text())
	require.Equal(t, 4, v.Get("history").Len())
	entries, err := os.ReadDir(filepath.Dir(state))
	require.NoError(t, err)
	require.Len(t, entries, 1, "no temporary file is left")
}

func TestInvalidStateFileIsRefused(t *testing.T) {
	state := file(t, "state.json", `{"half": `)
	code, _, errs := easel(t, "run", examples+"shop.json", "--state", state, "-q", "x")
	require.Equal(t, ExitFailed, code)
	require.Contains(t, errs, "state "+state)
	left, err := os.ReadFile(state)
	require.NoError(t, err)
	require.Equal(t, `{"half": `, string(left), "what cannot be read is not overwritten")
}

func TestStateThatCannotBeWritten(t *testing.T) {
	code, out, errs := easel(t, "run", examples+"shop.json", "--state",
		filepath.Join(t.TempDir(), "no", "such", "folder.json"), "-q", "Thank you")
	require.Equal(t, ExitFailed, code)
	require.Contains(t, out, "welcome", "the answer is out all the same")
	require.Contains(t, errs, "save state")
}

func TestPausedRunContinuesWithInputs(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state.json")
	code, out, errs := easel(t, "run", examples+"order.json", "--state", state, "-q", "two mugs")
	require.Equal(t, ExitPaused, code, errs)
	event := parse1(t, out)
	require.Equal(t, "user_inputs", event.Get("event").Str())
	require.Equal(t, "You asked for: two mugs. A few details, please.", event.Get("data").Get("tips").Str())

	code, out, _ = easel(t, "run", examples+"order.json", "--state", state, "--inputs", `{"pieces": 2}`)
	require.Equal(t, ExitPaused, code, "a required field is missing")
	require.Equal(t, []string{"gift"}, keys(parse1(t, out).Get("data").Get("inputs")))

	code, out, errs = easel(t, "run", examples+"order.json", "--state", state, "--inputs",
		file(t, "in.json", `{"gift": {"type": "boolean", "value": false}, "note": "hi"}`))
	require.Equal(t, ExitOK, code, errs)
	require.Equal(t, "2 pieces come to 17. On the parcel: hi\n", out)
}

func TestPausedRunWithoutStateSaysSo(t *testing.T) {
	code, _, errs := easel(t, "run", examples+"order.json", "-q", "x")
	require.Equal(t, ExitPaused, code)
	require.Contains(t, errs, "pass --state FILE")
}

func TestFormOnATerminal(t *testing.T) {
	code, out, errs := typed(t, "many\n20\n\nyes\n\n", "run", examples+"order.json", "-q", "mugs")
	require.Equal(t, ExitOK, code, errs)
	require.Equal(t, "20 pieces come to 155, 10 % off. Shipping is free. A colleague will call you first.\n", out)
	for _, part := range []string{
		"How many pieces: ", `"many" is not a number`, "Wrapped as a gift (yes/no): ",
		"a value is required", "Note on the parcel (optional): ",
	} {
		require.Contains(t, errs, part)
	}
}

func TestEndOfInputLeavesTheFormOpen(t *testing.T) {
	code, _, _ := typed(t, "3\n", "run", examples+"order.json", "-q", "mugs")
	require.Equal(t, ExitPaused, code)
}

var form = sketch.Canvas(
	`begin Begin {"inputs": {"city": {"name": "City", "type": "line", "optional": false, "value": "Oslo"},
		"size": {"name": "Size", "type": "options", "options": ["small", "large"], "optional": true},
		"doc": {"name": "Document", "type": "file", "optional": true}}} -> Message:A`,
	`Message:A Message {"content": ["{begin@city}|{begin@size}|{begin@doc}|{sys.files}"]}`,
)

func TestInputsOfTheBeginning(t *testing.T) {
	canvas, doc := file(t, "c.json", form), file(t, "a.txt", "text")
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"defaults are used", nil, "Oslo|||[]"},
		{
			"given values replace defaults",
			[]string{"--inputs", `{"city": "Rome", "size": {"value": "large"}}`},
			"Rome|large||[]",
		},
		{
			"a file by path",
			[]string{"--inputs", `{"doc": "` + doc + `"}`},
			`Oslo||["\n -----------------\nFile: a.txt\nContent as following: \ntext"]|[]`,
		},
		{
			"files of the run",
			[]string{"--file", doc},
			`Oslo|||["\n -----------------\nFile: a.txt\nContent as following: \ntext"]`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, out, errs := easel(t, append([]string{"run", canvas}, c.args...)...)
			require.Equal(t, ExitOK, code, errs)
			require.Equal(t, c.want+"\n", out)
		})
	}
	code, _, errs := easel(t, "run", canvas, "--inputs", `{"town": "Rome"}`)
	require.Equal(t, ExitUsage, code)
	require.Contains(t, errs, "input town: unknown field (the canvas has city, size, doc")

	code, _, errs = typed(t, "", "run", canvas)
	require.Equal(t, ExitUsage, code)
	require.Contains(t, errs, "the form was left unanswered")

	_, out, _ := typed(t, "\nSMALL\n\n", "run", canvas)
	require.Equal(t, "Oslo|small||[]\n", out)
}

// A document is passed by --file, and the answer is saved as one by --save.
func TestDocuments(t *testing.T) {
	canvas := file(t, "c.json", sketch.Canvas(
		"begin Begin -> Message:A",
		`Message:A Message {"content": ["# Read\n\n{sys.files}"], "output_format": "docx"}`,
	))
	document := filepath.Join("..", "document", "testdata", "returns.docx")
	code, out, errs := easel(t, "run", canvas, "-q", "x", "--file", document, "--save", t.TempDir())
	require.Equal(t, ExitOK, code, errs)
	require.Contains(t, out, "You can return shoes")
	path, saved := strings.CutPrefix(strings.TrimSpace(errs), "saved ")
	require.True(t, saved, errs)

	for _, next := range []func() (int, string, string){
		func() (int, string, string) { return easel(t, "run", canvas, "-q", "x", "--file", path) },
		func() (int, string, string) { return typed(t, "/file "+path+"\nx\n", "chat", canvas) },
	} {
		code, out, errs = next()
		require.Equal(t, ExitOK, code, errs)
		require.Contains(t, out, "File: "+filepath.Base(path))
		require.Contains(t, out, "三十天内可以退货")
	}
	_, out, errs = typed(t, "/file missing.pdf\nx\n", "chat", canvas)
	require.Contains(t, errs, "missing.pdf")
	require.NotContains(t, out, "File:")
}

func TestFailedRun(t *testing.T) {
	canvas := file(t, "c.json", sketch.Canvas(
		"begin Begin -> Code:A",
		`Code:A CodeExec {"lang": "python", "script": "def main(): pass"}`,
	))
	t.Setenv("EASEL_PYTHON", t.TempDir())
	code, _, errs := easel(t, "run", canvas, "--progress", "always")
	require.Equal(t, ExitFailed, code)
	require.Contains(t, errs, "x Code:A failed")
	require.Contains(t, errs, `get it with "easel python install"`)
}

func TestChat(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state.json")
	code, out, errs := typed(t, "Thank you\n\nsing\n/exit\nHello\n", "chat", examples+"shop.json", "--state", state)
	require.Equal(t, ExitOK, code, errs)
	require.Equal(t, "Hello! Ask me about returns, shipping and refunds.\n"+
		"You are welcome. Ask me anything about returns and shipping.\nI only know about returns, shipping and "+
		"refunds.\n", out)
	code, out, _ = typed(t, "/reset\nThank you\n", "chat", examples+"shop.json", "--state", state)
	require.Equal(t, ExitOK, code)
	require.Equal(t, "You are welcome. Ask me anything about returns and shipping.\n", out)
	saved, err := os.ReadFile(state)
	require.NoError(t, err)
	require.Equal(t, 2, parse1(t, string(saved)).Get("history").Len())
}

func TestChatAsksForms(t *testing.T) {
	code, out, errs := typed(t, "mugs\n2\nno\nhi\n", "chat", examples+"order.json")
	require.Equal(t, ExitOK, code, errs)
	require.Contains(t, out, "2 pieces come to 17. On the parcel: hi\n")
}

func TestFormOfASavedConversation(t *testing.T) {
	for _, command := range []string{"run", "chat"} {
		state := filepath.Join(t.TempDir(), "state.json")
		code, _, _ := easel(t, "run", examples+"order.json", "--state", state, "-q", "mugs")
		require.Equal(t, ExitPaused, code)
		code, out, errs := typed(t, "2\nno\nhi\n", command, examples+"order.json", "--state", state)
		require.Equal(t, ExitOK, code, errs)
		require.Equal(t, "2 pieces come to 17. On the parcel: hi\n", out)
	}
}

// Results from before a pause are kept, however often the conversation is saved and loaded during
// it.
func TestResultsBeforeAPauseAreKept(t *testing.T) {
	canvas := file(t, "c.json", sketch.Canvas(
		`begin Begin {"inputs": {"city": {"type": "line", "value": "Oslo"}}} -> UserFillUp:A`,
		`UserFillUp:A UserFillUp {"inputs": {"a": {"type": "line"}, "b": {"type": "line"}}} -> Message:A`,
		`Message:A Message {"content": ["{begin@city} {UserFillUp:A@a} {UserFillUp:A@b}"]}`,
	))
	state := filepath.Join(t.TempDir(), "state.json")
	for _, step := range []struct {
		inputs, want string
		code         int
	}{
		{"", "", ExitPaused},
		{`{"a": "1"}`, "", ExitPaused},
		{`{}`, "", ExitPaused},
		{`{"b": "2"}`, "Oslo 1 2\n", ExitOK},
	} {
		args := []string{"run", canvas, "--state", state}
		if step.inputs != "" {
			args = append(args, "--inputs", step.inputs)
		}
		code, out, errs := easel(t, args...)
		require.Equal(t, step.code, code, errs)
		if step.want != "" {
			require.Equal(t, step.want, out)
		}
	}
}

// A canvas that loads may still have problems; run lists those of validate with the answer.
func TestRunShowsWhatValidateWarnsOf(t *testing.T) {
	canvas := file(t, "c.json", sketch.Canvas(
		"begin Begin -> Message:A",
		`Message:A Message {"content": ["hello"]}`,
		`Message:Lost Message {"content": ["never"]}`,
	))
	code, listed, errs := easel(t, "validate", canvas)
	require.Equal(t, ExitOK, code, errs)
	require.Contains(t, listed, ": warning: Message:Lost")
	saved := filepath.Join(t.TempDir(), "case.json")
	for _, args := range [][]string{
		{"run", canvas},
		{"run", canvas, "--json"},
		{"chat", canvas},
		{"record", canvas, "-o", saved},
		{"test", saved, "--canvas", canvas},
	} {
		code, out, errs := easel(t, args...)
		require.Equal(t, ExitOK, code, errs)
		for line := range strings.Lines(listed) {
			require.Contains(t, errs, "easel: "+line, "%v", args)
		}
		require.NotContains(t, out, "warning", "%v", args)
	}
}

var pipelineCanvas = sketch.Canvas(
	"File File -> Parser:A",
	`Parser:A Parser {"setups": {
		"pdf": {"suffix": ["pdf"], "output_format": "json"}, "text&markdown": {"suffix": ["md"],
			"output_format": "text"}}} -> Splitter:A`,
	`Splitter:A Splitter {"chunk_token_size": 4} -> Tokenizer:A`,
	"Tokenizer:A Tokenizer",
)

func TestRunPipeline(t *testing.T) {
	canvas := file(t, "pipeline.json", pipelineCanvas)
	text := file(t, "a.md", "# Returns\nGoods can be returned within thirty days.\nAfter that they cannot.")
	page := file(t, "a.pdf", string(pdftest.Pages(pdftest.Text("F1", 12, 50, 100, "Only on paper."))))

	code, out, errs := easel(t, "run", canvas, "--file", text, "--file", text, "--progress", "always")
	require.Equal(t, 0, code, errs)
	require.Contains(t, out, "--- chunk 1 of 2\n# Returns\nGoods can be returned within thirty days.\n--- chunk 2 "+
		"of 2\nAfter that they cannot.\n")
	require.Equal(t, 2, strings.Count(out, "--- chunk 2 of 2"))
	require.Contains(t, errs, "parsing a.md")
	require.Contains(t, errs, "a.md: 2 chunks in ")

	code, out, errs = easel(t, "run", canvas, "--file", file(t, "a.md", ""), "--progress", "never")
	require.Equal(t, 0, code, errs)
	require.Empty(t, out)
	require.Equal(t, "a.md: no chunks: the document is empty\n", errs)

	path := filepath.Join(t.TempDir(), "out.json")
	code, out, errs = easel(t, "run", canvas, "--file", page, "--json", "--output", path)
	require.Equal(t, 0, code, errs)
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, out, string(written))
	list, err := engine.ParseJSONText(out)
	require.NoError(t, err)
	require.Equal(t, "a.pdf", list.At(0).Get("file").Str())
	require.Equal(t, "[[1,50.", list.At(0).Get("chunks").At(0).Get("positions").JSON()[:7])

	for want, args := range map[string][]string{
		"pass it with --file":        {canvas},
		"do not apply to pipelines":  {canvas, "--file", text, "-q", "x"},
		"no setup for the extension": {canvas, "--file", file(t, "a.odt", "x")},
		"--output applies only to pipelines": {file(t, "c.json",
			sketch.Canvas("begin Begin")), "--output", "x"},
	} {
		code, _, errs := easel(t, append([]string{"run"}, args...)...)
		require.NotEqual(t, 0, code)
		require.Contains(t, errs, want)
	}
	code, out, _ = easel(t, "validate", canvas)
	require.Equal(t, 0, code)
	require.Contains(t, out, "ok")
}
