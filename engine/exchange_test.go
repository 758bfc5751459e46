package engine_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// exchanges runs a canvas and returns the exchanges of its log and their parts by hash.
func exchanges(t *testing.T, ports engine.Ports, dsl string) (
	list []engine.Value, parts map[string]engine.Value,
) {
	t.Helper()
	c, err := engine.Load(builtins(t), []byte(dsl))
	require.NoError(t, err)
	parts = map[string]engine.Value{}
	opt := engine.Options{Ports: ports, Internal: true, Exchanges: true, Seed: 1}
	for e, err := range c.Run(t.Context(), c.State(), engine.Input{Query: engine.String("hi")}, opt) {
		require.NoError(t, err)
		switch e.Type {
		case engine.EventExchange:
			list = append(list, e.Data())
		case engine.EventPart:
			_, again := parts[e.Data().Get("hash").Str()]
			require.False(t, again, "a part is logged twice")
			parts[e.Data().Get("hash").Str()] = e.Data()
		}
	}
	return list, parts
}

func keysOf(list []engine.Value) (keys []string) {
	for _, x := range list {
		keys = append(keys, x.Get("key").Str())
	}
	return keys
}

// A key depends on all that decides the answer, and not on the name of the node.
func TestKeysOfExchanges(t *testing.T) {
	ask := func(id, params string) []string {
		list, _ := exchanges(t, saying, sketch.Canvas(
			"begin Begin -> "+id, id+` LLM {"llm_id": "m@P", "sys_prompt": "Be short.", "prompts": [{"role":
			"user", "content": "{sys.query}"}]`+params+`} -> m`, `m Message {"content": ["{`+id+`@content}"]}`))
		require.Len(t, list, 1)
		require.Equal(t, id, list[0].Get("component_id").Str())
		require.Equal(t, "answer", list[0].Get("answer").Get("text").Str(), "a text that is only streamed is kept")
		return keysOf(list)
	}
	key := ask("LLM:A", "")
	require.Equal(t, key, ask("LLM:Renamed", ""))
	for _, other := range []string{
		`, "llm_id": "n@P"`, `, "temperatureEnabled": true, "temperature": 0.5`, `, "sys_prompt": "Be long."`,
	} {
		require.NotEqual(t, key, ask("LLM:A", other), other)
	}
}

var (
	reply  = enginetest.TextReply("answer")
	saying = engine.Ports{Model: &enginetest.Model{Fallback: &reply}}
)

// Each field of a model request is part of its key, or is named here with the reason.
func TestKeysHaveAllOfARequest(t *testing.T) {
	left := map[string]string{
		"Node":     "a renamed node asks the same",
		"EmitOnly": "whether the text is returned",
		"Chunks":   "for stand-ins; models get them in messages",
		"Query":    "for stand-ins; models get it in messages",
		"Key":      "names one call",
		"Noted":    "a number of the log",
		"Queued":   "a function",
		"Warned":   "a function",
	}
	plain := engine.ModelRequest{}
	value := reflect.ValueOf(&plain).Elem()
	for i := range value.NumField() {
		name := value.Type().Field(i).Name
		if left[name] != "" {
			continue
		}
		changed := engine.ModelRequest{}
		set(t, reflect.ValueOf(&changed).Elem().Field(i), name)
		require.False(t, engine.Equal(engine.QuestionOf(&plain), engine.QuestionOf(&changed)), name)
	}
	for _, kind := range []struct{ in reflect.Value }{
		{reflect.ValueOf(&engine.ModelMessage{}).Elem()},
		{reflect.ValueOf(&engine.ModelConfig{}).Elem()},
		{reflect.ValueOf(&engine.ToolDef{}).Elem()},
	} {
		for i := range kind.in.NumField() {
			name := kind.in.Type().Field(i).Name
			one := reflect.New(kind.in.Type()).Elem()
			set(t, one.Field(i), name)
			require.False(t, engine.Equal(holding(t, reflect.New(kind.in.Type()).Elem()), holding(t, one)), name)
		}
	}
}

// holding returns the question of a request with one message, config or tool.
func holding(t *testing.T, v reflect.Value) engine.Value {
	t.Helper()
	req := &engine.ModelRequest{}
	switch x := v.Interface().(type) {
	case engine.ModelMessage:
		req.Messages = []engine.ModelMessage{x}
	case engine.ModelConfig:
		req.Config = x
	case engine.ToolDef:
		req.Tools = []engine.ToolDef{x}
	default:
		t.Fatalf("%T", x)
	}
	return engine.QuestionOf(req)
}

