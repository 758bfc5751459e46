package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"
)

// Reload synchronizes the catalog with its folder, which another process may have changed, such as
// `easel plugin install` next to a running server. Unchanged plugins keep running; calls of a
// replaced one finish. It reports whether anything changed. On an error nothing does.
func (c *Catalog) Reload(ctx context.Context) (bool, error) {
	c.change.Lock()
	defer c.change.Unlock()
	return c.reload(ctx)
}

// reload is Reload while c.change is held.
func (c *Catalog) reload(ctx context.Context) (bool, error) {
	entries, err := c.read()
	if err != nil {
		return false, err
	}
	c.mu.RLock()
	old := c.items
	c.mu.RUnlock()
	items, changed := make(map[string]*item, len(entries)), len(entries) != len(old)
	for _, e := range entries {
		e.Problem = ""
		before := old[e.Ref()]
		switch {
		case before != nil && same(before.Entry, e):
			items[e.Ref()] = before
			continue
		case before != nil && before.module != nil && runsAlike(before.Entry, e):
			items[e.Ref()] = &item{Entry: e, module: before.module}
		default:
			items[e.Ref()] = c.loaded(ctx, e)
		}
		changed = true
	}
	c.mu.Lock()
	c.items = items
	c.mu.Unlock()
	for ref, it := range old {
		switch now := items[ref]; {
		case it.module == nil || now != nil && now.module == it.module:
		case now == nil || !now.Enabled:
			c.stop(it.module)
		default:
			c.retire(it.module)
		}
	}
	return changed, nil
}

// read returns the state in the folder.
func (c *Catalog) read() ([]Entry, error) {
	path := filepath.Join(c.dir, stateFile)
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var entries []Entry
	if err == nil {
		err = json.Unmarshal(raw, &entries)
	}
	if err != nil {
		return nil, fmt.Errorf("plugin: read %s: %w", path, err)
	}
	for i := range entries {
		if e := &entries[i]; e.Major == "" {
			e.Major = majorOf(e)
		}
	}
	return entries, nil
}

// majorOf returns the major of an entry of a list that an older program wrote.
func majorOf(e *Entry) string {
	for _, v := range []*Version{e.Active, e.Waiting, e.Previous} {
		if v != nil {
			major, _, _ := strings.Cut(v.Version, ".")
			return major
		}
	}
	return "0"
}

// loaded returns an entry with its module, or with the problem that it has none.
func (c *Catalog) loaded(ctx context.Context, e Entry) *item {
	it := &item{Entry: e}
	if !e.Enabled || e.Active == nil {
		return it
	}
	var err error
	if it.module, err = c.load(ctx, *e.Active, e.Approved, false, true); err != nil {
		it.Problem = err.Error()
		c.host.cfg.Log.Warn("plugin was not loaded", "plugin", e.Name, "err", err)
	}
	return it
}

// same reports whether a plugin is unchanged.
func same(before, now Entry) bool {
	before.Problem = ""
	return reflect.DeepEqual(before, now)
}

// runsAlike reports whether the loaded module is still valid.
func runsAlike(before, now Entry) bool {
	return now.Enabled && now.Active != nil && before.Active != nil && before.Active.Digest == now.Active.Digest &&
		before.Active.Source == now.Active.Source && reflect.DeepEqual(before.Approved, now.Approved)
}

// Watch reloads the catalog whenever its folder changes, until ctx ends, and
// calls changed after each change. It looks at one file's time and size, and reads again what could
// not be read.
func (c *Catalog) Watch(ctx context.Context, every time.Duration, changed func()) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	var last, failure string
	for {
		if now := c.Mark(); now != last {
			news, err := c.Reload(ctx)
			if err == nil {
				last, failure = now, ""
				acknowledge(c, now)
			} else if text := err.Error(); text != failure && ctx.Err() == nil {
				failure = text
				c.host.cfg.Log.Warn("plugins were not read again, retrying", "err", err)
			}
			if news {
				changed()
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Mark distinguishes states of the folder. The file is replaced as a whole, never written in place.
func (c *Catalog) Mark() string {
	info, err := os.Stat(filepath.Join(c.dir, stateFile))
	if err != nil {
		return "none"
	}
	return fmt.Sprint(info.ModTime().UnixNano(), " ", info.Size())
}
