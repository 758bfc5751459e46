package memlimit

// connectionMemory is the share of the memory limit per open connection: an idle one takes 15 KiB,
// one with a stream two to three times that.
const connectionMemory = 64 << 10

// Connections returns how many open connections a process with a memory limit may have.
func Connections(limit int64) int { return int(max(1000, limit/connectionMemory)) }
