package runlog

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestEventsThatWereSentAndNotStoredAreReplaced follows a run on the host that owns it and loses
// it, while another host takes it over: the reader then has records that were never stored, and
// gets those that replace them.
func TestEventsThatWereSentAndNotStoredAreReplaced(t *testing.T) {
	l, c, _, _ := external(t)
	other := openTest(t, setup{URLs: c.Config.URLs})
	ctx := t.Context()
	e, err := l.Claim(ctx, Run{ID: "r"})
	require.NoError(t, err)
	_, err = e.Append(ctx, rec("ev", "stored"))
	require.NoError(t, err)
	e.log.cfg.FlushInterval = time.Hour // what is buffered now is not stored
	for i := range 3 {
		require.NoError(t, e.Buffer(ctx, rec("ev", fmt.Sprint("told ", i))))
	}
	got := make(chan Record)
	ended := make(chan error, 1)
	go func() {
		ended <- l.Follow(ctx, "r", Pos{}, func(r Record) bool {
			got <- r
			return true
		})
	}()
	for _, want := range []string{"1 ev stored", "2 ev told 0", "3 ev told 1", "4 ev told 2"} {
		require.Equal(t, []string{want}, texts([]Record{<-got}))
	}
	next, err := other.take(ctx, Run{ID: "r", From: e.owner})
	require.NoError(t, err)
	_, err = next.Append(ctx, rec("ev", "again 0"), rec("ev", "again 1"))
	require.NoError(t, err)
	_, err = e.Append(ctx, rec("ev", "too late"))
	require.ErrorIs(t, err, ErrFenced)
	for _, want := range []string{"2 ev again 0", "3 ev again 1"} {
		require.Equal(t, []string{want}, texts([]Record{<-got}))
	}
	go func() { _ = next.End(ctx, rec("ev", "end")) }()
	require.Equal(t, []string{"4 ev end"}, texts([]Record{<-got}))
	require.NoError(t, <-ended)
}
