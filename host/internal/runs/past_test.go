package runs

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/testing/runstest"
)

// speech is a canvas of n messages of the query, a node that waits, and a last message.
func speech(n int) string {
	lines := []string{"begin Begin"}
	for i := range n {
		lines = append(lines, fmt.Sprintf(`Message:M%d Message {"content":["%d {sys.query} "]}`, i, i))
	}
	return sketch.Chain(append(lines, "Wait:W Wait", `Message:B Message {"content":["{Wait:W@result}"]}`)...)
}

// TestTakeOverReadsFromTheLastSnapshot hands a run of many megabytes over. The
// next host reads a small part of it, and the turn has every word.
func TestTakeOverReadsFromTheLastSnapshot(t *testing.T) {
	b := newBench(t)
	const messages = 80
	dsl := speech(messages)
	canvas := b.Canvas(dsl)
	session := b.Session(canvas, dsl)
	query := strings.Repeat("x", 20<<10)
	j := b.start(Job{Canvas: canvas, Session: session, Keep: KeepSession, Query: engine.String(query)})
	require.Eventually(t, func() bool { return b.Ran.Load() == 1 }, runstest.Patience, time.Millisecond)
	all, err := b.runs.Records(t.Context(), j.ID)
	require.NoError(t, err)
	b.Close()
	read := make(chan past, 1)
	b.other = func(ctx context.Context, r *Runs, e *runlog.Lease) error {
		p, err := r.takeovers.past(context.WithoutCancel(ctx), e)
		read <- p
		if err != nil {
			return err
		}
		return r.takeovers.takeOver(ctx, e)
	}
	b.Open()
	p := <-read
	require.Equal(t, dsl, string(p.doc))
	t.Logf("%d records of %d bytes, read %d of %d", len(all), size(all), len(p.records), size(p.records))
	require.Less(t, size(p.records), size(all)/2)
	require.Equal(t, string(engine.EventSnapshot), p.records[0].Kind)

	require.Eventually(t, func() bool { return b.Ran.Load() == 2 }, runstest.Patience, time.Millisecond)
	b.Gate <- struct{}{}
	records := b.read(j.ID)
	require.Regexp(t, "node_started:W takeover node_finished:W node_started:B message message_end node_finished:B workflow_finished end$", kinds(records))
	var whole Transcript
	for _, r := range records {
		whole.Take(r)
	}
	v, err := b.Store.Sessions.Get(t.Context(), "t", session)
	require.NoError(t, err)
	turns, err := engine.ParseJSON(v.Messages)
	require.NoError(t, err)
	require.Equal(t, whole.Text.String(), turns.At(1).Get("content").Str())
	require.Equal(t, messages, strings.Count(whole.Text.String(), query))
	require.True(t, strings.HasSuffix(whole.Text.String(), "waited"))
}

func size(records []runlog.Record) (n int) {
	for _, r := range records {
		n += len(r.Data)
	}
	return n
}

func TestSummary(t *testing.T) {
	var said Transcript
	for _, r := range script("+a t m:hm /t m:one end -a +b m:two m:three") {
		said.Take(r)
	}
	data := appendSummary(nil, sketch.Bytes(), &said)
	doc, again, err := readSummary(data)
	require.NoError(t, err)
	require.Equal(t, sketch.Canvas(), string(doc))
	require.Equal(t, string(said.value().AppendJSON(nil)), string(again.value().AppendJSON(nil)))
	for _, r := range script("m:four end") {
		said.Take(r)
		again.Take(r)
	}
	require.Equal(t, "<think>hm</think>onetwothreefour", again.Text.String())
	require.Equal(t, said.Text.String(), again.Text.String())
	for i := range data {
		_, _, err := readSummary(data[:i])
		require.Error(t, err, "cut at %d", i)
	}
}

// BenchmarkTakeOver measures how the next host reads a run before it continues: from the last
// snapshot, and from the whole log as a watcher of the past does.
func BenchmarkTakeOver(b *testing.B) {
	for _, messages := range []int{40, 200} {
		w := newBench(b)
		dsl := speech(messages)
		j := w.start(Job{Canvas: w.Canvas(dsl), Query: engine.String(strings.Repeat("x", 20<<10))})
		require.Eventually(b, func() bool { return w.Ran.Load() == 1 }, 2*time.Minute, time.Millisecond)
		w.Close()
		leases, done := make(chan *runlog.Lease), make(chan struct{})
		w.other = func(_ context.Context, _ *Runs, e *runlog.Lease) error {
			leases <- e
			<-done
			return nil
		}
		w.Open()
		lease := <-leases
		for _, whole := range []bool{false, true} {
			b.Run(fmt.Sprintf("messages=%d/whole=%v", messages, whole), func(b *testing.B) {
				w.runs.takeovers.readAll = whole
				for b.Loop() {
					p, err := w.runs.takeovers.past(b.Context(), lease)
					require.NoError(b, err)
					_, _, err = w.runs.takeovers.rebuild(j, lease, p)
					require.NoError(b, err)
					b.ReportMetric(float64(size(p.records))/1e6, "MB-read")
				}
			})
		}
		close(done)
	}
}
