package servertest

import (
	"strings"
	"sync"
)

// Output collects the output of a program or a logger and can be read concurrently. The zero value
// is empty. It is safe for concurrent use.
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

// String returns the output so far.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}
