package meter

import (
	"errors"
	"fmt"
)

// Sentinels wrapped by every error of this package.
var (
	// ErrMalformed is returned for bytes that are not a WebAssembly module.
	ErrMalformed = errors.New("malformed module")
	// ErrUnsupported is returned for a module with a feature that the meter cannot count.
	ErrUnsupported = errors.New("unsupported feature")
	// ErrForged is returned for a module that uses a name reserved for the meter.
	ErrForged = errors.New("name reserved for the meter")
	// ErrLimit is returned for a module that initially requires more than its limits, and for code
	// that takes compilers too long.
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
