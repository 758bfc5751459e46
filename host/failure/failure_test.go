package failure_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestFailures kills, freezes and disconnects every process. Each scenario has its own servers; the
// number of concurrent ones is set by -parallel.
func TestFailures(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers and waits for leases to end")
	}
	bin := buildPrograms(t)
	for _, s := range []struct {
		name string
		test func(t *testing.T, bin programs)
	}{
		{"cluster", clusterOfThree}, // the longest one first
		{"hostile bodies", hostileBodies},
		{"hostile documents", hostileDocuments},
		{"kill host, embedded", killHostEmbedded},
		{"kill host, shared", killHostShared},
		{"traces, embedded", func(t *testing.T, bin programs) { tracesAfterKills(t, bin, 4) }},
		{"kill ingestion, embedded", killIngestEmbedded},
		{"kill ingestion, shared", killIngestShared},
		{"zombie", zombie},
		{"approval on another host", approvalOnAnotherHost},
		{"approval of a tool on another host", toolApprovalOnAnotherHost},
		{"answers on three hosts", answersOnThreeHosts},
		{"kill and freeze store", killAndFreezeStore},
		{"kill all", killAll},
		{"reader hop", readerHop},
		{"slow consumer", slowConsumer},
		{"cancel", cancelOnAllWays},
		{"poison", poison},
		{"poison, embedded", poisonEmbedded},
		{"growing canvases", growingCanvases},
		{"hostile scripts", hostileScripts},
		{"odd requests", oddRequestsShort},
		{"mutants", mutantsShort},
		{"large canvases", largeCanvases},
		{"long conversation", longConversation},
		{"out of memory", deathOfMemory},
		{"finish race", finishRace},
		{"turns, embedded", turnsEmbedded},
		{"turns, shared", turnsShared},
		{"stop with waiting turns", stopWithWaitingTurns},
		{"lost ack", lostAck},
		{"sql both", sqlBoth},
		{"disk full", diskFull},
		{"disk read-only", readOnlyDisk},
		{"disk error", diskError},
		{"no quorum", noQuorum},
		{"late servers", lateServers},
		{"power cut, contract", powerCutContract},
		{"power cut, always", powerCutAlways},
		{"power cut, interval", powerCutInterval},
		{"power cut, shared", powerCutShared},
	} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.test(t, bin)
		})
	}
}

// steps is the length of the chains.
const steps = 8

// requireGap bounds the longest silence of a reader, far above measured values: lease + 1 s when a
// host is lost, seconds for an election.
func requireGap(t testing.TB, r *reader, most time.Duration) {
	t.Helper()
	require.Less(t, r.gap, most)
}

// killHostEmbedded kills the only host in the middle of steps and starts it again on its directory.
func killHostEmbedded(t *testing.T, bin programs) {
	w := embedded(t, bin)
	h := w.start("a")
	arrived3, release3 := w.outside.hold("/q/3")
	arrived6, release6 := w.outside.hold("/q/6")
	c := w.conversation(h, "q")
	<-arrived3
	w.kill(h)
	release3()
	h = w.start("a")
	<-arrived6
	w.kill(h)
	release6()
	w.start("a")
	c.requireDone()
}

func killHostShared(t *testing.T, bin programs) {
	w := shared(t, bin, 1)
	a := w.start("a")
	w.start("b")
	w.start("c")
	w.killOwner(a)
}

// killOwner kills a run's host while it waits for the outside.
func (w *world) killOwner(owner *hostProcess) {
	query := "kill-" + owner.name
	arrived, release := w.outside.hold("/" + query + "/4")
	c := w.conversation(owner, query)
	<-arrived // after the client has the answer to its request
	w.kill(owner)
	release()
	c.requireDone()
	require.Equal(w.t, 2, w.outside.times("/"+query+"/4"), "the step that was cut is done again, and no other")
	requireGap(w.t, c.reader, 10*lease)
}

// zombie freezes a run's host for three leases. It resumes with the answer to its step, and writes
// nothing.
func zombie(t *testing.T, bin programs) {
	w := shared(t, bin, 1)
	a := w.start("a")
	w.start("b")
	w.freezeOwner(a)
}

func (w *world) freezeOwner(owner *hostProcess) {
	query := "freeze-" + owner.name
	step := "/" + query + "/4"
	arrived, release := w.outside.hold(step)
	c := w.conversation(owner, query)
	<-arrived
	w.hide(owner)
	require.NoError(w.t, owner.Freeze())
	frozen := time.Now()
	require.Eventually(
		w.t,
		func() bool { return w.outside.times(step) == 2 },
		patience,
		20*time.Millisecond,
		"the other host continues",
	)
	release()
	all := c.requireDone()
	time.Sleep(time.Until(frozen.Add(3 * lease)))
	require.NoError(w.t, owner.Thaw())
	_, err := owner.Line(`time=`, "run is another host's now", "run="+c.run)
	require.NoError(w.t, err, "the old host notices")
	requireSame(w.t, all, w.events(c.run))
	require.Eventually(
		w.t,
		func() bool { return metric(owner.url, "easel_runs_active") == 0 },
		patience,
		20*time.Millisecond,
	)
	// It works again like any other host.
	w.show(owner)
	w.conversation(owner, query+"-again").requireDone()
	requireGap(w.t, c.reader, 10*lease)
}

