package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"github.com/easel-canvas/easel/host/internal/plugin"
)

var pluginOutdated = command{
	name: "plugin outdated", args: "[FLAGS]", summary: "lists installed plugins of which there are newer versions",
	help: `
Plugins are looked for where they were installed from: an index, a registry or an address. Those of local files are
left out. Exits with 0 also when there are newer versions.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		p, s := &pluginPlace{}, &sources{}
		p.flags(fs)
		s.flags(fs)
		return func(ctx context.Context, a *app, args []string) error {
			if len(args) > 0 {
				return misuse("plugin outdated", "it takes no arguments")
			}
			return p.catalog(ctx, a, func(c *plugin.Catalog) error {
				found, err := s.outdated(ctx, a, c.List())
				return errors.Join(a.outdated(p, found), err)
			})
		}
	},
}

// outdated lists the plugins with newer versions. Failed lookups are joined in the error, which may
// come with results.
func (s *sources) outdated(ctx context.Context, a *app, list []plugin.Entry) ([]newer, error) {
	found, errs := []newer{}, []error(nil)
	for _, e := range list {
		if e.Active == nil || e.Active.Origin == "" {
			continue
		}
		n, err := s.check(ctx, a, e)
		if err != nil {
			errs = append(errs, err)
		} else if n.Newest != n.Version || n.Major != "" {
			found = append(found, n)
		}
	}
	return found, errors.Join(errs...)
}

func (a *app) outdated(p *pluginPlace, found []newer) error {
	if p.json {
		return a.printJSON(found)
	}
	var rows [][]string
	for _, n := range found {
		rows = append(rows, []string{n.Name, n.Version, n.Newest, n.Major, n.Origin})
	}
	return printTable(a.out, []string{"NAME", "ACTIVE", "NEWEST", "NEXT MAJOR", "FROM"}, rows)
}

var pluginUpdate = command{
	name: "plugin update", args: "[NAME]... [FLAGS]", summary: "installs the newest versions of installed plugins",
	help: `
Without a NAME all plugins that were downloaded are updated, each within its major; --major installs the newest major
beside the older ones. A version that asks for more than was approved, or that another key signed, waits as after
install. Runs go on with the version they began with; ` + "`easel plugin rollback`" + ` goes back.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		p, s := &pluginPlace{}, &sources{}
		p.flags(fs)
		s.flags(fs)
		next := fs.Bool("major", false, "install the newest major, and keep the older ones")
		return func(ctx context.Context, a *app, args []string) error {
			return p.catalog(ctx, a, func(c *plugin.Catalog) error { return p.update(ctx, a, c, s, args, *next) })
		}
	},
}

// update installs newer versions of the plugins in refs, of all without refs.
func (p *pluginPlace) update(ctx context.Context, a *app, c *plugin.Catalog, s *sources, refs []string,
	next bool,
) error {
	list, err := downloaded(c.List(), refs)
	if err != nil {
		return err
	}
	found, err := s.outdated(ctx, a, list)
	errs := []error{err}
	for _, n := range found {
		version := n.Newest
		if next && n.Major != "" {
			version = n.Major
		}
		if version == n.Version {
			continue
		}
		ref, index := locate(n.entry, version)
		from := &sources{index: index, plain: s.plain}
		wasm, _, err := from.get(ctx, a, ref)
		if err == nil {
			var e plugin.Entry
			if e, err = c.InstallRemote(ctx, wasm, n.Origin, nil); err == nil {
				err = a.entry(p, e)
			}
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("plugin %s: update to %s: %w", n.entry.Ref(), version, err))
		}
	}
	if len(found) == 0 && err == nil && !p.json {
		fmt.Fprintln(a.out, "nothing to update")
	}
	return errors.Join(errs...)
}

// downloaded returns the entries of refs, all without refs.
func downloaded(list []plugin.Entry, refs []string) ([]plugin.Entry, error) {
	if len(refs) == 0 {
		return list, nil
	}
	var out []plugin.Entry
	for _, ref := range refs {
		found := false
		for _, e := range list {
			if e.Name == ref || e.Ref() == ref {
				if e.Active == nil || e.Active.Origin == "" {
					return nil, fmt.Errorf("plugin %s was installed from a local file; install a newer file", e.Ref())
				}
				out, found = append(out, e), true
			}
		}
		if !found {
			return nil, fmt.Errorf("plugin %s is not installed; `easel plugin list` lists the installed ones", ref)
		}
	}
	return out, nil
}
