//go:build soak

package failure_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestFailuresInACluster are the long forms: everything that TestFailures does to one NATS server,
// on three that keep every message three times, and an election after the other.
func TestFailuresInACluster(t *testing.T) {
	w := shared(t, buildPrograms(t), 3)
	names := []string{"a", "b", "c"}
	for _, name := range names {
		w.start(name)
	}
	host := func(name string) *hostProcess { return w.hosts[name] }
	for _, name := range names {
		t.Log("kill the owner", name)
		w.killOwner(host(name))
		w.start(name)
	}
	t.Log("freeze the owner")
	w.freezeOwner(host("a"))
	for range 3 {
		t.Log("kill the leader")
		w.killLeader(host("b"))
	}
	t.Log("freeze the leader for 15 s")
	w.whole()
	arrived, release := w.outside.hold("/leader-frozen/4")
	c := w.conversation(host("a"), "leader-frozen")
	<-arrived
	leader := w.leader()
	require.NoError(t, leader.Freeze())
	release()
	time.Sleep(15 * time.Second)
	require.NoError(t, leader.Thaw())
	c.requireDone()
	requireGap(t, c.reader, 60*time.Second)
	for _, name := range names {
		w.kill(host(name))
	}
	t.Log("kill everything")
	w.killEverything()
}

// TestPowerCuts is the long form of the power cuts: each kind twenty times.
func TestPowerCuts(t *testing.T) {
	bin := buildPrograms(t)
	for _, sync := range []string{"contract", "always", "interval"} {
		t.Run(sync, func(t *testing.T) { powerCuts(t, onPower(t, bin), sync, 20) })
	}
	t.Run("shared", func(t *testing.T) { powerCuts(t, onPowerShared(t, bin), "always", 20) })
}
