package openai

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/app"
)

// TestReasoningInOpenAIsForm marks where a model thinks.
func TestReasoningInOpenAIsForm(t *testing.T) {
	require.Equal(t, "<think>", thinkText(engine.Piece{Opens: true}))
	require.Equal(t, "hm", thinkText(engine.Piece{Text: "hm"}))
	require.Equal(t, "</think>", thinkText(engine.Piece{Closes: true}))
}

// The code describes the failure; the request was valid in each case.
func TestOpenAIRunFailsByALimit(t *testing.T) {
	for code, want := range map[string]struct {
		status     int
		kind, code string
	}{
		"":              {400, "api_error", "run_failed"},
		"text_too_long": {400, "api_error", "text_too_long"},
		"quota_used_up": {429, "insufficient_quota", "insufficient_quota"},
	} {
		s := runStatus(app.End{Status: app.RunFailed, Code: code, Error: "why"})
		problem := errorBody(s.Code, s.Message, "").Get("error")
		require.Equal(t, want.status, s.HTTP, code)
		require.Equal(t, want.kind, problem.Get("type").Str(), code)
		require.Equal(t, want.code, problem.Get("code").Str(), code)
	}
}
