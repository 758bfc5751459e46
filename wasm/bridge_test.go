package main

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// talk is a bridge and its output, inside a bubble in which every goroutine is blocked.
type talk struct {
	t    *testing.T
	b    *bridge
	host *notebook
	last uint32
}

// meet runs a test against a bridge.
func meet(t *testing.T, test func(k *talk)) {
	synctest.Test(t, func(t *testing.T) {
		host := &notebook{}
		k := &talk{t: t, host: host, b: newBridge(host)}
		test(k)
		k.b.close(0)
		synctest.Wait()
	})
}

// load sends a request and returns its answer.
func (k *talk) load(text string) (bool, engine.Value) {
	k.last++
	tell(k.b, line{Fn: "load", ID: k.last, Text: text})
	return k.answer()
}

// start begins a run and returns the messages until every goroutine is blocked.
func (k *talk) start(text string) []line {
	k.last++
	tell(k.b, line{Fn: "start", ID: k.last, Text: text})
	return k.host.take()
}

func (k *talk) answer() (bool, engine.Value) {
	lines := k.host.take()
	require.NotEmpty(k.t, lines)
	last := lines[len(lines)-1]
	require.Equal(k.t, "done", last.Fn)
	v, err := engine.ParseJSONText(last.Text)
	require.NoError(k.t, err)
	return *last.OK, v
}

// open loads a canvas of a node A.
func (k *talk) open(node string) {
	ok, answer := k.load(`{"op":"load"}` + "\n" + sketch.Chain("begin Begin", node))
	require.True(k.t, ok, answer.JSON())
}

func yes() *bool { b := true; return &b }
func no() *bool  { b := false; return &b }

const message = `A Message {"content":["said {sys.query}"]}`

func TestRequestsThatAreWrong(t *testing.T) {
	tests := []struct{ name, text, code string }{
		{"invalid JSON", "hello", codeRequest},
		{"nothing", "", codeRequest},
		{"JSON of another type", "[]", codeRequest},
		{"an unknown operation", `{"op":"fly"}`, codeRequest},
		{"an unknown canvas", `{"op":"save","canvas":9}`, codeRequest},
		{"a handle that is not a number", `{"op":"save","canvas":"x"}`, codeRequest},
		{"an invalid canvas", `{"op":"load"}` + "\n{", engine.CodeBadCanvas},
		{"a canvas of another type", `{"op":"load"}` + "\n[1]", engine.CodeBadCanvas},
		{"an unknown component", `{"op":"load"}` + "\n" + sketch.Canvas("begin Fly"), engine.CodeUnknownComponent},
		{"an unknown node", `{"op":"patch","canvas":1,"node":"X","params":{}}`, engine.CodeBadReference},
		{"invalid params", `{"op":"patch","canvas":1,"node":"A","params":{"max_retries":-1}}`, codeRequest},
		{"a form without a schema", `{"op":"form","canvas":1,"node":"X"}`, engine.CodeBadReference},
		{"an invalid state", `{"op":"restore","canvas":1}` + "\n3", codeRequest},
	}
	meet(t, func(k *talk) {
		k.open(message)
		for _, tt := range tests {
			ok, answer := k.load(tt.text)
			require.False(k.t, ok, tt.name)
			require.Equal(k.t, tt.code, answer.Get("code").Str(), "%s: %s", tt.name, answer)
			require.NotEmpty(k.t, answer.Get("message").Str(), tt.name)
		}
	})
}

func TestStartsThatAreWrong(t *testing.T) {
	meet(t, func(k *talk) {
		k.open(message)
		for _, text := range []string{
			"x", `{"canvas":4}`, `{"canvas":1,"from":"X"}`,
			`{"canvas":1,"base":{"outputs":{"X":{"y":1}}}}`, `{"canvas":1,"continue":true}`,
		} {
			lines := k.start(text)
			last := lines[len(lines)-1]
			require.Equal(k.t, "done", last.Fn, text)
			require.NotContains(k.t, last.Text, `"succeeded"`, text)
		}
		lines := k.start(`{"canvas":1,"query":"again"}`)
		require.Contains(k.t, lines[len(lines)-1].Text, `"succeeded"`, "the canvas is free again")
	})
}

func TestStartBoundsTheRun(t *testing.T) {
	const cycle = `A Message {"content":["x"]} -> A`
	meet(t, func(k *talk) {
		k.open(cycle)
		lines := k.start(`{"canvas":1,"query":"x","max_steps":5,"concurrency":1}`)
		require.Contains(k.t, lines[len(lines)-1].Text, "more than 5 executions without progress")
	})
}

