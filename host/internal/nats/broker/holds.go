package broker

import (
	"os"
	"path/filepath"
	"strings"
)

// Holds reports whether the embedded server of a data directory has runs, keys or uploaded files.
// It does not open it.
func Holds(dir string) (bool, error) {
	blocks, err := streamFiles(dir, "msgs", "*.blk")
	if err != nil {
		return false, err
	}
	for _, block := range blocks {
		// Every start writes notes of hosts.
		if stream := filepath.Base(filepath.Dir(filepath.Dir(block))); strings.HasSuffix(stream, "_OWN") {
			continue
		}
		info, err := os.Stat(block)
		if err != nil {
			return false, err
		}
		if info.Size() > 0 {
			return true, nil
		}
	}
	return false, nil
}

// storeDir returns the folder in which the embedded server of a data directory has its files.
func storeDir(dir string) string { return filepath.Join(dir, "nats") }
