package script

import (
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"time"

	"github.com/easel-canvas/easel/host/internal/code/worker"
)

// running counts the watched scripts, which share the measured growth of the process.
var running atomic.Int64

// garbage is the multiple of the limit by which the heap may grow including garbage.
const garbage = 3

// watchMemory calls interrupt when the heap has grown by more than limit for each running script.
// The interpreter does not count its memory, so this samples the whole process every few
// milliseconds: enough to stop a script that allocates without end, but not a strict bound. stop
// ends the watch.
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

// watch monitors the memory for one script. Its goroutine owns all fields but done.
type watch struct {
	limit     int64
	interrupt func(any)
	done      chan struct{}
	live, all int64         // the minimum since the script started
	collected chan struct{} // closed after the requested collection; nil if none was requested
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
			w.interrupt(worker.MemoryError(w.limit))
			return
		}
	}
}

// over reports whether the script uses too much memory. The memory that was live at the last
// collection may belong to an earlier script, so a new collection confirms it, unless the growth
// leaves no time for that.
func (w *watch) over(confirmed bool) bool {
	live, all := heap()
	// Memory that was garbage at the start is not growth.
	w.live, w.all = min(w.live, live), min(w.all, all)
	limit := w.limit * running.Load()
	switch {
	case all-w.all >= garbage*limit:
		return true
	case live-w.live < limit || w.collected != nil:
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

// heap returns the bytes that were live after the last garbage collection, and the current bytes
// including garbage.
func heap() (live, all int64) {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64()), int64(sample[1].Value.Uint64())
}
