package main

import (
	"slices"
	"strings"
)

// The execution tracer of the runtime (runtime/trace) is linked into every program, although only
// runtime.StartTrace can turn it on: 60 KB that never run in a program without that function.

// starter turns the tracer on; the linker omits it where nothing calls it.
const starter = "runtime.StartTrace"

// tracerNames are functions, and prefixes of methods, that run only while the tracer is on.
var tracerNames = []string{
	"runtime.traceLocker.", "runtime.traceWriter.", "runtime.traceExpWriter.", "runtime.traceEventWriter.",
	"runtime.(*traceBuf).", "runtime.(*traceMap).", "runtime.(*traceStackTable).", "runtime.(*traceStringTable).",
	"runtime.(*traceTypeTable).", "runtime.(*traceRegionAlloc).", "runtime.(*traceSchedResourceState).",
	"runtime.traceAdvance", "runtime.traceReadCPU", "runtime.traceStack", "runtime.traceCPUFlush",
	"runtime.traceStartReadCPU", "runtime.traceStopReadCPU", "runtime.traceFrequency", "runtime.traceSyncBatch",
	"runtime.traceSnapshotMemory", "runtime.traceRegisterLabelsAndReasons", "runtime.traceBufFlush",
	"runtime.unsafeTraceWriter", "runtime.unsafeTraceExpWriter",
}

// stillUsed are methods that run while the tracer is off.
var stillUsed = []string{"runtime.traceLocker.ok"}

// unreachable is the body of a function that is never called: no locals, unreachable, end.
var unreachable = []byte{0, 0x00, 0x0b}

// tracer returns the functions that only the tracer uses; none if it can be started.
func tracer(mem []byte) (map[int]bool, error) {
	f, err := findFunctions(mem)
	if err != nil {
		return nil, err
	}
	unused := map[int]bool{}
	for i, name := range f.all() {
		if name == starter {
			return nil, nil
		}
		if ofTracer(name) {
			unused[i] = true
		}
	}
	return unused, nil
}

func ofTracer(name string) bool {
	return !slices.Contains(stillUsed, name) && slices.ContainsFunc(tracerNames, func(s string) bool {
		return name == s || strings.HasSuffix(s, ".") && strings.HasPrefix(name, s) || strings.HasPrefix(name, s+".")
	})
}
