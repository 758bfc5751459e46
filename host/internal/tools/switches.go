package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/easel-canvas/easel/host/internal/disk"
)

// Switches say which tools are off. They stand in the file tools.json of the folder of plugins and
// are read again when it changes, so a command switches a tool of a working host. A nil Switches
// has every tool on.
type Switches struct {
	path string

	mu    sync.Mutex
	stamp time.Time
	names []string
}

// switchFile stores the switches in the folder of plugins.
const switchFile = "tools.json"

type switchState struct {
	Off []string `json:"off"`
}

// ReadSwitches returns the switches of a folder of plugins, which need not exist.
func ReadSwitches(folder string) *Switches {
	return &Switches{path: filepath.Join(folder, switchFile)}
}

// off fails with ErrOff for a tool that is switched off.
func (s *Switches) off(name string) error {
	names, err := s.Off()
	if err == nil && slices.Contains(names, name) {
		err = fmt.Errorf("%w; `easel plugin enable %s` switches it on", ErrOff, name)
	}
	return err
}

// Off returns the names of the tools that are off.
func (s *Switches) Off() ([]string, error) {
	if s == nil {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	info, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		s.names, s.stamp = nil, time.Time{}
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("tools: %w", err)
	}
	if info.ModTime().Equal(s.stamp) {
		return s.names, nil
	}
	raw, err := os.ReadFile(s.path)
	var state switchState
	if err == nil {
		err = json.Unmarshal(raw, &state)
	}
	if err != nil {
		return nil, fmt.Errorf("tools: %s: %w", s.path, err)
	}
	s.names, s.stamp = state.Off, info.ModTime()
	return s.names, nil
}

// Set switches a tool on or off.
func (s *Switches) Set(name string, on bool) error {
	names, err := s.Off()
	if err != nil {
		return err
	}
	next := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
	if !on {
		next = append(next, name)
		slices.Sort(next)
	}
	raw, err := json.MarshalIndent(switchState{next}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o755); err != nil {
		return fmt.Errorf("tools: %w", err)
	}
	if err := disk.Replace(s.path, append(raw, '\n')); err != nil {
		return fmt.Errorf("tools: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stamp = time.Time{} // two writes may share a time
	return nil
}
