package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/easel-canvas/easel/plugins/contract"
)

// Catalog keeps the installed plugins of a host in a folder: the files, named by their digest, and
// plugins.json with the approvals. Majors of a plugin exist side by side, each an [Entry]. One
// version of a major is active; a new one that requests more than was approved waits, and the
// previous one is kept for Rollback. A replaced module serves the runs that began with it.
//
// It is safe for concurrent use, also by several processes on one folder: changes wait for each
// other, and each begins with the result of the previous one.
type Catalog struct {
	host    *Host
	dir     string
	ceiling contract.Permissions
	ack     string // file for the mark that Watch has loaded; "" unless it is a host's

	change sync.Mutex // held through a change, which may compile for seconds
	mu     sync.RWMutex
	items  map[string]*item // by Entry.Ref
}

// Entry is one major of an installed plugin.
type Entry struct {
	Name     string               `json:"name"`
	Major    string               `json:"major"`
	Enabled  bool                 `json:"enabled"`
	Active   *Version             `json:"active,omitempty"`
	Waiting  *Version             `json:"waiting,omitempty"` // not approved yet
	Previous *Version             `json:"previous,omitempty"`
	Approved contract.Permissions `json:"approved,omitzero"`
	// Considered is the request at the time of the approval, including the part that was not
	// approved included: a new version that requests no more does not wait again.
	Considered contract.Permissions `json:"considered,omitzero"`
	// Forget names what kept data under the name of the plugin and was removed;
	// [Catalog.ForgetData] deletes the data.
	Forget []string `json:"forget,omitempty"`
	// Problem is the reason why an active version could not be loaded; empty if it was.
	Problem string `json:"problem,omitempty"`
}

// Version is one file of a plugin.
type Version struct {
	Version string   `json:"version"`
	Digest  string   `json:"digest"`
	Source  Source   `json:"source"`
	Origin  string   `json:"origin,omitempty"` // where updates come from; empty for a local file
	Asks    []string `json:"asks,omitempty"`   // what is not approved, in words
	// Components are set for a file with several, by their names in canvases: weather.forecast.
	Components []string `json:"components,omitempty"`
	// Signer is the public key of the file's signature, trusted or not; empty for none. Approvals
	// and data belong to a name and a signer.
	Signer string `json:"signer,omitempty"`
	// Replaces, for a waiting version, is the signer of the active one when that is another: "" for
	// a file without signature; without an active version, that of the first one that waited. Such
	// a version inherits no approval and no data, and [Catalog.Enable] needs its digest.
	Replaces *string `json:"replaces,omitempty"`
}

// Ref returns the reference of canvases to the plugin: weather@1.
func (e *Entry) Ref() string { return e.Name + "@" + e.Major }

// EnableCommand returns the command that enables the waiting version, or the active one if none
// waits.
func (e *Entry) EnableCommand() string {
	command := "easel plugin enable " + e.Name
	if e.Waiting != nil && e.Waiting.Replaces != nil {
		command += fmt.Sprintf(" --file %.12s", e.Waiting.Digest)
	}
	return command
}

// installed reports whether there is a version of the plugin.
func (e *Entry) installed() bool { return e.Active != nil || e.Waiting != nil || e.Previous != nil }

type item struct {
	Entry
	module *Module
}

// stateFile lists the installed plugins inside the folder.
const stateFile = "plugins.json"

// OpenCatalog reads the folder dir, making it when it is missing, and loads the
// enabled plugins. ceiling is the operator's policy for all of them. A plugin that
// cannot be loaded is listed with its Problem and does not stop the others.
func OpenCatalog(ctx context.Context, host *Host, dir string, ceiling contract.Permissions) (*Catalog, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("plugin: open catalog: %w", err)
	}
	c := &Catalog{host: host, dir: dir, ceiling: ceiling, items: map[string]*item{}}
	entries, err := c.read()
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		e.Problem = ""
		c.items[e.Ref()] = c.loaded(ctx, e)
	}
	return c, nil
}

