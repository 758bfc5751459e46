package component

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func TestLLMPrompts(t *testing.T) {
	for _, c := range []struct{ name, kind, params, system, messages string }{
		{"without prompts the query is sent", "LLM", `{}`, "", `["hello"]`},
		{"an empty list of prompts sends the query", "LLM", `{"prompts": []}`, "", `["hello"]`},
		{"prompts as one string", "LLM", `{"prompts": "say {sys.query}"}`, "", `["say hello"]`},
		{"one prompt outside a list", "LLM", `{"prompts": {"role": "user", "content": "a"}}`, "", `["a"]`},
		{
			"two messages of one role are both sent", "LLM",
			`{"prompts": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]}`, "", `["a", "b"]`,
		},
		{
			"the task of Generate follows the system prompt", "Generate",
			`{"sys_prompt": "S", "prompt": "P {sys.query}"}`,
			"S\n\nP hello", `["hello"]`,
		},
		{
			"rules for agents are removed", "LLM", `{"sys_prompt": "A <PLAN_GENERATION>x</plan_generation> B"}`, "A  B",
			`["hello"]`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := say("ok")
			s := run(t, node(t, c.kind, c.params, ""), nil, "hello", engine.Null, engine.Ports{Model: m})
			require.NoError(t, s.err)
			require.Len(t, m.asked, 1)
			require.Equal(t, c.system, m.asked[0].System)
			var texts []string
			for _, x := range m.asked[0].Messages {
				texts = append(texts, x.Content)
			}
			require.Equal(t, c.messages, engine.Strings(texts...).Text())
		})
	}
}

func TestLLMRefusesParams(t *testing.T) {
	for _, c := range []struct{ params, problem string }{
		{`{"temperature": 2}`, "temperature"},
		{`{"prompts": 5}`, "prompts"},
		{`{"prompts": [{"content": 5}]}`, "prompts[0]"},
		{`{"message_history_window_size": "many"}`, "message_history_window_size"},
		{`{"sys_prompt": []}`, "sys_prompt"},
	} {
		_, err := loadNode("LLM", c.params, "")
		require.ErrorContains(t, err, c.problem)
	}
}

func TestLLMSendsOnlySamplingThatIsSwitchedOn(t *testing.T) {
	m := say("ok")
	run(t, node(t, "LLM", `{"llm_id": "a", "temperature": "0.1", "temperatureEnabled": true, "top_p": 0.3,
		"presence_penalty": 0, "presencePenaltyEnabled": true, "max_tokens": 9, "maxTokensEnabled": true, `+
		`"thinking": "default"}`, ""),
		nil, "q", engine.Null, engine.Ports{Model: m})
	cfg := m.asked[0].Config
	require.InDelta(t, 0.1, *cfg.Temperature, 1e-9)
	require.Equal(t, 9, *cfg.MaxTokens)
	require.Nil(t, cfg.TopP)
	require.Nil(t, cfg.PresencePenalty)
	require.Empty(t, cfg.Thinking)
}

// Documents that no editor wrote have values without switches, and 0 is a temperature.
func TestLLMSendsSamplingWithoutSwitches(t *testing.T) {
	m := say("ok")
	run(t, node(t, "LLM", `{"llm_id": "a", "temperature": 0, "top_p": 0.3, "max_tokens": 9}`, ""),
		nil, "q", engine.Null, engine.Ports{Model: m})
	cfg := m.asked[0].Config
	require.InDelta(t, 0, *cfg.Temperature, 1e-9)
	require.InDelta(t, 0.3, *cfg.TopP, 1e-9)
	require.Equal(t, 9, *cfg.MaxTokens)
}

func TestLLMErrors(t *testing.T) {
	down := func() *script {
		return &script{replies: []reply{{err: errors.New("down")}, {err: errors.New("still down")}}}
	}
	const comment = `"exception_method": "comment", "exception_default_value": "sorry"`
	for _, c := range []struct{ name, params, tail, content, message, err string }{
		{"without a default the error is returned", `{}`, "", "", "", "down"},
		{"the default is the answer", `{` + comment + `}`, "", "sorry", "", ""},
		{"the default after the last retry", `{"max_retries": 1, ` + comment + `}`, "", "sorry", "", ""},
		{"an outdated default is ignored", `{"exception_default_value": "sorry"}`, "", "", "", "down"},
		{"the default is streamed", `{` + comment + `}`, "<{X@content}>", "sorry", "<sorry>", ""},
		{"retries report the last error", `{"max_retries": 1}`, "", "", "", "still down"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := run(t, node(t, "LLM", c.params, c.tail), nil, "q", engine.Null, engine.Ports{Model: down()})
			require.Equal(t, c.content, s.outs.Get("content").Text())
			require.Equal(t, c.message, s.message)
			if c.err == "" {
				require.NoError(t, s.err)
			} else {
				require.ErrorContains(t, s.err, c.err)
			}
		})
	}
}

