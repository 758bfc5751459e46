package model

import (
	"context"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/engine/enginetest"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/testing/modeltest"
)

// modelsAt returns the models of a configuration with one provider, "m" at a server. Pauses are
// skipped.
func modelsAt(t *testing.T, address, key string) *Models {
	t.Helper()
	m, err := New(Config{Providers: []Provider{{
		Name: "Test", BaseURL: address, Key: key,
		Models: []Entry{{Name: "m"}, {Name: "o3-mini"}, {Name: "e", Kind: KindEmbedding}},
	}}})
	require.NoError(t, err)
	for _, p := range m.providers {
		p.timeout = 3 * time.Second
		p.sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	}
	return m
}

func play(t *testing.T, s modeltest.Shape, text string) (*modeltest.Server, *Models) {
	t.Helper()
	server := modeltest.NewServer(s, text)
	t.Cleanup(server.Close)
	return server, modelsAt(t, server.BaseURL(), "sk-secret")
}

// offered are the tools that shapes call.
var offered = []engine.ToolDef{
	{Name: "echo_tool_0", Parameters: engine.Object("type", "object")},
	{Name: "echo_tool_1", Parameters: engine.Object("type", "object")},
}

const helloText = "Hello, wörld"

// eachForm runs a test for streamed and whole answers.
func eachForm(t *testing.T, shapes []modeltest.Shape, test func(t *testing.T, s modeltest.Shape, stream bool)) {
	for _, s := range shapes {
		for _, stream := range []bool{true, false} {
			form := "whole"
			if stream {
				form = "streamed"
			}
			t.Run(s.Name+"/"+form, func(t *testing.T) { test(t, s, stream) })
		}
	}
}

func TestShapesOfAnswers(t *testing.T) {
	shapes := slices.Concat(modeltest.Streams(), modeltest.Reasonings(), modeltest.Addresses(), modeltest.Reported())
	eachForm(t, shapes, func(t *testing.T, s modeltest.Shape, stream bool) {
		_, m := play(t, s, helloText)
		req := hello(stream)
		req.LLM = "m"
		text, _, err := collect(m.Generate(t.Context(), req))
		require.NoError(t, err)
		// Blank lines after reasoning are left out by the engine.
		require.Equal(t, helloText, strings.TrimLeft(engine.WithoutReasoning(text), "\n"))
		if s.Want.Reasoning != "" {
			require.Contains(t, text, s.Want.Reasoning)
		}
	})
}

func TestShapesOfCalls(t *testing.T) {
	shapes := append(modeltest.Calls(), modeltest.ReportedCalls()...)
	eachForm(t, shapes, func(t *testing.T, s modeltest.Shape, stream bool) {
		_, m := play(t, s, helloText)
		req := hello(stream)
		req.LLM, req.Tools = "m", offered
		_, last, err := collect(m.Generate(t.Context(), req))
		require.NoError(t, err)
		var calls []modeltest.Call
		ids := map[string]bool{}
		for _, c := range last.ToolCalls {
			if c.Arguments == "" {
				c.Arguments = "{}"
			}
			v, err := engine.ParseJSONText(c.Arguments)
			if slices.Contains(readByAgents, s.Name) {
				require.Error(t, err)
				continue
			}
			require.NoError(t, err, c.Arguments)
			calls = append(calls, modeltest.Call{Name: c.Name, Arguments: strings.ReplaceAll(v.JSON(), " ", "")})
			require.NotEmpty(t, c.ID)
			require.False(t, ids[c.ID], "two calls have the id %s", c.ID)
			ids[c.ID] = true
		}
		if !slices.Contains(readByAgents, s.Name) {
			require.Equal(t, s.Want.Calls, calls)
		}
	})
}

// readByAgents are shapes of arguments that only agents read as JSON.
var readByAgents = []string{"arguments with single quotes", "arguments cut by one brace"}