// set changes a field from zero.
func set(t *testing.T, f reflect.Value, name string) {
	t.Helper()
	switch x := f.Addr().Interface().(type) {
	case *string:
		*x = "x"
	case *engine.Purpose:
		*x = "x"
	case *[]string:
		*x = []string{"x"}
	case *bool:
		*x = true
	case *engine.Value:
		*x = engine.Object("x", "y")
	case **float64:
		*x = new(float64)
	case **int:
		*x = new(int)
	case *engine.ModelConfig:
		x.Thinking = "high"
	case *[]engine.ModelMessage:
		*x = []engine.ModelMessage{{Role: "user"}}
	case *[]engine.ToolDef:
		*x = []engine.ToolDef{{Name: "x"}}
	case *[]engine.ToolCall:
		*x = []engine.ToolCall{{ID: "x"}}
	default:
		t.Fatalf("field %s is a %T: add it to the question, or to the fields left out", name, x)
	}
}

// The requests of an agent repeat its conversation, and yet the log grows with its rounds and not
// with their square.
func TestPartsAreLoggedOnce(t *testing.T) {
	size := func(rounds int) (n int) {
		var script []enginetest.Reply
		for i := range rounds {
			script = append(script, enginetest.Reply{Calls: []engine.ToolCall{
				{ID: "c", Name: "echo_tool_0", Arguments: fmt.Sprintf(`{"query": "%0300d"}`, i)},
			}})
		}
		reg := builtins(t)
		require.NoError(t, reg.Add(enginetest.EchoToolSpec()))
		c, err := engine.Load(reg, sketch.Bytes(
			"begin Begin -> Agent:A",
			`Agent:A Agent {"llm_id": "m@P", "max_rounds": 40, "sys_prompt": "`+strings.Repeat("Be good. ", 100)+`",
				"prompts": [{"role": "user", "content": "{sys.query}"}],
				"tools": [{"component_name": "EchoTool", "params": {}}]} -> m`,
			`m Message {"content": ["{Agent:A@content}"]}`))
		require.NoError(t, err)
		model := tooling{&enginetest.Model{Script: append(script, enginetest.TextReply("done"))}}
		opt := engine.Options{Ports: engine.Ports{Model: model}, Internal: true, Exchanges: true}
		asked := 0
		for e, err := range c.Run(t.Context(), c.State(), engine.Input{Query: engine.String("q")}, opt) {
			require.NoError(t, err)
			switch e.Type {
			case engine.EventExchange:
				asked++
				n += len(e.JSON)
			case engine.EventPart:
				n += len(e.JSON)
			}
		}
		require.Equal(t, rounds+1, asked)
		return n
	}
	few, many := size(5), size(20)
	require.Less(t, many, 6*few, "20 rounds against 5")
}

// tooling is a model that calls functions natively.
type tooling struct{ *enginetest.Model }

func (tooling) ModelInfo(context.Context, string) engine.Info { return engine.Info{Tools: true} }

// What the bodies of an Iteration ask is in the log of the run, each with its element.
func TestExchangesOfBodies(t *testing.T) {
	prompt := strings.Repeat("Be short. ", 40)
	list, parts := exchanges(t, saying, iteration(2, `"concurrency": 2`,
		inBody("Iteration:I", cell("LLM:L", "LLM", `"llm_id": "m", "sys_prompt": "`+prompt+`",
			"prompts": [{"role": "user", "content": "{IterationItem:X@item}"}]`))))
	require.Len(t, list, 2)
	require.Len(t, parts, 1, "both elements have the same system prompt")
	seen := map[string]string{}
	for _, x := range list {
		require.Equal(t, list[0].Get("request").Get("system").JSON(), x.Get("request").Get("system").JSON())
		seen[x.Get("index_path").JSON()] = x.Get("request").Get("messages").At(0).Get("content").Str()
	}
	require.Equal(t, map[string]string{"[0]": "0", "[1]": "1"}, seen)
}

// Exchanges have no values of secrets and no marks of placeholders, which would change the key.
func TestExchangesHideSecrets(t *testing.T) {
	run := func() string {
		http := answering(func(req *engine.HTTPRequest) string {
			require.Contains(t, req.Header[0].Value, "{{secret:KEY:")
			return "you sent " + req.Header[0].Value
		})
		list, _ := exchanges(t, engine.Ports{Secrets: vault{}, HTTP: http}, sketch.Canvas(
			"begin Begin -> Invoke:A", `Invoke:A Invoke {"url": "http://host/", "method": "get",
				"headers": "{\"Authorization\": \"Bearer {{secret:KEY}}\"}"} -> m`,
			`m Message {"content": ["done"]}`))
		require.Len(t, list, 1)
		header := list[0].Get("request").Get("headers").At(0)
		require.Equal(t, "Bearer {{secret:KEY}}", header.At(1).Str())
		require.Equal(t, "you sent Bearer {{secret:KEY}}", list[0].Get("answer").Get("body").Str())
		return list[0].Get("key").Str()
	}
	require.Equal(t, run(), run(), "the key has nothing of one run")
}

type answering func(req *engine.HTTPRequest) string

func (a answering) Do(_ context.Context, req *engine.HTTPRequest) (*engine.HTTPResponse, error) {
	return &engine.HTTPResponse{Status: 200, Body: a(req)}, nil
}