func TestLLMDoesNotRetryInVain(t *testing.T) {
	m := &script{replies: []reply{{err: fmt.Errorf("used up: %w", engine.ErrNoRetry)}, {text: "answered after all"}}}
	s := run(t, node(t, "LLM", `{"max_retries": 3, "delay_after_error": 60}`, ""), nil, "q", engine.Null,
		engine.Ports{Model: m})
	require.ErrorContains(t, s.err, "used up")
	require.Len(t, m.asked, 1)
}

func TestLLMSendsImages(t *testing.T) {
	m := say("ok")
	files := parse(t, `{"f": {"value": ["data:image/png;base64,AA", "text", "data:text/plain;base64,AA"]}}`)
	run(t, node(t, "LLM", `{"visual_files_var": "begin@f"}`, ""), nil, "q", files, engine.Ports{Model: m})
	require.Equal(t, []string{"data:image/png;base64,AA"}, m.asked[0].Messages[0].Images)
}

func TestLLMStructured(t *testing.T) {
	const params = `{"max_retries": 1, "delay_after_error": 0, "outputs": {"structured": ` +
		`{"type": "object", "properties": {"n": {"type": "number"}}, "value": {"n": 1}}}}`
	m := say("no json", "{n: 2}")
	s := run(t, node(t, "LLM", params, "{X@structured.n}"), nil, "q", engine.Null, engine.Ports{Model: m})
	require.NoError(t, s.err)
	require.Equal(t, "2", s.message)
	require.Equal(t, engine.PurposeStructured, m.asked[0].Purpose)
	require.Equal(t, `{"type":"object","properties":{"n":{"type":"number"}}}`, m.asked[0].Schema.JSON(),
		"the last value is no part of the schema")
	require.False(t, m.asked[0].Stream)
}

func TestConversationFits(t *testing.T) {
	long := strings.Repeat("wort ", 400)
	say := func(texts ...string) (list []engine.ModelMessage) {
		for _, x := range texts {
			list = append(list, engine.ModelMessage{Role: "user", Content: x})
		}
		return list
	}
	for _, c := range []struct {
		name             string
		system           string
		messages         []engine.ModelMessage
		count            int
		system2, message int // tokens at most
	}{
		{"messages that fit are kept", "s", say("a", "b"), 2, 1, 1},
		{"history is dropped first", "s", say(long, "b"), 1, 1, 1},
		{"a long system prompt is truncated", long + long, say("b"), 1, 97, 1},
		{"otherwise a long message is truncated", "s", say(long), 1, 1, 97},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := conversation{system: c.system, messages: c.messages}
			x.fit(100)
			require.Len(t, x.messages, c.count)
			require.LessOrEqual(t, engine.Tokens(x.system), c.system2)
			require.LessOrEqual(t, engine.Tokens(x.last()), c.message)
			require.NotEmpty(t, x.last())
		})
	}
}

func TestConversationSurvivesAsValue(t *testing.T) {
	c := conversation{
		system: "s", overrides: engine.Object("reflection", "r"),
		messages: []engine.ModelMessage{
			{Role: "user", Content: "a", Images: []string{"data:image/png;base64,AA"}},
			{Role: "assistant", Content: "b"},
		},
	}
	require.Equal(t, c, readConversation(parse(t, c.value().JSON())))
}

func TestOverridesAreCut(t *testing.T) {
	rest, blocks := cutOverrides("Be kind.\n<Citation_Guidelines>\nmark " +
		"it\n</citation_guidelines>\n<reflection>a</reflection><REFLECTION>b</REFLECTION>")
	require.Equal(t, "Be kind.", rest)
	require.Equal(t, `{"reflection": "a\nb", "citation_guidelines": "mark it"}`, blocks.Text())
	rest, blocks = cutOverrides(" <PLAN_GENERATION> never closed ")
	require.Equal(t, " <PLAN_GENERATION> never closed ", rest)
	require.True(t, blocks.IsNull())
}