func TestShapesOfRefusals(t *testing.T) {
	shapes := append(modeltest.Refusals(), modeltest.ReportedRefusals()...)
	eachForm(t, shapes, func(t *testing.T, s modeltest.Shape, stream bool) {
		server, m := play(t, s, helloText)
		req := hello(stream)
		req.LLM = "m"
		text, _, err := collect(m.Generate(t.Context(), req))
		var e *Error
		require.ErrorAs(t, err, &e)
		for _, words := range s.Want.Fails {
			require.ErrorContains(t, err, words)
		}
		require.NotContains(t, err.Error(), "<p>")
		if s.Want.Status != 0 {
			require.Equal(t, s.Want.Status, e.Status)
		}
		if s.Want.Partial && stream {
			require.Equal(t, helloText, text)
		}
		if s.Want.Requests > 0 {
			require.LessOrEqual(t, len(server.Requests()), s.Want.Requests)
			require.False(t, e.Retryable())
		}
	})
}

func TestShapesOfParameters(t *testing.T) {
	half, most := 0.5, 100
	eachForm(t, modeltest.Parameters(), func(t *testing.T, s modeltest.Shape, stream bool) {
		server, m := play(t, s, helloText)
		for i := range 2 {
			req := hello(stream)
			req.LLM = "m"
			if s.Name == "max_completion_tokens" {
				req.LLM = "o3-mini"
			}
			if s.Name == "response_format" {
				req.Purpose, req.Schema = engine.PurposeStructured, citySchema
			}
			req.Config = engine.ModelConfig{
				Temperature: &half, TopP: &half, PresencePenalty: &half, FrequencyPenalty: &half, MaxTokens: &most,
				Stop: []string{"|"},
			}
			before := len(server.Requests())
			text, _, err := collect(m.Generate(t.Context(), req))
			require.NoError(t, err)
			require.Equal(t, helloText, text)
			if i == 1 {
				require.Len(t, server.Requests(), before+1, "what was refused is remembered")
			}
		}
	})
}

func TestShapesOfEmbeddings(t *testing.T) {
	for _, e := range modeltest.Embedders() {
		t.Run(e.Name, func(t *testing.T) {
			server := httptest.NewServer(e)
			t.Cleanup(server.Close)
			m := modelsAt(t, server.URL+"/v1", "k")
			texts := make([]string, 130)
			for i := range texts {
				texts[i] = strings.Repeat("x", i+1)
			}
			texts[7] = strings.Repeat("long ", 1400)
			got, err := m.Embed(t.Context(), texts)
			if e.Fails != "" {
				require.ErrorContains(t, err, e.Fails)
				return
			}
			require.NoError(t, err)
			require.Len(t, got, len(texts))
			for i, text := range texts {
				if i == 7 && e.Length > 0 {
					require.LessOrEqual(t, got[i][0], float32(e.Length))
					require.Greater(t, got[i][0], float32(e.Length/4))
					continue
				}
				require.Equal(t, modeltest.Vector(text), got[i], i)
			}
		})
	}
}

// citySchema is the schema of structured answers.
var citySchema = engine.Object("type", "object", "properties", engine.Object(
	"city", engine.Object("type", "string"), "days", engine.Object("type", "integer")),
	"required", engine.Strings("city", "days"))

// nodes are the components that call models: params, and what the last one answers.
var nodes = map[string]struct{ params, text, output, want string }{
	"LLM": {`{}`, helloText, "content", helloText},
	"Agent": {`{"tools": [{"component_name": "EchoTool", "name": "E", "params": {}},` +
		` {"component_name": "EchoTool", "name": "F", "params": {}}]}`, helloText, "content", helloText},
	"Categorize": {
		`{"category_description": {"Billing": {"to": ["M"]}, "Returns": {"to": ["M"]}, "Other": {"to": ["M"]}}}`,
		"Returns", "category_name", "Returns",
	},
	"Structured": {
		`{"outputs": {"structured": {"type": "object", "properties": {"city": {"type": "string"},` +
			` "days": {"type": "integer"}}, "required": ["city", "days"]}}}`,
		`{"city": "Paris", "days": 3}`, "structured", `{"city": "Paris", "days": 3}`,
	},
}

// ran is the observation of a run of one node.
type ran struct {
	out, message string
	warnings     []string
	err          error
}

