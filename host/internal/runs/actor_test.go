package runs

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/runstest"
)

// actors are for whom the jobs act whose ports were requested.
type actors struct {
	mu   sync.Mutex
	list []access.Actor
}

func (a *actors) ports(j *Job) engine.Ports {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = append(a.list, j.Actor)
	return engine.Ports{}
}

func (a *actors) taken() []access.Actor {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.list
}

// A run keeps its actor when another host takes it over, also one whose actor was decided when it
// began late, and although the canvas is published by another member then.
func TestActorSurvivesTakeover(t *testing.T) {
	b := newBench(t)
	seen := &actors{}
	b.Close()
	b.Start = func() (stop func()) {
		runs := New(Config{Store: b.Store, Log: b.Log, Registry: b.Registry, Logger: b.logger, Ports: seen.ports})
		b.runs = runs
		go func() { _ = runs.Work(context.WithoutCancel(t.Context())) }()
		return runs.Close
	}
	b.Open()
	id := b.Canvas(runstest.Waiting)
	publish := func(by string) {
		_, err := b.Store.Canvases.Edit(t.Context(), "t", id, "v", func(c *store.Canvas) error {
			c.Released, c.Publisher = true, by
			return nil
		})
		require.NoError(t, err)
	}
	publish("ann")
	published := access.Actor{User: "ann", As: access.Publisher}
	started := b.start(Job{Canvas: id, Published: true})
	require.Equal(t, published, started.Actor)
	late := Named(Job{Tenant: "t", Canvas: id, Published: true}, "s-late")
	data, err := json.Marshal(late)
	require.NoError(t, err)
	require.NoError(t, b.Log.Submit(t.Context(), runlog.Run{ID: late.ID, Data: data}))
	require.Eventually(t, func() bool { return b.Ran.Load() == 2 }, runstest.Patience, 5*time.Millisecond)
	row, err := b.Store.Runs.Get(t.Context(), "t", late.ID)
	require.NoError(t, err)
	require.Equal(t, published, row.Actor)

	b.Close()
	b.Open()
	publish("bob")
	require.Eventually(t, func() bool { return b.Ran.Load() == 4 }, runstest.Patience, 5*time.Millisecond)
	require.Equal(t, []access.Actor{published, published, published, published}, seen.taken())
	b.Gate <- struct{}{}
	b.Gate <- struct{}{}
	for _, run := range []string{started.ID, late.ID} {
		b.Read(b.runs.Follow, run)
	}
}

// Sessions act for the publisher or the author of the document that they copied; those of former
// versions for the author who made the canvas too.
func TestActorOfSession(t *testing.T) {
	b := newBench(t)
	id := b.Canvas(runstest.Talk)
	c, err := b.Store.Canvases.Edit(t.Context(), "t", id, "v", func(c *store.Canvas) error {
		c.Released, c.Publisher = true, "ann"
		return nil
	})
	require.NoError(t, err)
	session := func(v store.Session) string {
		v.Tenant, v.Canvas, v.DSL = "t", id, []byte(runstest.Talk)
		v, err := b.Store.Sessions.Create(t.Context(), v)
		require.NoError(t, err)
		return v.ID
	}
	actorOf := func(session string, by access.Actor) access.Actor {
		return b.start(Job{Canvas: id, Session: session, Keep: KeepSession, Actor: by}).Actor
	}
	author, publisher := access.Actor{User: "u", As: access.Author}, access.Actor{User: "ann", As: access.Publisher}
	bob := access.Actor{User: "bob", As: access.Present}
	draft, err := b.runs.NewSession(c, "draft", "", "", "")
	require.NoError(t, err)
	require.Equal(t, author, draft.Actor)
	c, err = b.runs.Published(t.Context(), c)
	require.NoError(t, err)
	copied, err := b.runs.NewSession(c, "copied", "", "", "")
	require.NoError(t, err)
	require.Equal(t, publisher, copied.Actor)

	of := session(store.Session{Actor: author})
	require.Equal(t, author, actorOf(of, access.Actor{}))
	require.Equal(t, bob, actorOf(of, bob))
	require.Equal(t, author, actorOf(of, access.Actor{}), "each turn acts for who makes it")
	of = session(store.Session{Actor: publisher})
	require.Equal(t, publisher, actorOf(of, access.Actor{}))
	require.Equal(t, publisher, actorOf(of, bob))
	former := session(store.Session{})
	require.Equal(t, author, actorOf(former, access.Actor{}))
	_, err = b.Store.Canvases.Edit(t.Context(), "t", id, "", func(c *store.Canvas) error {
		c.Author = "bob"
		return nil
	})
	require.NoError(t, err)
	unknown := access.Actor{As: access.Author}
	require.Equal(t, unknown, actorOf(former, access.Actor{}), "the document may be of either")
}

// A run is refused whose viewer may not use the canvas, as one of a canvas that does not exist,
// also when the canvas is known from an earlier run.
func TestViewerOfRun(t *testing.T) {
	b := newBench(t)
	id := b.Canvas(runstest.Talk)
	for range 2 {
		bob := access.Viewer{Tenant: "t", User: "bob"}
		_, err := b.runs.Start(t.Context(), Job{Tenant: "t", Canvas: id, Viewer: bob})
		require.ErrorIs(t, err, store.ErrNotFound)
		b.start(Job{Canvas: id, Viewer: access.Viewer{Tenant: "t", User: "u"}})
	}
}
