package enginetest

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"time"
)

// RunWithoutLeaks runs the tests of a package and returns the exit code for TestMain. A goroutine
// that a run leaves behind is a failure, and its stack is written to report:
//
//	func TestMain(m *testing.M) { os.Exit(enginetest.RunWithoutLeaks(m, os.Stderr)) }
func RunWithoutLeaks(tests interface{ Run() int }, report io.Writer) int {
	code := tests.Run()
	if left := Leaks(30 * time.Second); left != "" && code == 0 {
		fmt.Fprintf(report, "goroutines are left behind:\n%s", left)
		return 1
	}
	return code
}

// Leaks returns the stacks of goroutines that still run code of the engine, apart from the
// caller's. Those that are about to end have until patience is over; "" means that none is left.
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

// engineStacks returns the stacks of all other goroutines in which code of this module runs.
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
