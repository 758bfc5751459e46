package failure_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/runs"
)

// conversation is a session with one turn under way: a run of a chain, and a client that follows
// it.
type conversation struct {
	w                    *world
	canvas, session, run string
	reader               *reader
}

// conversation begins a turn on a host. The query is part of the paths that outside receives:
// /QUERY/1, /QUERY/2, ...
func (w *world) conversation(h *hostProcess, query string) *conversation {
	w.t.Helper()
	c := &conversation{w: w, canvas: w.canvas(w.outside.chain(steps))}
	c.session = w.session(c.canvas)
	c.run = w.run(h, c.canvas, c.session, query)
	c.reader = w.follow(c.run, 0, nil)
	return c
}

// requireDone waits for the end of the run and checks that each step is in the log once, that the
// client has seen what is in the log, and that the session has the turn once.
func (c *conversation) requireDone() []event {
	t := c.w.t
	t.Helper()
	all := c.reader.wait()
	requireSteps(t, all, steps)
	status, problem := c.w.status(c.run)
	require.Equal(t, "succeeded", status, problem)
	messages, rounds := c.w.turns(c.canvas, c.session)
	require.Equal(t, 1, rounds, "one turn")
	require.Len(t, messages, 3, "a greeting, a question and an answer")
	require.Contains(t, messages[2], "answer of /")
	return all
}

// answer returns the text that a client assembles from a run's events.
func answer(t testing.TB, events []event) string {
	t.Helper()
	var said runs.Transcript
	for _, e := range events {
		said.Take(runlog.Record{Kind: e.kind, Data: []byte(e.data)})
	}
	return said.Text.String()
}
