//go:build !linux

package disk

import (
	"errors"
	"os"
)

// preallocate returns [errors.ErrUnsupported].
func preallocate(*os.File, int64) error { return errors.ErrUnsupported }
