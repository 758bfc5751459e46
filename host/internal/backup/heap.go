package backup

import (
	"io"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// Bounds of memory, in bytes.
const (
	heapStride = 4 << 20  // that is read between two adjustments of the limit
	heapGrowth = 16 << 20 // garbage of a backup
)

// heapLimit makes Go collect garbage earlier while backups are written. Otherwise it collects when
// the heap has doubled: a backup doubled a host of 400 MB, since NATS loads all blocks of the
// uploaded files and releases them to the garbage collector.
type heapLimit struct {
	mu      sync.Mutex
	backups int
	own     int64 // limit of the process without backups
	base    int64 // memory in use besides live objects
	read    int   // bytes since the last adjustment
}

// theHeap is the limit of this process: Go has one for all goroutines.
var theHeap heapLimit

// begin limits the heap until end has been called as often.
func (h *heapLimit) begin() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.backups++; h.backups == 1 {
		inUse, live := memoryInUse()
		h.own, h.base, h.read = debug.SetMemoryLimit(-1), inUse-live, 0
		h.adjust()
	}
}

func (h *heapLimit) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.backups--; h.backups == 0 {
		debug.SetMemoryLimit(h.own)
	}
}

// adjust follows the live objects, so that what other goroutines need is not taken for garbage.
func (h *heapLimit) adjust() {
	_, live := memoryInUse()
	debug.SetMemoryLimit(min(h.own, h.base+live+heapGrowth))
}

// count counts bytes that a backup has read.
func (h *heapLimit) count(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.read += n; h.read >= heapStride {
		h.read = 0
		h.adjust()
	}
}

// counting counts the bytes written to it.
type counting struct{ io.Writer }

func (c counting) Write(p []byte) (int, error) {
	theHeap.count(len(p))
	return c.Writer.Write(p)
}

// memoryInUse returns the bytes that the Go runtime has from the operating system, and those of
// objects that were live in the last collection.
func memoryInUse() (inUse, live int64) {
	s := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/gc/heap/live:bytes"},
	}
	metrics.Read(s)
	return int64(s[0].Value.Uint64() - s[1].Value.Uint64()), int64(s[2].Value.Uint64())
}
