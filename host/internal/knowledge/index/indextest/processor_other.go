//go:build !unix

package indextest

import "time"

// ProcessorTime is 0: it is not known here.
func ProcessorTime() time.Duration { return 0 }
