package cli

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"

	"github.com/easel-canvas/easel/host/internal/limit/memlimit"
)

// byteSize is a flag for a number of bytes, as in 1073741824, 1GiB or 512MiB.
type byteSize int64

// String writes the size in the largest unit that fits it evenly.
func (b *byteSize) String() string {
	for _, u := range units {
		if n := int64(*b); n > 0 && u.bytes > 1 && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(*b), 10)
}

// Set parses a size.
func (b *byteSize) Set(text string) error {
	n, err := parseSize(text)
	if err != nil || n < 0 {
		return errors.New("not a size such as 1GiB, 512MiB or 1073741824")
	}
	*b = byteSize(n)
	return nil
}

// Get makes byteSize a [flag.Getter].
func (b *byteSize) Get() any { return *b }

// leastMemory is the smallest --memory; an idle host needs almost as much.
const leastMemory = 256 << 20

// heapShare is the soft limit of the heap in percent of the memory of the host. The rest is for the
// binary, memory mapped by the database and plugins, and growth during a collection.
const heapShare = 36

// limitMemory determines the memory that this host may use and sets the collector's soft limit to
// heapShare of it, unless the operator has set GOMEMLIMIT. The returned function restores the old
// limit.
func (s *server) limitMemory(getenv func(string) string) func() {
	if s.cfg.Memory = int64(s.memory); s.cfg.Memory == 0 {
		s.cfg.Memory = memlimit.Process()
	}
	before := debug.SetMemoryLimit(-1)
	if getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(s.cfg.Memory / 100 * heapShare)
	}
	s.cfg.Log.Info("memory limits", "memory", s.cfg.Memory, "heap", debug.SetMemoryLimit(-1))
	return func() { debug.SetMemoryLimit(before) }
}

func (s *server) checkMemory() error {
	if s.memory != 0 && s.memory < leastMemory {
		least := byteSize(leastMemory)
		return fmt.Errorf("%s: less than %s; 0 means the memory limit of the process", s.said("memory"), &least)
	}
	return nil
}