// killAndFreezeStore kills and freezes the servers of the run log and then of the records during
// runs.
func killAndFreezeStore(t *testing.T, bin programs) {
	w := shared(t, bin, 1)
	h := w.start("a")
	w.start("b")
	nats := w.nats[0]

	arrived, release := w.outside.hold("/nats-killed/4")
	c := w.conversation(h, "nats-killed")
	<-arrived
	away := time.Now()
	nats.Kill()
	release()
	time.Sleep(time.Second)
	require.NoError(t, nats.Restart())
	down := time.Since(away)
	c.requireDone()
	requireGap(t, c.reader, down+20*time.Second)

	arrived, release = w.outside.hold("/nats-frozen/4")
	c = w.conversation(h, "nats-frozen")
	<-arrived
	away = time.Now()
	require.NoError(t, nats.Freeze())
	release()
	time.Sleep(lease + time.Second)
	require.NoError(t, nats.Thaw())
	down = time.Since(away)
	c.requireDone()
	requireGap(t, c.reader, down+20*time.Second)

	// The records are used at the beginning and at the end of a run, not between.
	arrived, release = w.outside.hold("/postgres-killed/4")
	c = w.conversation(h, "postgres-killed")
	<-arrived
	w.postgres.Kill()
	release()
	status, err := w.try(t.Context(), "POST", h.url+"/api/v2/canvases/"+c.canvas+"/runs", `{"query":"x"}`, nil)
	require.Equal(t, 503, status, "%v", err)
	time.Sleep(time.Second)
	require.NoError(t, w.postgres.Restart())
	c.requireDone()
}

// killAll kills all hosts, all servers, and starts them again.
func killAll(t *testing.T, bin programs) {
	w := shared(t, bin, 1)
	w.killEverything()
}

func (w *world) killEverything() {
	a, b := w.start("a"), w.start("b")
	arrived, release := w.outside.hold("/all/4")
	c := w.conversation(a, "all")
	<-arrived
	for _, h := range []*hostProcess{a, b} {
		w.kill(h)
	}
	for _, n := range w.nats {
		n.Kill()
	}
	w.postgres.Kill()
	release()
	require.NoError(w.t, w.postgres.Restart())
	for _, n := range w.nats {
		require.NoError(w.t, n.Restart())
	}
	w.start("a")
	w.start("b")
	c.requireDone()
	for i := 1; i < 4; i++ {
		require.Equal(w.t, 1, w.outside.times(fmt.Sprintf("/all/%d", i)), "the run continues from its checkpoint")
	}
}

// readerHop reads a talkative run over many connections to alternating hosts.
func readerHop(t *testing.T, bin programs) {
	w := shared(t, bin, 1)
	a := w.start("a")
	w.start("b")
	canvas := w.canvas(talk)
	run := w.run(a, canvas, "", "words:1000")
	hoppers := []*reader{w.follow(run, 1, nil), w.follow(run, 7, nil), w.follow(run, 50, nil)}
	for _, r := range hoppers {
		<-r.done
	}
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "word%d ", i)
	}
	for _, r := range hoppers {
		require.Contains(t, answer(t, r.wait()), text.String())
		require.Zero(t, r.replaced, "no host died")
	}
}

// poison is a run that kills each host that works on it. It fails, and its session is free
// again.
func poison(t *testing.T, bin programs) {
	w := shared(t, bin, 1)
	a := w.start("a")
	w.start("b")
	w.poison(a)
}

// poisonEmbedded kills the only host in the first moments of the run, each time.
func poisonEmbedded(t *testing.T, bin programs) {
	w := embedded(t, bin)
	w.poison(w.start("a"))
}

func (w *world) poison(a *hostProcess) {
	t := w.t
	const most = 5 // the host's default
	deaths, accepted := 0, make(chan struct{})
	var deadly func()
	deadly = func() {
		<-accepted
		if deaths++; deaths > most {
			t.Error("the run is tried too often")
			return
		}
		w.outside.once("/poison/2", deadly)
		h := w.owner()
		w.kill(h)
		w.start(h.name)
	}
	w.outside.once("/poison/2", deadly)
	canvas := w.canvas(w.outside.chain(steps))
	session := w.session(canvas)
	run := w.run(a, canvas, session, "poison")
	close(accepted)
	r := w.follow(run, 0, nil)
	all := r.wait()
	require.Contains(t, all[len(all)-1].data, "is not tried again")
	require.Equal(t, most, deaths)
	status, problem := w.status(run)
	require.Equal(t, "failed", status)
	require.Contains(t, problem, "is not tried again")
	w.outside.once("/poison/2", func() {})
	w.mu.Lock()
	a = w.hosts[a.name]
	w.mu.Unlock()
	again := w.run(a, canvas, session, "fine")
	requireSteps(t, w.follow(again, 0, nil).wait(), steps)
}
