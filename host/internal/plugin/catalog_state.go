package plugin

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/host/internal/disk"
	"github.com/easel-canvas/easel/plugins/contract"
)

// begin starts a change: until done no other change of the folder starts, in this process or
// another, and earlier changes of others are loaded.
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

// copyOf returns a copy of a major of a plugin to be changed, or a new one.
func (c *Catalog) copyOf(name, major string) *item {
	fresh := Entry{Name: name, Major: major}
	c.mu.RLock()
	defer c.mu.RUnlock()
	if it := c.items[fresh.Ref()]; it != nil {
		copied := *it
		return &copied
	}
	return &item{Entry: fresh}
}

// existing returns a copy of the major that ref, weather or weather@1, names. Of several majors it
// is the only one that meant selects; meant may be nil.
func (c *Catalog) existing(ref string, meant func(*item) bool) (*item, error) {
	name, major, _ := strings.Cut(ref, "@")
	found := slices.DeleteFunc(c.majors(name), func(it *item) bool { return major != "" && it.Major != major })
	if len(found) > 1 && meant != nil {
		those := slices.DeleteFunc(slices.Clone(found), func(it *item) bool { return !meant(it) })
		if len(those) == 1 {
			found = those
		}
	}
	switch len(found) {
	case 0:
		return nil, contract.Errorf(contract.NotFound, "not installed; `easel plugin list` shows what is").At(ref,
			"find")
	case 1:
		return c.copyOf(found[0].Name, found[0].Major), nil
	}
	var refs []string
	for _, it := range found {
		refs = append(refs, it.Ref())
	}
	return nil, contract.Errorf(contract.InvalidArgument, "several majors are installed; name one of %s",
		strings.Join(refs, ", ")).At(ref, "find")
}

// toEnable reports, of several majors, the one to enable: the one whose file has a digest that
// begins with digest, or without a digest one that waits.
func toEnable(digest string) func(*item) bool {
	return func(it *item) bool {
		named := func(v *Version) bool { return v != nil && strings.HasPrefix(v.Digest, digest) }
		return named(it.Waiting) || digest != "" && named(it.Active)
	}
}

// majors lists the installed majors of a plugin, oldest first.
func (c *Catalog) majors(name string) (found []*item) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, it := range c.items {
		if it.Name == name && it.installed() {
			found = append(found, it)
		}
	}
	slices.SortFunc(found, func(a, b *item) int { return compareMajors(a.Major, b.Major) })
	return found
}

// referred returns the major for a reference of a canvas, nil if it is not installed.
func (c *Catalog) referred(name, want string) *item {
	if want != "" {
		major, _, _ := strings.Cut(want, ".")
		ref := Entry{Name: name, Major: major}
		c.mu.RLock()
		defer c.mu.RUnlock()
		if it := c.items[ref.Ref()]; it != nil && it.installed() {
			return it
		}
		return nil
	}
	var found *item
	for _, it := range c.majors(name) {
		if found == nil || it.module != nil || found.module == nil {
			found = it
		}
	}
	return found
}

// notInstalled returns the reason why a reference has no plugin.
func (c *Catalog) notInstalled(ref, name string) *contract.Error {
	var versions []string
	for _, it := range c.majors(name) {
		if it.Active != nil {
			versions = append(versions, it.Active.Version)
		}
	}
	if len(versions) > 0 {
		return contract.Errorf(contract.NotFound, "installed is version %s", strings.Join(versions, ", ")).At(ref,
			"find")
	}
	return contract.Errorf(contract.NotFound, "not installed; install it with `easel plugin install`").At(ref, "find")
}

// compareMajors orders majors as numbers, which have no leading zeros.
func compareMajors(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// put stores next and forgets gone, either of which may be nil, on disk first.
func (c *Catalog) put(next, gone *item) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	items := map[string]*item{}
	for ref, it := range c.items {
		items[ref] = it
	}
	if gone != nil {
		delete(items, gone.Ref())
	}
	if next != nil {
		items[next.Ref()] = next
	}
	entries := []Entry{}
	for _, it := range items {
		entries = append(entries, it.Entry)
	}
	raw, err := json.MarshalIndent(entries, "", "  ")
	if err != nil {
		return fmt.Errorf("plugin: write catalog: %w", err)
	}
	if err := disk.Replace(filepath.Join(c.dir, stateFile), raw); err != nil {
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
	return disk.Replace(c.file(digest), wasm)
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
