package plugin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
)

// owner names the data that a plugin keeps. Another signer of the same name has other data.
func owner(name, signer string) string {
	if signer == "" {
		return name
	}
	sum := sha256.Sum256([]byte(signer))
	return name + " " + hex.EncodeToString(sum[:8])
}

// Owner names the data that the plugin keeps: its name, and the key that signed it.
func (m *Module) Owner() string { return owner(m.name(), m.signer) }

// Signer returns the public key of the signature of the file, whether it is trusted or not; empty
// for none.
func (m *Module) Signer() string { return m.signer }

// data lists the owners of data to delete when the plugin is removed.
func (e *Entry) data(keep bool) []string {
	forget := slices.Clone(e.Forget)
	for _, v := range []*Version{e.Active, e.Previous} {
		if v != nil && !keep && !slices.Contains(forget, owner(e.Name, v.Signer)) {
			forget = append(forget, owner(e.Name, v.Signer))
		}
	}
	return forget
}

// StoresData reports whether a plugin may have stored data on a host: it requests kv or has
// settings.
func StoresData(c *Catalog, ref string) (bool, error) {
	it, err := c.existing(ref, nil)
	if err != nil {
		return false, err
	}
	for _, v := range []*Version{it.Active, it.Previous} {
		if v == nil {
			continue
		}
		about, err := manifest(c, v.Digest)
		if err != nil {
			return false, err
		}
		if about.Permissions.KV != nil || len(about.Settings.Names()) > 0 {
			return true, nil
		}
	}
	return false, nil
}

// ForgetData has drop delete the data of plugins that were removed. The next call retries those for
// which drop fails.
func (c *Catalog) ForgetData(ctx context.Context, drop func(ctx context.Context, owner string) error) error {
	if len(c.forgotten()) == 0 {
		return nil
	}
	done, err := c.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	var errs []error
	for _, e := range c.forgotten() {
		next := c.copyOf(e.Name, e.Major)
		for len(next.Forget) > 0 {
			if err := drop(ctx, next.Forget[0]); err != nil {
				errs = append(errs, err)
				break
			}
			next.Forget = next.Forget[1:]
		}
		if next.installed() || len(next.Forget) > 0 {
			errs = append(errs, c.put(next, nil))
		} else {
			errs = append(errs, c.put(nil, next))
		}
	}
	return errors.Join(errs...)
}

// unused returns the owners of data that no other major of the plugin has.
func (c *Catalog) unused(gone *item, owners []string) []string {
	return slices.DeleteFunc(owners, func(name string) bool {
		return slices.ContainsFunc(c.majors(gone.Name), func(it *item) bool {
			return it.Major != gone.Major && it.Active != nil && owner(it.Name, it.Active.Signer) == name
		})
	})
}

// forgotten returns the entries under which removed plugins left data.
func (c *Catalog) forgotten() (entries []Entry) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, it := range c.items {
		if len(it.Forget) > 0 {
			entries = append(entries, it.Entry)
		}
	}
	return entries
}