// load loads a version from the folder, and runs nothing of it if it was tried before.
func (c *Catalog) load(
	ctx context.Context, v Version, approved contract.Permissions, approval, tried bool,
) (*Module, error) {
	wasm, err := os.ReadFile(c.file(v.Digest))
	if err != nil {
		return nil, fmt.Errorf("plugin: read installed file: %w", err)
	}
	granted := approved.Cut(c.ceiling)
	m, err := c.host.Load(ctx, wasm, LoadOptions{Source: v.Source, Granted: granted, Approval: approval, tried: tried})
	if err != nil {
		return nil, err
	}
	if m.Digest() != v.Digest {
		return nil, errors.Join(c.changedOnDisk(v.Digest).At(m.name(), "read"), m.Close(ctx))
	}
	return m, nil
}

func (c *Catalog) file(digest string) string { return filepath.Join(c.dir, digest+".wasm") }

// Install adds a plugin or a new version of one. A version that requests more than was approved
// waits: the entry's Waiting lists its requests, and the active version stays. On any error nothing
// changes.
func (c *Catalog) Install(ctx context.Context, wasm []byte, source Source) (Entry, error) {
	return c.install(ctx, wasm, Version{Source: source}, nil)
}

// InstallRemote is Install for a file that was downloaded from origin. limit, if not nil, is
// approved immediately, as by InstallApproved.
func (c *Catalog) InstallRemote(ctx context.Context, wasm []byte, origin string, limit *contract.Permissions) (Entry,
	error,
) {
	return c.install(ctx, wasm, Version{Source: Remote, Origin: origin}, limit)
}

// InstallApproved is Install and Enable in one change: the requests of this file are approved,
// within limit, and nothing that another process installs.
func (c *Catalog) InstallApproved(ctx context.Context, wasm []byte, source Source, limit contract.Permissions) (Entry,
	error,
) {
	return c.install(ctx, wasm, Version{Source: source}, &limit)
}

// install installs a file as v, of which Source and Origin are set.
func (c *Catalog) install(ctx context.Context, wasm []byte, v Version, limit *contract.Permissions) (Entry, error) {
	done, err := c.begin(ctx)
	if err != nil {
		return Entry{}, err
	}
	defer done()
	trial, err := c.host.Load(ctx, wasm, LoadOptions{Source: v.Source}) // with no permission at all
	if err != nil {
		return Entry{}, err
	}
	defer c.retire(trial) // after the version is loaded, so that it is compiled once
	manifest := trial.Manifest()
	v.Version, v.Digest, v.Signer = manifest.Version, trial.Digest(), trial.Signer()
	for _, c := range manifest.Components {
		v.Components = append(v.Components, c.NodeName())
	}
	v.Source = cmp.Or(v.Source, Local)
	if err := c.keep(v.Digest, wasm); err != nil {
		return Entry{}, fmt.Errorf("plugin %s: install: %w", manifest.Name, err)
	}
	next := c.copyOf(manifest.Name, manifest.Major())
	known := c.known(next)
	if v.Replaces = replaces(c, next, v.Signer); v.Replaces != nil && (known != nil || limit == nil) {
		v.Asks = manifest.Permissions.Asks(contract.Permissions{})
		next.Waiting = &v
		return next.Entry, c.put(next, nil)
	}
	if known != nil && next.Active == nil {
		next.Approved, next.Considered = known.Approved, known.Considered
	}
	if len(manifest.Permissions.Beyond(next.Approved)) > 0 && len(manifest.Permissions.Beyond(next.Considered)) > 0 {
		if limit != nil {
			next.Waiting = nil // this file was decided about, not one that waited before
			return c.approve(ctx, next, v, limit)
		}
		v.Asks = manifest.Permissions.Asks(next.Approved)
		next.Waiting = &v
		return next.Entry, c.put(next, nil)
	}
	return c.activate(ctx, next, v)
}

// activate makes v the active version of next and replaces the loaded module.
func (c *Catalog) activate(ctx context.Context, next *item, v Version) (Entry, error) {
	m, err := c.load(ctx, v, next.Approved, false, false)
	if err != nil {
		return Entry{}, err
	}
	v.Asks, v.Replaces = m.Manifest().Permissions.Asks(next.Approved), nil
	old := next.module
	if next.Active != nil && next.Active.Digest != v.Digest {
		next.Previous = next.Active
	}
	next.Active, next.Enabled, next.Problem, next.module = &v, true, "", m
	if next.Waiting != nil && next.Waiting.Digest == v.Digest {
		next.Waiting = nil
	}
	if err := c.put(next, nil); err != nil {
		return Entry{}, errors.Join(err, m.Close(ctx))
	}
	c.retire(old)
	return next.Entry, nil
}

