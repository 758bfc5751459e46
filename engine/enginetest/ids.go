package enginetest

import (
	"fmt"
	"sync/atomic"
)

// IDs is an engine.IDs that counts: 00..01, 00..02 and so on, 32 hex digits each. The zero IDs is
// ready; it may be used by many goroutines.
type IDs struct{ last atomic.Uint64 }

// IDsFrom counts from the number behind last.
func IDsFrom(last uint64) *IDs {
	i := &IDs{}
	i.last.Store(last)
	return i
}

// NewID returns the next number.
func (i *IDs) NewID() string { return fmt.Sprintf("%032x", i.last.Add(1)) }
