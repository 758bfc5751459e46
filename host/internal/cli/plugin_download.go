package cli

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/host/internal/plugin/distribution"
	"github.com/easel-canvas/easel/plugins/contract"
)

// sources are the locations from which plugins are downloaded.
type sources struct {
	index string
	plain bool
}

func (s *sources) flags(fs *flag.FlagSet) {
	fs.StringVar(&s.index, "index", "", "`ADDRESS` or file of an index of plugins; EASEL_PLUGIN_INDEX when left out")
	fs.BoolVar(&s.plain, "plain-http", false, "allow http instead of https")
}

// client makes a client for one operation.
func (s *sources) client(a *app) *distribution.Client {
	dir := a.getenv("DOCKER_CONFIG")
	if home, err := os.UserHomeDir(); dir == "" && err == nil {
		dir = filepath.Join(home, ".docker")
	}
	return &distribution.Client{PlainHTTP: s.plain, Credentials: distribution.DockerCredentials(dir)}
}

// remote reports whether an argument of install is to be downloaded: an address, or with an index a
// name that is not a file.
func (s *sources) remote(a *app, arg string) bool {
	if distribution.IsLocation(arg) {
		return true
	}
	_, err := os.Stat(arg)
	return os.IsNotExist(err) && s.indexAddress(a) != ""
}

func (s *sources) indexAddress(a *app) string { return cmp.Or(s.index, a.getenv("EASEL_PLUGIN_INDEX")) }

func (s *sources) open(ctx context.Context, a *app) (*distribution.Index, error) {
	from := s.indexAddress(a)
	if from == "" {
		return nil, misuse("plugin", "expected --index ADDRESS or EASEL_PLUGIN_INDEX")
	}
	return s.client(a).Index(ctx, from)
}

// indexMark separates the address of an index and the name of a plugin in an origin.
const indexMark = "#"

// get downloads a plugin by ref: an address, or a name in the index. origin is the location of its
// updates.
func (s *sources) get(ctx context.Context, a *app, ref string) (wasm []byte, origin string, err error) {
	if distribution.IsLocation(ref) {
		wasm, err = s.client(a).Download(ctx, ref)
		return wasm, ref, err
	}
	x, err := s.open(ctx, a)
	if err != nil {
		return nil, "", err
	}
	release, err := x.Find(ref)
	if err != nil {
		return nil, "", err
	}
	wasm, err = x.Get(ctx, s.client(a), release)
	name, _, _ := strings.Cut(ref, "@")
	from := s.indexAddress(a)
	if !distribution.IsLocation(from) {
		if from, err = absolute(from, err); err != nil {
			return nil, "", err
		}
	}
	return wasm, from + indexMark + name, err
}

func absolute(path string, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// installFrom downloads and installs a plugin.
func (p *pluginPlace) installFrom(ctx context.Context, a *app, s *sources, ref string,
	limit *contract.Permissions,
) error {
	wasm, origin, err := s.get(ctx, a, ref)
	if err != nil {
		return err
	}
	return p.catalog(ctx, a, func(c *plugin.Catalog) error {
		e, err := c.InstallRemote(ctx, wasm, origin, limit)
		if err != nil {
			return err
		}
		return a.entry(p, e)
	})
}

var pluginSearch = command{
	name: "plugin search", args: "[WORD]... [FLAGS]", summary: "lists the plugins of an index that contain all words",
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		var s sources
		s.flags(fs)
		asJSON := fs.Bool("json", false, "print JSON")
		return func(ctx context.Context, a *app, args []string) error {
			x, err := s.open(ctx, a)
			if err != nil {
				return err
			}
			found := x.Search(args)
			if *asJSON {
				if found == nil {
					found = []distribution.Listed{}
				}
				return a.printJSON(found)
			}
			var rows [][]string
			for _, p := range found {
				var versions []string
				for _, v := range p.Versions {
					versions = append(versions, v.Version)
				}
				rows = append(rows, []string{p.Name, distribution.Newest(versions, ""), p.Publisher, p.Description})
			}
			return printTable(a.out, []string{"NAME", "VERSION", "PUBLISHER", "DESCRIPTION"}, rows)
		}
	},
}

// newer is the version that can replace an active one.
type newer struct {
	Name    string `json:"name"`
	Version string `json:"version"` // that is active
	Newest  string `json:"newest"`  // of the same major; Version if it is the newest
	Major   string `json:"newest_major,omitempty"`
	Origin  string `json:"origin"`

	entry plugin.Entry
}

// check looks for newer versions of an installed plugin at its origin.
func (s *sources) check(ctx context.Context, a *app, e plugin.Entry) (newer, error) {
	n := newer{Name: e.Name, Version: e.Active.Version, Newest: e.Active.Version, Origin: e.Active.Origin, entry: e}
	versions, err := s.versions(ctx, a, e)
	if err != nil {
		return n, fmt.Errorf("plugin %s: %w", e.Ref(), err)
	}
	if v := distribution.Newest(versions, e.Major); v != "" && distribution.Compare(v, n.Version) > 0 {
		n.Newest = v
	}
	if v := distribution.Newest(versions, ""); v != "" && distribution.Compare(v, n.Newest) > 0 {
		n.Major = v
	}
	return n, nil
}

// versions lists the versions of an installed plugin at its origin.
func (s *sources) versions(ctx context.Context, a *app, e plugin.Entry) ([]string, error) {
	origin := e.Active.Origin
	if index, name, ok := strings.Cut(origin, indexMark); ok {
		x, err := s.client(a).Index(ctx, index)
		if err != nil {
			return nil, err
		}
		var versions []string
		for _, p := range x.Plugins {
			if p.Name == name {
				for _, v := range p.Versions {
					versions = append(versions, v.Version)
				}
			}
		}
		return versions, nil
	}
	if r, err := distribution.ParseReference(origin); err == nil {
		return s.client(a).Tags(ctx, r)
	}
	wasm, err := s.client(a).Download(ctx, origin)
	if err != nil {
		return nil, err
	}
	raw, err := contract.ManifestOf(wasm)
	if err != nil {
		return nil, err
	}
	m, err := contract.ParseManifest(raw)
	if err != nil {
		return nil, err
	}
	return []string{m.Version}, nil
}

// locate returns the location from which [sources.get] downloads a version of an installed plugin.
func locate(e plugin.Entry, version string) (ref, index string) {
	origin := e.Active.Origin
	if from, name, ok := strings.Cut(origin, indexMark); ok {
		return name + "@" + version, from
	}
	if r, err := distribution.ParseReference(origin); err == nil {
		r.Tag, r.Digest = version, ""
		return r.String(), ""
	}
	return origin, ""
}
