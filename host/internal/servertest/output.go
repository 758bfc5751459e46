package servertest

import (
	"strings"
	"sync"
)

// Output is what a program or a logger writes, readable while it writes. The zero value is empty.
// It is safe for concurrent use.
type Output struct {
	mu sync.Mutex
	b  strings.Builder
}

// Write appends to the output.
func (o *Output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(b)
}

// String is all output so far.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}
