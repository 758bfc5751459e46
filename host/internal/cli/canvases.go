package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/easel-canvas/easel/engine"
)

// beside finds canvases in the folder of a canvas file.
type beside struct {
	dir      string
	registry *engine.Registry
}

// Canvas reads a file in the folder of the canvas that is run, with or without .json. Files have no
// versions.
func (b beside) Canvas(_ context.Context, id, version string) (*engine.Canvas, error) {
	if version != "" {
		return nil, fmt.Errorf("version %q: files have no versions; leave it empty", version)
	}
	root, err := os.OpenRoot(b.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	data, err := root.ReadFile(id)
	if errors.Is(err, os.ErrNotExist) {
		data, err = root.ReadFile(id + ".json")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.dir, err)
	}
	return engine.Load(b.registry, data)
}

// canvasesBeside returns the canvases in the folder of a file; none for a canvas from elsewhere.
func (a *app) canvasesBeside(file string) engine.Canvases {
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return beside{filepath.Dir(file), a.registry}
}
