package engine_test

import (
	"os"
	"testing"

	"github.com/easel-canvas/easel/engine/enginetest"
)

// TestMain fails when a run leaves a goroutine behind.
func TestMain(m *testing.M) { os.Exit(enginetest.RunWithoutLeaks(m, os.Stderr)) }

// TestLeaksAreFound tests the check: it reports a goroutine that hangs in the engine's code, until
// that ends.
func TestLeaksAreFound(t *testing.T) {
	hang, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		stayUntil(hang)
	}()
	if enginetest.Leaks(0) == "" {
		t.Error("a goroutine that hangs is not seen")
	}
	close(hang)
	<-ended
}

func stayUntil(until chan struct{}) { <-until }