// known returns the entry whose approvals a new version of next inherits: next itself, else the
// newest other major with an active version; nil without either.
func (c *Catalog) known(next *item) *item {
	if next.Active != nil {
		return next
	}
	var found *item
	for _, it := range c.majors(next.Name) {
		if it.Active != nil {
			found = it
		}
	}
	return found
}

// replaces returns the signer whose version a file of signer would replace in next; nil when it is
// the same, or when there is no version before.
func replaces(c *Catalog, next *item, signer string) *string {
	var before *string
	switch known := c.known(next); {
	case known != nil:
		before = &known.Active.Signer
	case next.Waiting != nil:
		before = cmp.Or(next.Waiting.Replaces, &next.Waiting.Signer)
	}
	if before == nil || *before == signer {
		return nil
	}
	return before
}

// stop closes the module of a plugin that was switched off or removed; runs do not keep it.
func (c *Catalog) stop(m *Module) {
	if m != nil {
		m.revoke()
	}
	c.retire(m)
}

// retire closes a replaced module once its calls, and the runs that keep it, are done.
func (c *Catalog) retire(m *Module) {
	if m == nil {
		return
	}
	ended, end := context.WithCancel(context.Background())
	end()
	if err := m.Close(ended); err != nil && !errors.Is(err, context.Canceled) {
		c.host.cfg.Log.Warn("plugin was not freed", "plugin", m.name(), "err", err)
	}
}

// Enable approves the requests of the waiting version of name and activates it; without a waiting
// version, the active one is enabled again. limit, if not nil, bounds the approval: the plugin runs
// with the rest, and its Asks list the permissions that it lacks. digest is a prefix of the digest
// of the intended file; if another one waits by now, nothing changes. It may be empty unless the
// waiting version has another signer than the one it replaces.
func (c *Catalog) Enable(ctx context.Context, name, digest string, limit *contract.Permissions) (Entry, error) {
	done, err := c.begin(ctx)
	if err != nil {
		return Entry{}, err
	}
	defer done()
	next, err := c.existing(name, toEnable(digest))
	if err != nil {
		return Entry{}, err
	}
	v := next.Active
	if next.Waiting != nil {
		v = next.Waiting
	}
	if v == nil {
		return Entry{}, contract.Errorf(contract.NotFound, "no version to enable; install one").At(name, "enable")
	}
	if !strings.HasPrefix(v.Digest, digest) {
		return Entry{}, contract.Errorf(contract.NeedsApproval,
			"file %.12s has been installed since; review its permissions, and enable it", v.Digest).At(name, "enable")
	}
	if digest == "" && v.Replaces != nil {
		return Entry{}, contract.Errorf(contract.NeedsApproval,
			"version %s is by another key: %s, the version before is %s; if you know this file, run `%s`", v.Version,
			SignedBy(v.Signer), SignedBy(*v.Replaces), next.EnableCommand()).At(name, "enable")
	}
	if next.Waiting != nil || limit != nil {
		return c.approve(ctx, next, *v, limit)
	}
	return c.activate(ctx, next, *v)
}

// approve approves the requests of v, within limit unless it is nil, and activates it.
func (c *Catalog) approve(ctx context.Context, next *item, v Version, limit *contract.Permissions) (Entry, error) {
	about, err := manifest(c, v.Digest)
	if err != nil {
		return Entry{}, err
	}
	asked := about.Permissions
	next.Approved, next.Considered = asked, asked
	if limit != nil {
		next.Approved = asked.Cut(*limit)
	}
	return c.activate(ctx, next, v)
}

// manifest returns the manifest of an installed file.
func manifest(c *Catalog, digest string) (*contract.Manifest, error) {
	wasm, err := os.ReadFile(c.file(digest))
	if err != nil {
		return nil, fmt.Errorf("plugin: read installed file: %w", err)
	}
	raw, _, err := contract.Section(wasm, contract.ManifestSection)
	if err != nil {
		return nil, err
	}
	return contract.ParseManifest(raw)
}

