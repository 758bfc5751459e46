package walguard

import (
	"bytes"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// tornHead is a head of which a writer writes one copy, and the other at a time.
type tornHead struct{ until time.Time }

func (h tornHead) ReadAt(b []byte, _ int64) (int, error) {
	clear(b)
	if time.Now().Before(h.until) {
		b[indexHead] = 1
	}
	return len(b), nil
}

// A writer that waits for the processor between the copies of a head fails no commit of others; one
// that was killed there is reported.
func TestReadStateWaitsForAWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if _, err := readState(tornHead{time.Now().Add(5 * time.Second)}); err != nil {
			t.Error(err)
		}
		if _, err := readState(tornHead{time.Now().Add(time.Hour)}); !errors.Is(err, errIndex) {
			t.Errorf("got %v, want %v", err, errIndex)
		}
		if _, err := readState(bytes.NewReader(nil)); err == nil {
			t.Error("an empty head has a state")
		}
	})
}
