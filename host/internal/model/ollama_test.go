package model

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/testing/modeltest"
)

func TestAddressesOfOllama(t *testing.T) {
	for _, base := range []string{"http://h", "http://h/", "http://h/v1", "http://h/api", "http://h/api/chat"} {
		require.Equal(t, "http://h/api/chat", ollamaDialect{}.address(base, chatPath, "m", true))
	}
}

// The server cuts what does not fit into its context without an error, so that the engine and the
// server know the same size.
func TestContextOfOllama(t *testing.T) {
	half, most := 0.5, 100
	for _, c := range []struct {
		own  int
		want string
	}{{0, "16384"}, {40_000, "40000"}} {
		server, m := vendor(t, modeltest.FormOf("ollama"), modeltest.Reply{Text: "fine"})
		m.providers[0].config.Models[0].Context = c.own
		req := hello(true)
		req.LLM, req.Purpose, req.Schema = "m", engine.PurposeStructured, citySchema
		req.Config = engine.ModelConfig{
			Temperature: &half, TopP: &half, PresencePenalty: &half, MaxTokens: &most, Stop: []string{"|"},
			Thinking: "none",
		}
		_, _, err := collect(m.Generate(t.Context(), req))
		require.NoError(t, err)
		require.Empty(t, server.Faults())
		raw := server.Requests()[0].Raw
		require.Contains(t, raw, `"options":{"temperature":0.5,"top_p":0.5,"presence_penalty":0.5,"num_predict":100,`+
			`"stop":["|"],"num_ctx":`+c.want+`}`)
		require.Contains(t, raw, `"think":false`)
		require.Contains(t, raw, `"format":{"type":"object"`)
		info, ok := engine.ParseNumber(c.want)
		require.True(t, ok)
		n, _ := info.Int()
		require.Equal(t, int(n), m.ModelInfo(t.Context(), "m").Context)
	}
}

// A model without thinking, and one without tools.
func TestRefusalsOfOllama(t *testing.T) {
	server, m := vendorBy(t, modeltest.FormOf("ollama"), func(_ int, r *modeltest.Request) any {
		if r.Has("think") {
			return modeltest.Answer{Status: 400, Body: `{"error":"\"m\" does not support thinking"}`}
		}
		if r.Has("tools") {
			return modeltest.Answer{
				Status: 400,
				Body:   `{"error":"registry.ollama.ai/library/m does not support tools"}`,
			}
		}
		return modeltest.Reply{Text: "fine"}
	})
	req := hello(false)
	req.Config.Thinking = "high"
	for range 2 {
		_, _, err := collect(m.Generate(t.Context(), req))
		require.NoError(t, err)
	}
	require.Len(t, server.Requests(), 3)
	req.Tools = offered
	_, _, err := collect(m.Generate(t.Context(), req))
	require.ErrorIs(t, err, engine.ErrToolsRefused)
	require.False(t, m.ModelInfo(t.Context(), "m").Tools)
}

// Gateways write truth values as text or as numbers.
func TestTruthValuesOfVendors(t *testing.T) {
	for _, done := range []string{`true`, `"true"`, `"True"`, `1`, `"1"`} {
		_, m := vendor(t, modeltest.FormOf("ollama"), modeltest.Answer{
			Body: `{"message":{"content":"fi"},"done":"false"}` + "\n" +
				`{"message":{"content":"ne"},"done":0}` + "\n" + `{"message":{"content":""},"done":` + done + "}\n",
		})
		text, _, err := collect(m.Generate(t.Context(), hello(true)))
		require.NoError(t, err, done)
		require.Equal(t, "fine", text)

		_, m = vendor(t, modeltest.FormOf("gemini"), modeltest.Answer{
			Body: `{"candidates":[{"content":{"parts":[{"text":"why","thought":` + done + `},{"text":"fine",` +
				`"thought":"false"}]},"finishReason":"STOP"}]}`,
		})
		text, _, err = collect(m.Generate(t.Context(), hello(true)))
		require.NoError(t, err, done)
		require.Equal(t, "<think>why</think>fine", text)
	}
}
