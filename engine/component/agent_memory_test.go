package component

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func TestAgentRemembersOnRequest(t *testing.T) {
	for remember, want := range map[string]string{"true": `[["q", "done", "what happened"]]`, "false": `[]`} {
		m := say(plan("echo_tool_0 a"), complete, "done", "what happened")
		c := node(t, "Agent", `{"remember_tools": `+remember+`, "tools": [`+echo+`]}`, "{X@content}")
		s := run(t, c, nil, "q", engine.Null, engine.Ports{Model: m})
		require.NoError(t, s.err)
		require.Equal(t, want, parse(t, string(c.Save(s.state))).Get("memory").Text())
	}
}

func TestAgentReadsSummariesOfEarlierTurns(t *testing.T) {
	for _, c := range []struct {
		name, tail string
		second     *script
	}{
		{"streamed", "{X@content}", say("a whole question", complete, "two")},
		{"whole", "", say("a whole question", complete, "two")},
	} {
		t.Run(c.name, func(t *testing.T) {
			agent := node(t, "Agent", `{"remember_tools": true, "tools": [`+echo+`]}`, c.tail)
			m := say(plan("echo_tool_0 a"), complete, "one", "tea costs 4 EUR")
			s := run(t, agent, nil, "q1", engine.Null, engine.Ports{Model: m})
			require.NoError(t, s.err)
			require.NotContains(t, m.asked[0].System, "earlier turns")
			saved, err := agent.Restore(agent.Save(s.state))
			require.NoError(t, err)
			require.NoError(t, run(t, agent, saved, "q2", engine.Null, engine.Ports{Model: c.second}).err)
			asked := c.second.asked[len(c.second.asked)-2:]
			require.Equal(t, engine.PurposePlan, asked[0].Purpose)
			require.Equal(t, engine.PurposeAnswer, asked[1].Purpose)
			require.Contains(t, asked[0].System, `- "q1": tea costs 4 EUR`)
			require.Contains(t, asked[1].System, `- "q1": tea costs 4 EUR`)
		})
	}
}

func TestAgentWithoutToolCallsAsksForNoSummary(t *testing.T) {
	m := say(complete, "done")
	c := node(t, "Agent", `{"remember_tools": true, "tools": [`+echo+`]}`, "{X@content}")
	require.NoError(t, run(t, c, nil, "q", engine.Null, engine.Ports{Model: m}).err)
	require.Len(t, m.asked, 2)
}

func TestAgentWarnsOfAFailedSummary(t *testing.T) {
	m := say(plan("echo_tool_0 a"), complete, "done")
	m.replies = append(m.replies, reply{err: errors.New("model is away")})
	c := node(t, "Agent", `{"remember_tools": true, "tools": [`+echo+`]}`, "{X@content}")
	s := run(t, c, nil, "q", engine.Null, engine.Ports{Model: m})
	require.NoError(t, s.err)
	require.Equal(t, "done", s.message)
	require.Len(t, s.warnings, 1)
	require.Contains(t, s.warnings[0], "remember_tools: ")
	require.Contains(t, s.warnings[0], "model is away")
}
