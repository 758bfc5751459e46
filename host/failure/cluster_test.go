package failure_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// runLog requests the state of the run log's stream from NATS.
func (w *world) runLog() *jetstream.StreamInfo { return w.stream("easel_LOG") }

// stream requests the state of a stream from NATS.
func (w *world) stream(name string) *jetstream.StreamInfo {
	w.t.Helper()
	nc, err := nats.Connect(
		w.natsURLs()[0],
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(100*time.Millisecond),
	)
	require.NoError(w.t, err)
	defer nc.Close()
	require.NoError(w.t, nc.SetServerPool(w.natsURLs()))
	js, err := jetstream.New(nc)
	require.NoError(w.t, err)
	var info *jetstream.StreamInfo
	require.Eventually(w.t, func() bool {
		ctx, stop := context.WithTimeout(w.t.Context(), 2*time.Second)
		defer stop()
		stream, err := js.Stream(ctx, name)
		if err != nil {
			return false
		}
		info, err = stream.Info(ctx)
		return err == nil && (info.Cluster == nil || info.Cluster.Leader != "")
	}, patience, 50*time.Millisecond, "NATS does not answer")
	return info
}

// leader returns the server that leads the run log.
func (w *world) leader() *servertest.NATS { return w.leaderOf("easel_LOG") }

func (w *world) leaderOf(stream string) *servertest.NATS {
	w.t.Helper()
	name := w.stream(stream).Cluster.Leader
	for _, n := range w.nats {
		if n.Name == name {
			return n
		}
	}
	require.FailNow(w.t, "no server is "+name)
	return nil
}

// clusterOfThree stores every message on three servers and loses hosts and servers one after the
// other.
func clusterOfThree(t *testing.T, bin programs) {
	w := shared(t, bin, 3)
	a := w.start("a")
	w.start("b")
	w.killOwner(a)
	w.killLeader(w.start("a"))
}

// whole waits until each server has all messages: three copies tolerate the loss of one server at a
// time, and one that has just returned may lack the newest messages.
func (w *world) whole() {
	w.t.Helper()
	for _, name := range []string{"easel_RUNS", "easel_LOG", "easel_OWN", "easel_KEYS", "OBJ_easel_files"} {
		for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
			replicas := w.stream(name).Cluster.Replicas
			if len(replicas) == len(w.nats)-1 &&
				!slices.ContainsFunc(replicas, func(p *jetstream.PeerInfo) bool { return !p.Current || p.Offline }) {
				break
			}
			require.True(w.t, time.Now().Before(deadline), "stream %s has late copies: %+v", name, replicas)
		}
	}
}

// killLeader kills the server that leads the run log in the middle of a run. An election takes
// seconds.
func (w *world) killLeader(h *hostProcess) {
	w.whole()
	leader := w.leader()
	query := fmt.Sprint("leader-killed-", leader.PID())
	arrived, release := w.outside.hold("/" + query + "/4")
	c := w.conversation(h, query)
	<-arrived
	leader.Kill()
	release()
	c.requireDone()
	requireGap(w.t, c.reader, 60*time.Second)
	require.NoError(w.t, leader.Restart())
}
