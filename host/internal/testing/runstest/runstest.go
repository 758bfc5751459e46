// Package runstest is the storage of a host for tests: [Records] for those that need only records,
// and a [Host] with records, run log and a registry with a component that waits, which can be
// closed and opened again as after a restart.
package runstest

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/logtest"
)

// Quiet discards log lines.
var Quiet = slog.New(slog.DiscardHandler)

// Patience bounds every wait for an event; a slow machine needs a small part of it.
const Patience = 3 * time.Minute

// Records opens records until the end of the test, in a new directory unless cfg names one. A write
// does not wait for the disk.
func Records(t testing.TB, cfg store.Config) *store.Store {
	t.Helper()
	if cfg.Dir == "" {
		cfg.Dir = t.TempDir()
	}
	cfg.Sync = store.SyncInterval
	s, err := store.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// Host is one host with its own storage; its canvases belong to the tenant "t".
type Host struct {
	T        testing.TB
	Dir      string
	Registry *engine.Registry // with a component Wait
	Gate     chan struct{}    // a Wait node passes when it can receive
	Ran      atomic.Int32     // executions of Wait nodes

	Store *store.Store
	NATS  *logtest.Storage
	Log   *runlog.Log // of NATS
	// Logging configures the run log.
	Logging runlog.Config
	// Later moves the clock of records and traces.
	Later atomic.Int64

	// Start makes what works on the storage each time that it is opened; stop ends that between
	// closing the run log and the records.
	Start func() (stop func())
	stop  func()
}

// New returns a host that is not open yet.
func New(t testing.TB) *Host {
	h := &Host{T: t, Dir: t.TempDir(), Gate: make(chan struct{}, 100)}
	var err error
	h.Registry, err = engine.NewRegistry(component.Builtin()...)
	require.NoError(t, err)
	require.NoError(t, h.Registry.Add(engine.Spec{
		Name: "Wait", Hidden: true, New: func() engine.Component { return wait{h} },
	}))
	return h
}

// wait is a component that blocks until the test releases it.
type wait struct{ h *Host }

func (w wait) Run(ctx context.Context, call *engine.Call) error {
	w.h.Ran.Add(1)
	select {
	case <-w.h.Gate:
		call.Out("result", engine.String("waited"))
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Open starts the host on its storage.
func (h *Host) Open() {
	h.T.Helper()
	var err error
	h.Store, err = store.Open(h.T.Context(), store.Config{Dir: h.Dir, Sync: store.SyncInterval, Now: h.Now})
	require.NoError(h.T, err)
	h.NATS = logtest.OpenWith(h.T, broker.Config{Dir: h.Dir}, h.Logging)
	h.Log = h.NATS.Log
	h.stop = h.Start()
}

// Now returns the time of the moved clock.
func (h *Host) Now() time.Time { return time.Now().Add(time.Duration(h.Later.Load())) }

// ForgetRun deletes the log of a run, as the host does some time after its end.
func (h *Host) ForgetRun(run string) {
	h.T.Helper()
	stream, err := h.NATS.Conn.JS.Stream(h.T.Context(), h.NATS.Conn.Name("LOG"))
	require.NoError(h.T, err)
	subject := h.NATS.Conn.Subject("run", broker.Token(run), ">")
	require.NoError(h.T, stream.Purge(h.T.Context(), jetstream.WithPurgeSubject(subject)))
}

// Close stops the host; its storage stays.
func (h *Host) Close() {
	require.NoError(h.T, h.NATS.Close())
	h.stop()
	require.NoError(h.T, h.Store.Close())
}

// Canvas adds a canvas.
func (h *Host) Canvas(dsl string) string {
	h.T.Helper()
	v := store.Canvas{Tenant: "t", User: "u", Title: "c", DSL: []byte(dsl)}
	c, err := h.Store.Canvases.Create(h.T.Context(), v, "")
	require.NoError(h.T, err)
	return c.ID
}

// Session adds a session of a canvas.
func (h *Host) Session(canvas, dsl string) string {
	h.T.Helper()
	s, err := h.Store.Sessions.Create(h.T.Context(), store.Session{
		Tenant: "t", Canvas: canvas, User: "u", DSL: []byte(dsl), Messages: []byte("[]"),
	})
	require.NoError(h.T, err)
	return s.ID
}

// Read follows a run to its end.
func (h *Host) Read(
	follow func(context.Context, string, runlog.Pos, func(runlog.Record) bool) error, run string,
) []runlog.Record {
	h.T.Helper()
	ctx, stop := context.WithTimeout(h.T.Context(), Patience)
	defer stop()
	var out []runlog.Record
	require.NoError(h.T, follow(ctx, run, runlog.Pos{}, func(r runlog.Record) bool {
		out = append(out, r)
		return true
	}))
	return out
}

// Talk is a canvas that answers at once.
var Talk = sketch.Canvas("begin Begin -> Message:A", `Message:A Message {"content":["You said {sys.query}"]}`)

// Waiting is a canvas that speaks, waits for [Host.Gate] and speaks again.
var Waiting = sketch.Canvas(
	"begin Begin -> Message:A",
	`Message:A Message {"content":["first"]} -> Wait:W`,
	"Wait:W Wait -> Message:B",
	`Message:B Message {"content":["{Wait:W@result}"]}`,
)
