package component_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/easel-canvas/easel/engine/enginetest"
)

// TestMain fails when a run leaves a goroutine behind.
func TestMain(m *testing.M) {
	code := m.Run()
	if left := enginetest.Leaks(2 * time.Second); left != "" && code == 0 {
		fmt.Fprintf(os.Stderr, "goroutines are left behind:\n%s", left)
		code = 1
	}
	os.Exit(code)
}
