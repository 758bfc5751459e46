package runs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/runstest"
)

// A reader on the host of a run gets what the run knows of its events; one that reads the stream
// gets the same from their JSON.
func TestRecordsBringTheirFacts(t *testing.T) {
	b := newBench(t)
	j := b.start(Job{Canvas: b.Canvas(runstest.Waiting), Query: engine.String("x")})
	require.Eventually(t, func() bool { return b.Ran.Load() == 1 }, runstest.Patience, time.Millisecond)
	var own []runlog.Record
	require.NoError(t, b.runs.Follow(t.Context(), j.ID, runlog.Pos{}, func(r runlog.Record) bool {
		if len(own) == 0 {
			b.Gate <- struct{}{} // the reader is there, and has what comes from memory
		}
		own = append(own, r)
		return true
	}))
	b.Close()
	b.Open()
	stored, err := b.runs.Records(t.Context(), j.ID)
	require.NoError(t, err)
	require.Len(t, own, len(stored))
	for i, r := range stored {
		require.Nil(t, r.Known, r.Kind)
		if Visible(r.Kind) {
			require.NotNil(t, own[i].Known, r.Kind)
		}
		if r.Kind == KindEnd {
			require.Equal(t, End{Status: store.RunDone}, EndOf(own[i]))
			require.Equal(t, EndOf(own[i]), EndOf(r))
			continue
		}
		got, want := Facts(own[i]), Facts(r)
		require.Equal(t, want.Data.JSON(), got.Data.JSON(), "%s", r.Data)
		require.Equal(t, want.Usage.JSON(), got.Usage.JSON(), "%s", r.Data)
		got.Data, want.Data, got.Usage, want.Usage = engine.Null, engine.Null, engine.Null, engine.Null
		require.Equal(t, want, got, "%s", r.Data)
	}
}

// The facts of a run's own events are not parsed from their JSON again.
func TestFactsOfOwnEventsAreNotParsed(t *testing.T) {
	own := func(kind engine.EventType, f engine.Facts) runlog.Record {
		return recordOf(&engine.Event{Type: kind, JSON: []byte("unread"), Facts: &f})
	}
	reference := engine.Object("chunks", engine.Object("1", "x"))
	var said Transcript
	said.Take(own(engine.EventMessage, engine.Facts{Message: engine.Piece{Text: "hm", Opens: true}}))
	said.Take(own(engine.EventMessage, engine.Facts{Message: engine.Piece{Closes: true}}))
	said.Take(own(engine.EventMessageEnd, engine.Facts{Data: engine.Object("reference", reference, "status", "201")}))
	require.Equal(t, "hm<think></think>", said.Text.String())
	require.Equal(t, "hm", said.Deltas.String())
	require.Equal(t, "201", said.Status.Text())
	require.Equal(t, reference.Get("chunks").JSON(), said.Reference().Get("chunks").JSON())
	require.Equal(t, "node_finished n", foldKey(own(engine.EventNodeFinished, engine.Facts{Node: "n"})))
	end := End{Status: store.RunFailed, Code: "c", Error: "e"}
	r := end.record()
	r.Data = nil
	require.Equal(t, end, EndOf(r))
}

// The facts of a large event do not stay in memory with it.
func TestFactsOfLargeEventsAreNotKept(t *testing.T) {
	b := newBench(t)
	j := b.start(Job{Canvas: b.Canvas(largeWaiting(2 * mostKnown)), Query: engine.String("x")})
	large := 0
	b.Gate <- struct{}{}
	for _, r := range b.read(j.ID) {
		if len(r.Data) > mostKnown && r.Kind != KindDocument {
			large++
			require.Nil(t, r.Known, r.Kind)
		}
	}
	require.Positive(t, large)
}
