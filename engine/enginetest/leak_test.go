package enginetest_test

import (
	"os"
	"testing"

	"github.com/easel-canvas/easel/engine/enginetest"
)

// TestMain fails when a run leaves a goroutine behind.
func TestMain(m *testing.M) { os.Exit(enginetest.RunWithoutLeaks(m, os.Stderr)) }
