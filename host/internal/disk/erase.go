package disk

import "os"

// zero overwrites a part of a file with zeros.
func zero(f *os.File, at, size int64) error {
	block := make([]byte, min(size, 1<<20))
	for size > 0 {
		n, err := f.WriteAt(block[:min(size, int64(len(block)))], at)
		if err != nil {
			return err
		}
		at, size = at+int64(n), size-int64(n)
	}
	return nil
}
