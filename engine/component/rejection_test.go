package component

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// A model is called again while its answer is rejected; the last rejection fails the node, or leads
// to its fallback output.
func TestAnswersAreRejected(t *testing.T) {
	for _, c := range []struct {
		name, params string
		said         []string
		want, fault  string
		calls        int
	}{
		{"empty", `"retry_when": "empty"`, []string{" \n", "fine"}, "fine", "", 2},
		{"only reasoning", `"retry_when": "empty"`, []string{"<think>hm</think>", "fine"}, "fine", "", 2},
		{"not JSON", `"retry_when": "not_json"`, []string{"no idea", `{"a": 1}`}, `{"a": 1}`, "", 2},
		{"matches", `"retry_when": "matches", "retry_pattern": "(?i)AI"`, []string{"an ai", "fine"}, "fine", "", 2},
		{"accepted", `"retry_when": "matches", "retry_pattern": "^n"`, []string{"in case"}, "in case", "", 1},
		{"once without retries", `"retry_when": "empty"`, []string{"", "", "late"}, "", "rejected: it is empty", 2},
		{"all retries", `"retry_when": "empty", "max_retries": 2`, []string{"", "", "late"}, "late", "", 3},
		{
			"fallback output", `"retry_when": "empty", "exception_method": "comment", "exception_default_value": "no"`,
			[]string{"", "", "late"},
			"no", "", 2,
		},
		{
			"a search without end", `"retry_when": "matches", "retry_pattern": "(?=(?s:.*)b)x"`,
			[]string{strings.Repeat("x", 20_000)},
			"", "takes too long", 1,
		},
		{"without condition", `"max_retries": 2`, []string{""}, "", "", 1},
	} {
		for name, kind := range map[string]struct {
			params string
			plan   []string
		}{
			"LLM": {}, "native": {`"tool_mode": "native", "tools": [` + echo + `], `, nil},
			"prompt": {`"tool_mode": "prompt", "tools": [` + echo + `], `, []string{complete}},
		} {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				m := say(append(append([]string{}, kind.plan...), c.said...)...)
				m.info.Tools = true
				component := "Agent"
				if name == "LLM" {
					component = name
				}
				s := run(t, node(t, component, `{`+kind.params+`"delay_after_error": 0, `+c.params+`}`, ""), nil, "q",
					engine.Null, engine.Ports{Model: m})
				if c.fault != "" {
					require.ErrorContains(t, s.err, c.fault)
				} else {
					require.NoError(t, s.err)
					require.Equal(t, c.want, s.outs.Get("content").Text())
				}
				require.Len(t, m.asked, len(kind.plan)+c.calls)
				require.Equal(t, c.calls > 1, len(s.warnings) > 0)
			})
		}
	}
}

// An answer that may be rejected is not sent piece by piece.
func TestAnswersThatMayBeRejectedDoNotStream(t *testing.T) {
	for _, kind := range []string{"LLM", "Agent"} {
		m := say("no", "fine")
		params := `{"tools": [], "retry_when": "matches", "retry_pattern": "no", "delay_after_error": 0}`
		s := run(t, node(t, kind, params, "{X@content}"), nil, "q", engine.Null, engine.Ports{Model: m})
		require.NoError(t, s.err)
		require.Equal(t, "fine", s.message)
	}
}

func TestConditionsOfAnswersAreChecked(t *testing.T) {
	for params, want := range map[string]string{
		`{"retry_when": "matches"}`:                       "retry_pattern",
		`{"retry_when": "matches", "retry_pattern": "("}`: "retry_pattern",
		`{"retry_when": "emty"}`:                          "retry_when",
	} {
		_, err := loadNode("LLM", params, "")
		require.ErrorContains(t, err, want, params)
	}
}
