package memlimit

import (
	"os"
	"runtime/metrics"
	"strconv"
	"strings"
)

// Usage is the memory of this process in bytes.
type Usage struct {
	// Live is what the last collection found in use, and stacks.
	Live int64
	// Resident is what the process takes of the machine's memory.
	Resident int64
}

// Used reads the memory of this process now.
func Used() Usage {
	samples := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/heap/stacks:bytes"},
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(samples)
	n := func(i int) int64 {
		if samples[i].Value.Kind() != metrics.KindUint64 {
			return 0
		}
		return int64(samples[i].Value.Uint64())
	}
	u := Usage{Live: n(0) + n(1), Resident: n(2) - n(3)}
	if pages := resident(readFile("/", "proc/self/statm")); pages > 0 {
		u.Resident = pages * int64(os.Getpagesize())
	}
	return u
}

// resident is the second field of /proc/self/statm, in pages.
func resident(statm string) int64 {
	field := strings.Fields(statm)
	if len(field) < 2 {
		return 0
	}
	n, err := strconv.ParseInt(field[1], 10, 64)
	if err != nil {
		return 0
	}
	return n
}
