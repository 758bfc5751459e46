package main

import (
	"syscall/js"
	"time"
)

// main hands the kick to the host and waits. The kick has no body: entering Go through it runs
// every goroutine that is ready. The program never ends by itself: a timer of the host that is
// still to come may not meet one that has ended, and one that rests is collected with the page's
// other garbage.
func main() {
	js.Global().Call("easel_boot", js.FuncOf(func(js.Value, []js.Value) any { return nil }))
	select {}
}

// slice is how long goroutines may run before the host's own events get a turn: a cancel must be
// heard.
const slice = 20 * time.Millisecond

// entered is when the host last had its turn.
var entered time.Time

func enter() { entered = time.Now() }

// breathe lets the host have its turn when the last one is long ago. It is called between events,
// by goroutines that may wait.
func breathe() {
	if time.Since(entered) > slice {
		time.Sleep(time.Millisecond) // a timer of the host: it wakes Go again
		enter()
	}
}

// settle does nothing here: the host kicks after each export.
func settle() {}
