package component

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// sandbox returns one result and records the calls.
type sandbox struct {
	result engine.CodeResult
	asked  []engine.CodeCall
}

func (s *sandbox) RunCode(_ context.Context, c *engine.CodeCall) (engine.CodeResult, error) {
	s.asked = append(s.asked, *c)
	return s.result, nil
}

func TestCodeExecOutputs(t *testing.T) {
	for _, c := range []struct{ name, outputs, result, want string }{
		{"no outputs declared", `{}`, `{"a": 1}`, `{"result":{"a":1}}`},
		{"a list without outputs declared", `{}`, `["red", "green"]`, `{"result":["red","green"]}`},
		{"a list for one text", `{"r": {"type": "string"}}`, `["red", "green"]`, `{"r":"[\"red\", \"green\"]"}`},
		{"a list for one output of no type", `{"r": {}}`, `["red", "green"]`, `{"r":["red","green"]}`},
		{"an object without the members", `{"p": {}, "q": {}}`, `{"a": 1}`, `{"p":null,"q":null}`},
		{"object members by name", `{"md": {"type": "String"}}`, `{"md": "x", "n": 1}`, `{"md":"x"}`},
		{"a dot separates path elements", `{"a.b": {"type": "Number"}}`, `{"a": {"b": 1}}`, `{"a.b":1}`},
		{"an index is a path", `{"a.1": {"type": "Number"}}`, `{"a": [1, 2]}`, `{"a.1":2}`},
		{
			"list elements by position",
			`{"p": {"type": "Number"}, "q": {"type": "String"}}`, `[1, "x"]`, `{"p":1,"q":"x"}`,
		},
		{
			"a scalar is the first output",
			`{"r": {"type": "String"}, "s": {"type": "Number"}}`, `7`, `{"r":"7","s":null}`,
		},
		{"a whole object", `{"r": {"type": "Object"}}`, `{"a": 1}`, `{"r":{"a":1}}`},
		{"a whole list", `{"r": {"type": "Array<Number>"}}`, `[1, 2]`, `{"r":[1,2]}`},
		{"numbers from strings", `{"r": {"type": "Number"}}`, `" 2.5 "`, `{"r":2.5}`},
		{"text that is not a number is kept", `{"r": {"type": "Number"}}`, `"log\n1"`, `{"r":"log\n1"}`},
		{"an empty number is null", `{"r": {"type": "Number"}}`, `""`, `{"r":null}`},
		{"yes is true", `{"r": {"type": "Boolean"}}`, `"Yes"`, `{"r":true}`},
		{"0 is false", `{"r": {"type": "boolean"}}`, `0`, `{"r":false}`},
		{"a scalar becomes a list of one", `{"r": {"type": "array<string>"}}`, `"x"`, `{"r":["x"]}`},
		{"lists from strings", `{"r": {"type": "array<string>"}}`, `"['x', None]"`, `{"r":["x",null]}`},
		{
			"objects from Python text", `{"r": {"type": "object"}}`, `"{'a': True, 'b': (1, 2)}"`,
			`{"r":{"a":true,"b":[1,2]}}`,
		},
		{"reserved names are skipped", `{"_x": {}, "r": {"type": "string"}}`, `"v"`, `{"r":"v"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			port := &sandbox{result: engine.CodeResult{Value: parse(t, c.result)}}
			s := run(t, node(t, "CodeExec", `{"script": "x", "outputs": `+c.outputs+`}`, ""), nil, "q", engine.Null,
				engine.Ports{Code: port})
			require.NoError(t, s.err)
			want := parse(t, c.want)
			for name, v := range want.Fields() {
				require.Equal(t, v.JSON(), s.outs.Get(name).JSON(), name)
			}
		})
	}
}

func TestCodeExecResult(t *testing.T) {
	for _, c := range []struct {
		name   string
		result engine.CodeResult
		want   string
		err    string
	}{
		{"printed text when the result is null", engine.CodeResult{Stdout: "{'result': 'x'}\n"}, "x", ""},
		{"printed text", engine.CodeResult{Stdout: "[draft] done"}, "[draft] done", ""},
		{"nothing", engine.CodeResult{}, "", ""},
		{"error", engine.CodeResult{Stderr: "line 1: no\n"}, "", "line 1: no"},
		{"warning beside a result", engine.CodeResult{Value: engine.String("x"), Stderr: "warning"}, "x", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := run(t, node(t, "CodeExec", `{"script": "x"}`, ""), nil, "q", engine.Null,
				engine.Ports{Code: &sandbox{result: c.result}})
			require.Equal(t, c.want, s.outs.Get("result").Text())
			if c.err != "" {
				require.ErrorContains(t, s.err, c.err)
			} else {
				require.NoError(t, s.err)
			}
		})
	}
}

// In addition to the declared outputs a node has its result unchanged, as text, and its type.
func TestCodeExecDescribesItsResult(t *testing.T) {
	for _, c := range []struct{ outputs, result, want string }{
		{`{"r": {"type": "String"}}`, `7`, `{"r":"7","content":"7","raw_result":7,"actual_type":"Number"}`},
		{`{"r": {"type": "Number"}}`, `"7"`, `{"r":7.0,"content":"7","raw_result":"7","actual_type":"String"}`},
		{`{}`, `{"result": true}`, `{"result":true,"raw_result":{"result":true},"actual_type":"Object"}`},
		{`{}`, `[1, 2.5]`, `{"raw_result":[1,2.5],"actual_type":"Array<Number>"}`},
		{`{}`, `[[1], ["a"]]`, `{"actual_type":"Array<Any>"}`},
		{`{}`, `[["a"], ["b"]]`, `{"actual_type":"Array<Array<String>>"}`},
		{`{}`, `[]`, `{"actual_type":"Array<Any>"}`},
		{`{}`, `[null, null]`, `{"actual_type":"Array<Null>"}`},
		{`{}`, `false`, `{"result":false,"raw_result":false,"actual_type":"Boolean"}`},
		{
			`{"result": {"type": "Object"}, "attachments": {"type": "Array<String>"}, "content": {"type": "string"}}`,
			`{"a": 1}`, `{"result":{"a":1},"content":"{\"a\": 1}","attachments":null}`,
		},
		{`{"content": {"type": "Number"}}`, `{"content": "5"}`, `{"content":5.0,"actual_type":"Object"}`},
	} {
		port := &sandbox{result: engine.CodeResult{Value: parse(t, c.result)}}
		canvas := node(t, "CodeExec", `{"script": "x", "outputs": `+c.outputs+`}`, "")
		s := run(t, canvas, nil, "q", engine.Null, engine.Ports{Code: port})
		require.NoError(t, s.err)
		for name, v := range parse(t, c.want).Fields() {
			require.Equal(t, v.JSON(), s.outs.Get(name).JSON(), "%s of %s", name, c.result)
		}
	}
}

func TestCodeExecArguments(t *testing.T) {
	port := &sandbox{}
	s := run(t, node(t, "CodeExec", `{"lang": "nodejs", "script": "x", "arguments": {"a": "begin@l", "b": "plain text", "c": "", "d": "me@mail.org"}}`, ""),
		nil, "q", parse(t, `{"l": {"value": [1]}}`), engine.Ports{Code: port})
	require.NoError(t, s.err)
	require.Equal(t, "javascript", port.asked[0].Language)
	require.Equal(t, `{"a":[1],"b":"plain text","c":null,"d":"me@mail.org"}`, port.asked[0].Arguments.JSON())
	for _, ref := range []string{"Agent:Gone@content", "sys.nope"} {
		s = run(t, node(t, "CodeExec", `{"script": "x", "arguments": {"a": "`+ref+`"}}`, ""), nil, "q", engine.Null,
			engine.Ports{Code: port})
		require.ErrorIs(t, s.err, engine.ErrRef, ref)
	}
}

func TestCodeExecAsTool(t *testing.T) {
	port := &sandbox{result: engine.CodeResult{Value: engine.Object("n", 1)}}
	m := say(`[{"name": "execute_code_0", "arguments": {"lang": "javascript", "script": "s"}}]`, complete, "done")
	s := run(t, node(t, "Agent", `{"tools": [{"component_name": "CodeExec", "params": {}}]}`, ""), nil, "q",
		engine.Null, engine.Ports{Code: port, Model: m})
	require.NoError(t, s.err)
	require.Equal(t, "s", port.asked[0].Script)
	require.Contains(t, m.asked[2].Messages[2].Content, `{"n": 1}`)
}

func TestCodeExecArtifacts(t *testing.T) {
	port := &sandbox{result: engine.CodeResult{Value: engine.String("done"), Artifacts: []engine.Value{
		engine.Object("name", "a.png", "mime_type", "image/png", "size", 3, "url", "/f/1"),
		engine.Object("name", "b.csv", "mime_type", "text/csv", "size", 4, "url", "/f/2"),
		engine.Object("name", "c.pdf", "mime_type", "application/pdf", "size", 5, "doc_id", "3"),
	}}}
	s := run(t, node(t, "CodeExec", `{"script": "x"}`, ""), nil, "q", engine.Null, engine.Ports{Code: port})
	require.NoError(t, s.err)
	require.Equal(t, `["![a.png](/f/1)","[Download b.csv](/f/2)","c.pdf"]`, s.outs.Get("attachments").JSON())
	require.Equal(t, engine.List(port.result.Artifacts...).JSON(), s.outs.Get("_ARTIFACTS").JSON())

	m := say(`[{"name": "execute_code_0", "arguments": {"lang": "python", "script": "s"}}]`, complete, "done")
	agent := node(t, "Agent", `{"tools": [{"component_name": "CodeExec", "params": {}}]}`, "")
	s = run(t, agent, nil, "q", engine.Null, engine.Ports{Code: port, Model: m})
	require.NoError(t, s.err)
	require.Contains(t, m.asked[2].Messages[2].Content, "![a.png](/f/1)")
	require.Equal(t, "done\n\n![a.png](/f/1)\n\n[Download b.csv](/f/2)", s.outs.Get("content").Text())

	// A file that the answer names is not named again; addresses that a script prints are no files.
	port.result.Value = engine.String(strings.Join([]string{
		"![x](https://example.com/x.png)", "![y](//example.com/y.png)", `![z](/\example.com/z.png)`, `![z](/f\z)`,
		"![x](https://example.com/x.png)[y](/f/3)", `[<img src="https://example.com/x.png">](/f/3)`,
	}, "\n"))
	m = say(`[{"name": "execute_code_0", "arguments": {"lang": "python", "script": "s"}}]`, complete,
		"See ![it](/f/1).")
	agent = node(t, "Agent", `{"tools": [{"component_name": "CodeExec", "params": {}}]}`, "{X@content}")
	streamed := play(t, agent, nil, engine.Null, engine.Options{Ports: engine.Ports{Code: port, Model: m}})
	require.NoError(t, streamed.err)
	require.Equal(t, "See ![it](/f/1).\n\n[Download b.csv](/f/2)", streamed.outs.Get("content").Text())
}

// The links that are added to an answer are bounded.
func TestManyFilesOfAScript(t *testing.T) {
	var made []engine.Value
	for i := range 1000 {
		file := engine.Object("name", "x", "url", fmt.Sprintf("/f/%d", i))
		made = append(made, file, file)
	}
	port := &sandbox{result: engine.CodeResult{Value: engine.String("[x](/f/no)"), Artifacts: made}}
	m := say(`[{"name": "execute_code_0", "arguments": {"lang": "python", "script": "s"}}]`, complete, "done")
	agent := node(t, "Agent", `{"tools": [{"component_name": "CodeExec", "params": {}}]}`, "")
	s := run(t, agent, nil, "q", engine.Null, engine.Ports{Code: port, Model: m})
	require.NoError(t, s.err)
	links := strings.Split(s.outs.Get("content").Text(), "\n\n")[1:]
	require.Len(t, links, 100)
	require.Equal(t, "[Download x](/f/99)", links[99])
}

// A node that is tried alone takes the values of its form.
func TestCodeExecDebug(t *testing.T) {
	canvas := node(t, "CodeExec", `{"script": "x", "arguments": {"script": "begin@l", "b": "plain"}}`, "")
	port := &sandbox{result: engine.CodeResult{Value: engine.String("done")}}
	_, err := canvas.Debug(t.Context(), canvas.State(), "X", parse(t, `{"script": {"value": [1]}, "b": "given"}`),
		engine.Options{Ports: engine.Ports{Code: port}})
	require.NoError(t, err)
	require.Equal(t, "x", port.asked[0].Script)
	require.Equal(t, `{"script":[1],"b":"given"}`, port.asked[0].Arguments.JSON())
}

// Validation reports a language of a script that the host cannot run.
func TestMissingLanguageIsDiagnosed(t *testing.T) {
	reg, err := engine.NewRegistry(Builtin()...)
	require.NoError(t, err)
	reg.Missing = func(language string) error { return errors.New("no " + language + " here; install it") }
	const agent = `Agent {"llm_id": "m", "tools": [{"component_name": "CodeExec", "params": `
	for _, c := range []struct{ node, want string }{
		{`CodeExec {"script": "x"}`, "no python here; install it"},
		{`CodeExec {"lang": "nodejs", "script": "x"}`, "no javascript here; install it"},
		{agent + `{"lang": "python3", "script": "x"}}]}`, "no python here; install it"},
		{agent + `{}}]}`, ""},
	} {
		var got string
		for _, d := range engine.Validate(reg, sketch.Bytes("begin Begin -> A:1", "A:1 "+c.node)) {
			if d.Code == engine.CodeNotAvailable {
				require.Equal(t, engine.SeverityWarning, d.Severity)
				require.Equal(t, "A:1", d.Node)
				got += d.Message
			}
		}
		require.Equal(t, c.want, got, c.node)
	}
}

func TestCodeExecErrors(t *testing.T) {
	s := run(t, node(t, "CodeExec", `{}`, ""), nil, "q", engine.Null, engine.Ports{Code: &sandbox{}})
	require.ErrorContains(t, s.err, "script is empty")
	s = run(t, node(t, "CodeExec", `{"script": "x"}`, ""), nil, "q", engine.Null, engine.Ports{})
	require.ErrorIs(t, s.err, engine.ErrNoPort)
	_, err := loadNode("CodeExec", `{"lang": "ruby", "script": "x"}`, "")
	require.ErrorContains(t, err, "lang")
	_, err = loadNode("CodeExec", `{"script": ""}`, "")
	require.ErrorContains(t, err, "script")
}
