package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/disk"
)

// errLoad means that a canvas cannot be loaded.
var errLoad = errors.New("the canvas does not load")

// session is a canvas with the state of a conversation.
type session struct {
	canvas *engine.Canvas
	state  *engine.State
	path   string // state file; "" keeps nothing
}

// readFile reads a file of JSON that another program may have written.
func readFile(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	return engine.FileText(data), err
}

// open loads a canvas and, if there is a state file, its state. Problems that do not prevent
// loading are printed.
func (a *app) open(canvasPath, statePath string) (*session, error) {
	data, err := readFile(canvasPath)
	if err != nil {
		return nil, &usageError{"", err}
	}
	canvas, err := engine.Load(a.registry, data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w; run `easel validate` for all problems", canvasPath, errLoad, err)
	}
	here := a.registry.Clone()
	here.Host = true
	for _, p := range engine.Validate(here, data) {
		fmt.Fprintf(a.err, "easel: %s: %s\n", canvasPath, p)
	}
	s := &session{canvas: canvas, state: canvas.State(), path: statePath}
	if statePath == "" {
		return s, nil
	}
	saved, err := os.ReadFile(statePath)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, &usageError{"", err}
	}
	if s.state, err = canvas.Restore(saved); err != nil {
		return nil, fmt.Errorf("state %s: %w", statePath, err)
	}
	return s, nil
}

// save writes the state. It replaces the file atomically.
func (s *session) save() error {
	if s.path == "" {
		return nil
	}
	if err := disk.Replace(s.path, s.canvas.Save(s.state)); err != nil {
		return fmt.Errorf("save state: %w", err)
	}
	return nil
}
