package python

import (
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/engine"
)

var (
	// ErrMissing means that no interpreter is installed; install one with the command in its
	// message.
	ErrMissing = fmt.Errorf("language python: %w: no interpreter is installed; get it with %q",
		engine.ErrNoPort, "easel python install")
	// ErrModule means that a file is not a WebAssembly module that easel can run as Python.
	ErrModule = errors.New("not a usable Python module")
)
