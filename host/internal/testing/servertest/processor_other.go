//go:build !unix

package servertest

import "time"

// ProcessorTime is 0: it is not known here.
func ProcessorTime() time.Duration { return 0 }
