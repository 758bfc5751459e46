package enginetest

import (
	"bytes"
	"runtime"
	"time"
)

// Leaks gives the stacks of goroutines that still run code of the engine, apart from the caller's. Those that are
// about to end get until patience is over; "" means that none is left. A TestMain asks for it after its tests.
func Leaks(patience time.Duration) string {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); ; <-tick.C {
		left := engineStacks()
		if left == "" || time.Now().After(end) {
			return left
		}
	}
}

// engineStacks are the stacks of all other goroutines in which code of this module runs.
func engineStacks() string {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	var left bytes.Buffer
	for i, stack := range bytes.Split(buf, []byte("\n\n")) {
		if i > 0 && bytes.Contains(stack, []byte("easel-canvas/easel/engine")) {
			left.Write(append(stack, "\n\n"...))
		}
	}
	return left.String()
}
