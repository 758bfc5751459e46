package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// MkdirAside makes a new directory for files that are put aside: prefix and the time, with a number
// if that exists.
func MkdirAside(prefix string, now time.Time) (string, error) {
	name := prefix + now.UTC().Format("20060102-150405")
	dir := name
	for n := 2; ; n++ {
		err := os.Mkdir(dir, 0o700)
		if err == nil || !errors.Is(err, fs.ErrExist) || n > 100 {
			return dir, err
		}
		dir = fmt.Sprintf("%s-%d", name, n)
	}
}