func TestBusyCanvas(t *testing.T) {
	meet(t, func(k *talk) {
		k.open(`A LLM {"llm_id":"m","prompts":"{sys.query}"}`)
		lines := k.start(`{"canvas":1,"query":"x","ports":["model"]}`)
		require.Equal(k.t, "call", lines[len(lines)-1].Fn)
		run := k.last
		ok, answer := k.load(`{"op":"save","canvas":1}`)
		require.False(k.t, ok)
		require.Equal(k.t, codeBusy, answer.Get("code").Str())
		tell(k.b, line{Fn: "cancel", ID: run})
		ok, answer = k.answer()
		require.True(k.t, ok)
		require.Equal(k.t, "canceled", answer.Get("status").Str())
		ok, _ = k.load(`{"op":"save","canvas":1}`)
		require.True(k.t, ok)
		tell(k.b, line{Fn: "deliver", Call: 1, OK: yes(), More: no(), Text: "{}"}) // too late: the call has ended
		require.Empty(k.t, k.host.take())
	})
}

// TestAnswersThatAreWrong checks that with any answer of a host the run ends with an error.
func TestAnswersThatAreWrong(t *testing.T) {
	tests := []struct {
		name, text string
		ok         *bool
		want       string
	}{
		{"invalid JSON", "rubbish", yes(), "invalid JSON"},
		{"empty input", "", no(), "did not say why"},
		{"error", `{"code":"provider","message":"no luck"}`, no(), "no luck"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			meet(t, func(k *talk) {
				k.open(`A LLM {"llm_id":"m","prompts":"{sys.query}"}`)
				k.start(`{"canvas":1,"query":"x","ports":["model"]}`)
				tell(k.b, line{Fn: "deliver", Call: 1, OK: tt.ok, More: no(), Text: tt.text})
				ok, answer := k.answer()
				require.True(t, ok)
				require.Equal(t, "failed", answer.Get("status").Str())
				require.Contains(t, answer.Get("error").Get("message").Str(), tt.want)
				require.Equal(t, "A", answer.Get("error").Get("node").Str())
			})
		})
	}
}

// TestPorts calls each small port once, and checks the result of the component.
func TestPorts(t *testing.T) {
	tests := []struct{ name, port, node, call, answer, want string }{
		{
			"base64 body", "fetch", `A Invoke {"url":"x.example","method":"get"}`,
			`"url":"http://x.example"`, `{"status":200,"headers":{},"body":"aGk=","encoding":"base64"}`, `"result":"hi"`,
		},
		{
			"thrown script", "code", `A CodeExec {"lang":"javascript","script":"throw 1","arguments":{}}`,
			`"script":"throw 1"`, `!{"code":"code","message":"Error: 1"}`, `Error: 1`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			meet(t, func(k *talk) {
				k.open(tt.node)
				lines := k.start(`{"canvas":1,"query":"Oslo","ports":["` + tt.port + `"]}`)
				asked := lines[len(lines)-1]
				require.Equal(t, "call", asked.Fn, asked.Text)
				require.Contains(t, asked.Text, `"kind":"`+tt.port+`"`)
				require.Contains(t, asked.Text, tt.call)
				text, failed := strings.CutPrefix(tt.answer, "!")
				ok := !failed
				tell(k.b, line{Fn: "deliver", Call: asked.Call, OK: &ok, More: no(), Text: text})
				_, answer := k.answer()
				require.Contains(t, answer.JSON(), tt.want)
			})
		})
	}
}

func TestUnhandledKindsOfCalls(t *testing.T) {
	for node, want := range map[string]string{
		"A plugin:w@1":                                         "not loaded",
		`A TavilySearch {"query":"{sys.query}"}`:               "offers it as a tool",
		`A Invoke {"url":"http://x.example","method":"get"}`:   "not available here",
		`A CodeExec {"lang":"javascript","script":"return 1"}`: "not available here",
	} {
		meet(t, func(k *talk) {
			k.open(node)
			lines := k.start(`{"canvas":1,"query":"x","ports":[]}`)
			require.Contains(t, lines[len(lines)-1].Text, want)
			require.Contains(t, lines[len(lines)-1].Text, engine.CodeUnsupported)
		})
	}
}

func TestFormAndRestore(t *testing.T) {
	meet(t, func(k *talk) {
		k.open(message)
		k.start(`{"canvas":1,"query":"first"}`)
		_, saved := k.load(`{"op":"save","canvas":1}`)
		require.Equal(t, 2, saved.Get("history").Len())
		k.load(`{"op":"reset","canvas":1}`)
		_, empty := k.load(`{"op":"save","canvas":1}`)
		require.Equal(t, 0, empty.Get("history").Len())
		ok, _ := k.load(`{"op":"restore","canvas":1}` + "\n" + saved.JSON())
		require.True(t, ok)
		_, again := k.load(`{"op":"save","canvas":1}`)
		require.Equal(t, 2, again.Get("history").Len())
		_, form := k.load(`{"op":"form","canvas":1,"node":"A"}`)
		require.Equal(t, "line", form.Get("sys.query").Get("type").Str(), form)
	})
}
