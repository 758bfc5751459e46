package runs

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/runstest"
)

// says returns the document talk with another verb.
func says(verb string) []byte { return []byte(strings.Replace(runstest.Talk, "said", verb, 1)) }

// put saves a document of a canvas, published or not.
func (b *bench) put(id, verb string, publish bool) store.Canvas {
	b.T.Helper()
	c, err := b.Store.Canvases.Edit(b.T.Context(), "t", id, verb, func(c *store.Canvas) error {
		c.DSL, c.Released = says(verb), publish
		return nil
	})
	require.NoError(b.T, err)
	return c
}

// said runs a job to its end and returns its text.
func (b *bench) said(j Job) string {
	b.T.Helper()
	var said Transcript
	for _, r := range b.read(b.start(j).ID) {
		said.Take(r)
	}
	return said.Text.String()
}

func TestRunsOfThePublishedVersion(t *testing.T) {
	b := newBench(t)
	id := b.Canvas(runstest.Talk)
	_, err := b.runs.Start(t.Context(), Job{Tenant: "t", Canvas: id, Published: true})
	require.ErrorIs(t, err, ErrUnpublished)
	require.Equal(t, "not_published", CodeOf(err))
	first := b.put(id, "published", true)

	x := engine.String("x")
	draft, published := Job{Canvas: id, Query: x}, Job{Canvas: id, Query: x, Published: true}
	for _, verb := range []string{"drew", "sketched"} {
		b.put(id, verb, false)
		for range 2 { // what is remembered of one is not taken for the other
			require.Equal(t, "You "+verb+" x", b.said(draft))
			require.Equal(t, "You published x", b.said(published))
		}
	}
	b.put(id, "republished", true)
	require.Equal(t, "You republished x", b.said(published))
	_, err = b.Store.Canvases.Publish(t.Context(), "t", id, first.Published, "u")
	require.NoError(t, err)
	require.Equal(t, "You published x", b.said(published))
	require.Equal(t, "You republished x", b.said(draft))

	c, err := b.Store.Canvases.Get(t.Context(), "t", id)
	require.NoError(t, err)
	c, err = b.runs.Published(t.Context(), c)
	require.NoError(t, err)
	session, err := b.runs.NewSession(c, "s", "u", "", "agent")
	require.NoError(t, err)
	require.Equal(t, "published", session.Version)
	_, err = b.Store.Sessions.Create(t.Context(), session)
	require.NoError(t, err)
	b.put(id, "changed", true)
	turn := Job{Canvas: id, Session: "s", Keep: KeepSession, Query: x}
	require.Equal(t, "You published x", b.said(turn), "a session has a copy of its own")

	require.NoError(t, b.Store.Canvases.Delete(t.Context(), "t", id))
	_, err = b.runs.Published(t.Context(), c)
	require.ErrorIs(t, err, ErrUnpublished)
	_, err = b.runs.Start(t.Context(), Job{Tenant: "t", Canvas: id, Published: true})
	require.ErrorIs(t, err, store.ErrNotFound)
}

// The published version begins without what its editor said before it was published, and so does a
// draft that runs unattended.
func TestPublishedRunsBeginReset(t *testing.T) {
	b := newBench(t)
	id := b.Canvas(strings.Replace(runstest.Talk, "{sys.query}", "{sys.conversation_turns}", 1))
	require.Equal(t, "You said 1", b.said(Job{Canvas: id, Keep: KeepCanvas}))
	require.Eventually(t, func() bool { // its state is saved behind its events
		c, err := b.Store.Canvases.Get(t.Context(), "t", id)
		require.NoError(t, err)
		return strings.Contains(string(c.DSL), "conversation_turns\":1")
	}, runstest.Patience, 5*time.Millisecond)
	_, err := b.Store.Canvases.Edit(t.Context(), "t", id, "v", func(c *store.Canvas) error {
		c.Released = true
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, "You said 2", b.said(Job{Canvas: id, Actor: access.Actor{As: access.Present}}))
	require.Equal(t, "You said 1", b.said(Job{Canvas: id}))
	require.Equal(t, "You said 1", b.said(Job{Canvas: id, Published: true}))
}

// The hot path of runs reads nothing from the store, published or not, once the canvas is known.
func TestPublishedCanvasIsRemembered(t *testing.T) {
	b := newBench(t)
	id := b.Canvas(runstest.Talk)
	b.put(id, "published", true)
	b.put(id, "drew", false)
	for _, published := range []bool{false, true} {
		j := &Job{Tenant: "t", Canvas: id, Published: published}
		require.Zero(t, b.runs.plans.last(j).rev)
		b.said(Job{Canvas: id, Published: published})
		known := b.runs.plans.last(j)
		require.EqualValues(t, 3, known.rev)
		require.Equal(t, published, strings.Contains(string(known.doc), "published"))
	}
}
