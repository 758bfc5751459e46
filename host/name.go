package host

import (
	"fmt"
	"os"
)

// hostName returns a readable name of this host: its machine and its process, as in easel-0/1.
func hostName() string {
	machine, err := os.Hostname()
	if err != nil {
		machine = "unknown"
	}
	return fmt.Sprintf("%s/%d", machine, os.Getpid())
}
