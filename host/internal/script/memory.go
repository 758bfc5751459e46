package script

import (
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// running is how many scripts are watched; they share the blame for what the process holds.
var running atomic.Int64

// garbage is how many times the limit a process may grow by memory that nobody may hold any more.
const garbage = 3

// watchMemory interrupts when the process has grown by more than limit for each running script. The
// interpreter keeps no count of its own, so this is a measurement of the whole process every few
// milliseconds: good enough to stop a script that collects without end, not a wall. The function it
// gives ends the watch.
func watchMemory(limit int64, interrupt func(any)) (stop func()) {
	running.Add(1)
	w := &watch{limit: limit, interrupt: interrupt, done: make(chan struct{})}
	w.live, w.all = heap()
	go w.loop()
	return func() {
		close(w.done)
		running.Add(-1)
	}
}

// watch is one script under watch. Its goroutine owns everything but done.
type watch struct {
	limit     int64
	interrupt func(any)
	done      chan struct{}
	live, all int64         // the least there was since the script began
	collected chan struct{} // closed when a collection has ended that was asked for; nil without one
}

func (w *watch) loop() {
	tick := time.NewTicker(3 * time.Millisecond)
	defer tick.Stop()
	for {
		confirmed := false
		select {
		case <-w.done:
			return
		case <-w.collected:
			w.collected, confirmed = nil, true
		case <-tick.C:
		}
		if w.over(confirmed) {
			w.interrupt(memoryError(w.limit))
			return
		}
	}
}

// over reports whether the script holds too much. What was alive at the last collection may be the
// remains of an earlier script, so a collection of its own confirms it, unless there is no time for
// that.
func (w *watch) over(confirmed bool) bool {
	live, all := heap()
	// What was garbage at the start is none of the script's growth.
	w.live, w.all = min(w.live, live), min(w.all, all)
	most := w.limit * running.Load()
	switch {
	case all-w.all >= garbage*most:
		return true
	case live-w.live < most || w.collected != nil:
		return false
	case !confirmed:
		c := make(chan struct{})
		w.collected = c
		go func() {
			runtime.GC()
			close(c)
		}()
		return false
	}
	return true
}

// heap is how many bytes were held when garbage was last collected, and how many there are with
// garbage since.
func heap() (live, all int64) {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64()), int64(sample[1].Value.Uint64())
}
