package runs

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/runstest"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

var (
	sessionStates = map[string]sessionState{"free": sessionFree, "held": sessionHeld}
	rowStates     = map[string]rowState{"missing": rowMissing, "active": rowActive, "ended": rowEnded}
	logStates     = map[string]logState{
		"unread": logUnread, "empty": logEmpty, "begun": logBegun, "lost": logLost, "ended": logEnded,
	}
)

func TestRecoveryIsComplete(t *testing.T) {
	used := map[int]bool{}
	for session, s := range sessionStates {
		for row, r := range rowStates {
			for log, l := range logStates {
				var matches []int
				for i, rule := range recovery {
					if rule.matches(situation{s, r, l}) {
						matches = append(matches, i)
						used[i] = true
					}
				}
				require.Len(t, matches, 1, "session %s, row %s, log %s", session, row, log)
			}
		}
	}
	require.Len(t, used, len(recovery), "a rule matches nothing")
}

// TestRecovery makes each situation that a dead host can leave, starts a host on it and takes a
// turn.
func TestRecovery(t *testing.T) {
	for session, s := range sessionStates {
		for row, r := range rowStates {
			for log, l := range logStates {
				if l == logUnread {
					continue
				}
				t.Run(fmt.Sprintf("session %s, row %s, log %s", session, row, log), func(t *testing.T) {
					t.Parallel()
					testRecovery(t, situation{s, r, l})
				})
			}
		}
	}
}

func testRecovery(t *testing.T, s situation) {
	b := newBench(t)
	b.only(drop)
	canvas := b.Canvas(runstest.Talk)
	j := Job{ID: "r", Message: "m", Tenant: "t", Canvas: canvas, Keep: KeepSession, Query: engine.String("first")}
	v := store.Session{ID: "s", Tenant: "t", Canvas: canvas, DSL: []byte(runstest.Talk), Messages: []byte("[]")}
	if s.session == sessionHeld {
		v.Run = j.ID
	}
	_, err := b.Store.Sessions.Create(t.Context(), v)
	require.NoError(t, err)
	j.Session = v.ID
	b.leave(s, j)

	var logged servertest.Output
	b.other = nil
	b.logger = slog.New(slog.NewTextHandler(&logged, nil))
	b.Open()
	require.Equal(t, "You said next", b.requireTurn(canvas, v.ID, "next"))

	if orphan := decide(s) == freeSession; s.row != rowMissing || s.log != logBegun { // that one may end first
		require.Equal(t, orphan, strings.Contains(logged.String(), "session=s held_by=r"), &logged)
	}
	b.requireRow(s)
}

// leave puts a run into a situation and closes the bench.
func (b *bench) leave(s situation, j Job) {
	t := b.T
	data, err := json.Marshal(&j)
	require.NoError(t, err)
	if s.row != rowMissing {
		row := store.Run{ID: j.ID, Tenant: "t", Canvas: j.Canvas, Session: j.Session, Message: "m", Input: data}
		require.NoError(t, b.Store.Runs.Start(t.Context(), row))
	}
	if s.row == rowEnded {
		_, err := b.Store.Runs.End(t.Context(), store.RunEnd{ID: j.ID, Status: store.RunDone}, nil)
		require.NoError(t, err)
	}
	begun := b.read(b.start(Job{Canvas: j.Canvas, Query: j.Query}).ID)
	snapshot := slices.IndexFunc(begun, func(r runlog.Record) bool { return r.Kind == string(engine.EventSnapshot) })
	begun = begun[:snapshot+1]
	if s.log == logEmpty {
		b.Close()
		return
	}
	lease, err := b.Log.Claim(t.Context(), runlog.Run{ID: j.ID, Data: data})
	require.NoError(t, err)
	if s.log == logEnded {
		require.NoError(t, lease.End(t.Context(), End{Status: store.RunFailed}.record()))
		b.Close()
		return
	}
	_, err = lease.Append(t.Context(), begun...)
	require.NoError(t, err)
	b.Close() // hands the run over
	if s.log == logLost {
		forget(b.T.(*testing.T), b.Dir)
	}
}

// requireRow waits for what recovery makes of the row.
func (b *bench) requireRow(s situation) {
	t := b.T
	if s.row == rowMissing {
		return
	}
	want := store.RunDone
	if s.row == rowActive && s.log == logEnded {
		want = store.RunFailed
	}
	var row store.Run
	require.Eventually(t, func() bool {
		var err error
		row, err = b.Store.Runs.Get(t.Context(), "t", "r")
		require.NoError(t, err)
		return row.Status != store.RunActive
	}, runstest.Patience, time.Millisecond)
	require.Equal(t, want, row.Status, row.Error)
}
