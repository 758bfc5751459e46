package main

import (
	"syscall/js"
	"time"
)

// main passes the kick to the host and waits. The kick has no body: entering Go through it runs
// every goroutine that is ready. The program never ends by itself, because a pending timer of the
// host must not find an ended program, and an idle program is garbage-collected with the page.
func main() {
	js.Global().Call("easel_boot", js.FuncOf(func(js.Value, []js.Value) any { return nil }))
	select {}
}

// slice is the longest time that goroutines run before the host handles its events, such as a
// cancel.
const slice = 20 * time.Millisecond

// entered is the time at which the host last had control.
var entered time.Time

func enter() { entered = time.Now() }

// breathe yields to the host if the last time is longer ago than slice. It is called between
// events, by goroutines that may wait.
func breathe() {
	if time.Since(entered) > slice {
		time.Sleep(time.Millisecond) // a timer of the host: it wakes Go again
		enter()
	}
}

// settle does nothing here: the host kicks after each export.
func settle() {}
