package ragflow_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// uneven is a canvas of two branches, of which the second one ends first.
var uneven = []string{
	"begin Begin -> Wait:W StringTransform:S",
	"Wait:W Wait -> Message:A",
	`StringTransform:S StringTransform {"method":"merge","script":"fast"} -> Message:B`,
	`Message:A Message {"content":["slow "]}`,
	`Message:B Message {"content":["{StringTransform:S@result} "]}`,
}

// TestDialectsKeepTheOrderOfBatches runs a canvas that sets eager scheduling by each way. Events of
// RAGFlow's dialects come as those of the same canvas without the setting; OpenAI's form, which has
// no events of nodes, follows the canvas.
func TestDialectsKeepTheOrderOfBatches(t *testing.T) {
	s := apitest.New(t)
	plain := s.Canvas("plain", sketch.Canvas(uneven...))
	eager := s.Canvas("eager", sketch.Canvas(append(uneven, `@settings {"scheduling":"eager"}`)...))
	for _, way := range []struct {
		name, path, body string
		follows          bool
	}{
		{"editor", "/v1/canvas/completion", `{"id":"#","query":"q"}`, false},
		{"0.23", "/api/v1/agents/#/completions", `{"question":"q","stream":true}`, false},
		{
			"0.27", "/0.27/api/v1/agents/chat/completions",
			`{"agent_id":"#","query":"q","stream":true,"openai-compatible":false}`, false,
		},
		{
			"OpenAI at 0.27", "/0.27/api/v1/agents/chat/completions",
			`{"agent_id":"#","model":"m","stream":true,"openai-compatible":true,` +
				`"messages":[{"role":"user","content":"q"}]}`, true,
		},
		{
			"OpenAI", "/api/v1/agents_openai/#/chat/completions",
			`{"model":"m","stream":true,"messages":[{"role":"user","content":"q"}]}`, true,
		},
	} {
		t.Run(way.name, func(t *testing.T) {
			shown := func(canvas string) (list []string) {
				s.Gate <- struct{}{}
				a := s.Post(strings.ReplaceAll(way.path, "#", canvas), strings.ReplaceAll(way.body, "#", canvas))
				events, _ := a.Events()
				for _, e := range events {
					data := e.Get("data")
					said := e.Get("choices").At(0).Get("delta").Get("content").Text()
					said += data.Get("component_id").Text() + data.Get("content").Text()
					list = append(list, e.Get("event").Text()+" "+said)
				}
				return list
			}
			want := shown(plain)
			require.NotEmpty(t, want)
			got := shown(eager)
			if !way.follows {
				require.Equal(t, want, got)
				return
			}
			text := strings.Join(got, "")
			require.Less(t, strings.Index(text, "fast"), strings.Index(text, "slow"), "%q; in batches %q", got, want)
		})
	}
}
