package meter

import (
	"errors"
	"fmt"
)

// Sentinels wrapped by every error of this package.
var (
	// ErrMalformed says that the bytes are not a WebAssembly module.
	ErrMalformed = errors.New("malformed module")
	// ErrUnsupported says that the module uses a feature the meter cannot count.
	ErrUnsupported = errors.New("unsupported feature")
	// ErrForged says that the module uses a name that belongs to the meter.
	ErrForged = errors.New("name reserved for the meter")
	// ErrLimit says that the module needs more from the start than it may have.
	ErrLimit = errors.New("over the limit")
)

func malformed(at int, format string, args ...any) error {
	return fmt.Errorf("meter: byte %d: %s: %w", at, fmt.Sprintf(format, args...), ErrMalformed)
}

func unsupported(at int, format string, args ...any) error {
	return fmt.Errorf("meter: byte %d: %s: %w", at, fmt.Sprintf(format, args...), ErrUnsupported)
}

func forged(format string, args ...any) error {
	return fmt.Errorf("meter: %s: %w", fmt.Sprintf(format, args...), ErrForged)
}

func overLimit(format string, args ...any) error {
	return fmt.Errorf("meter: %s: %w", fmt.Sprintf(format, args...), ErrLimit)
}