// Disable switches a plugin off; running calls finish.
func (c *Catalog) Disable(ctx context.Context, name string) (Entry, error) {
	done, err := c.begin(ctx)
	if err != nil {
		return Entry{}, err
	}
	defer done()
	next, err := c.existing(name, nil)
	if err != nil {
		return Entry{}, err
	}
	old := next.module
	next.Enabled, next.module = false, nil
	if err := c.put(next, nil); err != nil {
		return Entry{}, err
	}
	c.stop(old)
	return next.Entry, nil
}

// Rollback makes the previous version active again, with the present approval. One of another
// signer waits, as after Install.
func (c *Catalog) Rollback(ctx context.Context, name string) (Entry, error) {
	done, err := c.begin(ctx)
	if err != nil {
		return Entry{}, err
	}
	defer done()
	next, err := c.existing(name, nil)
	if err != nil {
		return Entry{}, err
	}
	if next.Previous == nil {
		return Entry{}, contract.Errorf(contract.NotFound, "no version before the active one").At(name, "roll back")
	}
	v := *next.Previous
	if v.Replaces = replaces(c, next, v.Signer); v.Replaces != nil {
		about, err := manifest(c, v.Digest)
		if err != nil {
			return Entry{}, err
		}
		v.Asks = about.Permissions.Asks(contract.Permissions{})
		next.Waiting = &v
		return next.Entry, c.put(next, nil)
	}
	return c.activate(ctx, next, v)
}

// Remove forgets a plugin, its approval and its files; running calls finish. Unless keepData is set
// the next [Catalog.ForgetData] deletes the data of the plugin.
func (c *Catalog) Remove(ctx context.Context, name string, keepData bool) error {
	done, err := c.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	old, err := c.existing(name, nil)
	if err != nil {
		return err
	}
	rest := (*item)(nil)
	if forget := c.unused(old, old.data(keepData)); len(forget) > 0 {
		rest = &item{Entry: Entry{Name: old.Name, Major: old.Major, Forget: forget}}
	}
	if err := c.put(rest, old); err != nil {
		return err
	}
	c.stop(old.module)
	var errs []error
	for _, v := range []*Version{old.Active, old.Waiting, old.Previous} {
		if v != nil && !c.uses(v.Digest) {
			if err := os.Remove(c.file(v.Digest)); err != nil && !errors.Is(err, os.ErrNotExist) {
				errs = append(errs, fmt.Errorf("plugin %s: remove: %w", name, err))
			}
		}
	}
	return errors.Join(errs...)
}

// List returns the installed plugins by name.
func (c *Catalog) List() []Entry {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var out []Entry
	for _, it := range c.items {
		if it.installed() {
			out = append(out, it.Entry)
		}
	}
	slices.SortFunc(out, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), compareMajors(a.Major, b.Major))
	})
	return out
}

// Get returns the loaded plugin for a reference: weather, which is the newest major that is on,
// weather@1, weather@1.2. A missing, disabled or different version is a NotFound with the reason.
// The component of weather.forecast@1 is not looked at, see [contract.Manifest.Named].
func (c *Catalog) Get(ref string) (*Module, error) {
	name, _, want := contract.SplitRef(ref)
	it := c.referred(name, want)
	switch {
	case it == nil:
		return nil, c.notInstalled(ref, name)
	case it.Problem != "":
		return nil, contract.Errorf(contract.NotFound, "could not be loaded: %s", it.Problem).At(ref, "find")
	case it.module == nil && it.Waiting != nil && it.Active == nil:
		return nil, contract.Errorf(contract.NeedsApproval, "asks for %s; approve it with `%s`",
			cmp.Or(strings.Join(it.Waiting.Asks, "; "), "nothing"), it.EnableCommand()).At(ref, "find")
	case it.module == nil:
		return nil, contract.Errorf(contract.NotFound, "switched off; run `easel plugin enable %s`", name).At(ref,
			"find")
	case want != "" && it.Active.Version != want && !strings.HasPrefix(it.Active.Version, want+"."):
		return nil, contract.Errorf(contract.NotFound, "installed is version %s", it.Active.Version).At(ref, "find")
	}
	return it.module, nil
}
