package memlimit

import (
	"os"
	"runtime/metrics"
	"strconv"
	"strings"
)

// Usage is the memory use of this process in bytes.
type Usage struct {
	// Live is the live heap after the last garbage collection, plus stacks.
	Live int64
	// Resident is the resident set size.
	Resident int64
}

// Used reads the current memory use of this process.
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

// resident parses the second field of /proc/self/statm, which is in pages.
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
