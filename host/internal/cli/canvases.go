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
func (b beside) Canvas(_ context.Context, q engine.CanvasQuery) (sub engine.SubCanvas, err error) {
	if q.Version != "" {
		return sub, fmt.Errorf("version %q: files have no versions; leave it empty", q.Version)
	}
	root, err := os.OpenRoot(b.dir)
	if err != nil {
		return sub, err
	}
	defer root.Close()
	data, err := root.ReadFile(q.ID)
	if errors.Is(err, os.ErrNotExist) {
		data, err = root.ReadFile(q.ID + ".json")
	}
	if err != nil {
		return sub, fmt.Errorf("%s: %w", b.dir, err)
	}
	sub.Canvas, err = engine.Load(b.registry, engine.FileText(data))
	return sub, err
}

// canvasesBeside returns the canvases in the folder of a file; none for a canvas from elsewhere.
func (a *app) canvasesBeside(file string) engine.Canvases {
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return beside{filepath.Dir(file), a.registry}
}
