package main

import (
	"runtime"
	"runtime/metrics"
)

// main is not called: a WASI host calls _initialize, then the exports.
func main() {}

func enter() {}

// breathe does nothing: a WASI host cannot act while an export runs.
func breathe() {}

var runnable = []metrics.Sample{{Name: "/sched/goroutines/runnable:goroutines"}}

// settle runs the other goroutines until none is ready. They are parked once the export returns,
// also those that a timer would wake: a waiting host must call an export at intervals, such as
// deliver for a call that does not exist.
func settle() {
	for {
		for range 8 {
			runtime.Gosched()
		}
		metrics.Read(runnable)
		if runnable[0].Value.Uint64() == 0 {
			return
		}
	}
}