// runNode runs a canvas of one node before a Message, or before another node.
func runNode(t *testing.T, m engine.Model, kind string, stream bool) ran {
	t.Helper()
	n := nodes[kind]
	name := kind
	if kind == "Structured" {
		name = "LLM"
	}
	behind := `M StringTransform {"method": "merge", "script": "done"}`
	if stream {
		behind = `M Message {"content": ["{X@` + n.output + `}"]}`
	}
	reg, err := engine.NewRegistry(append(component.Builtin(), enginetest.EchoToolSpec())...)
	require.NoError(t, err)
	c, err := engine.Load(reg, sketch.Bytes("begin Begin -> X", "X "+name+" "+n.params+" -> M", behind))
	require.NoError(t, err)
	st := c.State()
	in := engine.Input{Query: engine.String("Which?")}
	r := ran{}
	for e, err := range c.Run(t.Context(), st, in, engine.Options{
		Ports: engine.Ports{Model: m}, Seed: 1,
		Internal: true,
	}) {
		if err != nil {
			r.err = err
			break
		}
		switch e.Type {
		case engine.EventMessageReset:
			r.message = ""
		case engine.EventMessage:
			r.message += engine.ReadFacts(e.Type, e.JSON).Message.Marked()
		case engine.EventWarning:
			r.warnings = append(r.warnings, e.Data().Get("text").Text())
		}
	}
	r.out = st.Outputs("X").Get(n.output).Text()
	return r
}

func TestShapesInNodes(t *testing.T) {
	shapes := slices.Concat(modeltest.Streams(), modeltest.Reasonings(), modeltest.Reported())
	for kind, n := range nodes {
		t.Run(kind, func(t *testing.T) {
			eachForm(t, shapes, func(t *testing.T, s modeltest.Shape, stream bool) {
				_, m := play(t, s, n.text)
				r := runNode(t, m, kind, stream)
				require.NoError(t, r.err)
				require.Equal(t, n.want, engine.WithoutReasoning(r.out))
				if stream {
					require.Equal(t, n.want, engine.WithoutReasoning(r.message))
				}
			})
		})
	}
}

func TestShapesOfCallsInAgents(t *testing.T) {
	shapes := append(modeltest.Calls(), modeltest.ReportedCalls()...)
	eachForm(t, shapes, func(t *testing.T, s modeltest.Shape, stream bool) {
		server, m := play(t, s, helloText)
		r := runNode(t, m, "Agent", stream)
		require.NoError(t, r.err)
		require.True(t, strings.HasSuffix(engine.WithoutReasoning(r.out), helloText), r.out)
		requests := server.Requests()
		require.Len(t, requests, 2)
		for _, part := range s.Want.Back {
			require.Contains(t, requests[1].Raw, part)
		}
	})
}

func TestShapesOfRefusalsInNodes(t *testing.T) {
	for kind := range nodes {
		t.Run(kind, func(t *testing.T) {
			shapes := append(modeltest.Refusals(), modeltest.ReportedRefusals()...)
			eachForm(t, shapes, func(t *testing.T, s modeltest.Shape, stream bool) {
				_, m := play(t, s, helloText)
				m.providers[0].retries = 0
				r := runNode(t, m, kind, stream)
				require.Error(t, r.err)
				for _, words := range s.Want.Fails {
					require.ErrorContains(t, r.err, words)
				}
			})
		})
	}
}

func TestShapesOfStructuredAnswers(t *testing.T) {
	for _, s := range modeltest.Structureds() {
		t.Run(s.Name, func(t *testing.T) {
			server, m := play(t, modeltest.Shape{Stream: modeltest.Plain(true), Whole: modeltest.Plain(false)},
				s.Text)
			r := runNode(t, m, "Structured", false)
			if s.Fails != "" {
				require.ErrorContains(t, r.err, s.Fails)
				require.Len(t, server.Requests(), max(1, s.Requests))
				return
			}
			require.NoError(t, r.err)
			require.Equal(t, nodes["Structured"].want, r.out)
			require.Len(t, server.Requests(), 1)
		})
	}
}

// A response that a user has recorded is played like a shape.
func TestRecordedResponse(t *testing.T) {
	s, err := modeltest.Recorded("bug", []byte("HTTP/1.1 429 Too Many Requests\r\nContent-Type: "+
		"application/json\r\nRetry-After: 0\r\n\r\n{\"error\":\"slow down\"}"))
	require.NoError(t, err)
	server, m := play(t, s, "")
	req := hello(true)
	req.LLM = "m"
	_, _, err = collect(m.Generate(t.Context(), req))
	require.ErrorContains(t, err, "429 Too Many Requests: slow down")
	require.Len(t, server.Requests(), 4)
}
