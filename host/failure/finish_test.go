package failure_test

import (
	"database/sql"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// finishRace kills a host at the two worst moments of a run's end: when the result is about to be
// written into the session, and when it has been written and is not in the log yet. The
// session has the turn once.
//
// The host has no test hooks: a lock in the database delays the write, a disconnected NATS the end
// of the log.
func finishRace(t *testing.T, bin programs) {
	w := shared(t, bin, 1)
	db, err := sql.Open("pgx", w.postgres.URL)
	require.NoError(t, err)
	defer db.Close()

	t.Log("before the session is written")
	a := w.start("a")
	w.start("b")
	locked, free := w.lockSessions(db, a, "before")
	w.kill(a)
	free()
	locked.requireDone()

	t.Log("between the session and the log")
	proxy := newLossyProxy(t, w.nats[0].URL, func([]byte) bool { return false })
	a = w.start("a", "--nats", proxy.url)
	w.hide(a) // its own readers have the end when the result is saved; those of others get it from the log
	locked, free = w.lockSessions(db, a, "between")
	proxy.mute.Store(true)
	free()
	require.Eventually(t, func() bool {
		var last string
		err := db.QueryRow(`SELECT last_run_id FROM sessions WHERE id = $1`, locked.session).Scan(&last)
		return err == nil && last == locked.run
	}, patience, 10*time.Millisecond, "the result is in the session")
	w.kill(a)
	locked.requireDone()
	require.Greater(t, locked.reader.gap, lease/2, "the other host had to end the run")
}

// lockSessions runs a turn until it writes its session, and lets it continue with free.
func (w *world) lockSessions(db *sql.DB, h *hostProcess, query string) (c *conversation, free func()) {
	t := w.t
	t.Helper()
	arrived, release := w.outside.hold("/" + query + "/8")
	c = w.conversation(h, query)
	<-arrived
	tx, err := db.Begin()
	require.NoError(t, err)
	_, err = tx.Exec(`LOCK TABLE sessions IN EXCLUSIVE MODE`)
	require.NoError(t, err)
	release()
	require.Eventually(t, func() bool {
		var waiting int
		err := db.QueryRow(`SELECT count(*) FROM pg_locks WHERE NOT granted`).Scan(&waiting)
		return err == nil && waiting > 0
	}, patience, 10*time.Millisecond, "the host waits for the lock")
	return c, func() { require.NoError(t, tx.Commit()) }
}
