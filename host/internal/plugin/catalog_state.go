package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/easel-canvas/easel/plugins/contract"
)

// begin starts a change: until done no other change of the folder starts, in this process or
// another, and what others changed before is known here.
func (c *Catalog) begin(ctx context.Context) (done func(), err error) {
	c.change.Lock()
	unlock, err := lock(ctx, c.dir)
	if err != nil {
		c.change.Unlock()
		return nil, err
	}
	done = func() {
		unlock()
		c.change.Unlock()
	}
	if _, err := c.reload(ctx); err != nil {
		done()
		return nil, err
	}
	return done, nil
}

// copyOf returns a copy of the item name to be changed, or a new one.
func (c *Catalog) copyOf(name string) *item {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if it := c.items[name]; it != nil {
		copied := *it
		return &copied
	}
	return &item{Entry: Entry{Name: name}}
}

func (c *Catalog) existing(name string) (*item, error) {
	c.mu.RLock()
	it := c.items[name]
	known := it != nil && it.installed()
	c.mu.RUnlock()
	if !known {
		return nil, contract.Errorf(contract.NotFound, "not installed; `easel plugin list` shows what is").At(name,
			"find")
	}
	return c.copyOf(name), nil
}

// put stores next and forgets gone, either of which may be nil, on disk first.
func (c *Catalog) put(next, gone *item) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	items := map[string]*item{}
	for name, it := range c.items {
		items[name] = it
	}
	if gone != nil {
		delete(items, gone.Name)
	}
	if next != nil {
		items[next.Name] = next
	}
	entries := []Entry{}
	for _, it := range items {
		entries = append(entries, it.Entry)
	}
	raw, err := json.MarshalIndent(entries, "", "  ")
	if err != nil {
		return fmt.Errorf("plugin: write catalog: %w", err)
	}
	if err := writeFile(filepath.Join(c.dir, stateFile), raw); err != nil {
		return fmt.Errorf("plugin: write catalog: %w", err)
	}
	c.items = items
	return nil
}

// keep stores the file of a plugin under its digest.
func (c *Catalog) keep(digest string, wasm []byte) error {
	if _, err := os.Stat(c.file(digest)); err == nil {
		return nil
	}
	return writeFile(c.file(digest), wasm)
}

// writeFile replaces a file in one step, so that a crash leaves the old or the
// new one.
func writeFile(path string, b []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(b)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// uses reports whether an installed plugin still needs a file.
func (c *Catalog) uses(digest string) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, it := range c.items {
		for _, v := range []*Version{it.Active, it.Waiting, it.Previous} {
			if v != nil && v.Digest == digest {
				return true
			}
		}
	}
	return false
}
