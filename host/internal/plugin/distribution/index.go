package distribution

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Index lists plugins that can be installed. It is a JSON file at a web address or on disk.
type Index struct {
	Format  int      `json:"easel_index"` // 1
	Plugins []Listed `json:"plugins"`

	from string // where it was read, for relative locations
}

// Listed is a plugin in an index.
type Listed struct {
	Name        string    `json:"name"`
	Description string    `json:"description"`
	Category    string    `json:"category,omitempty"`
	License     string    `json:"license,omitempty"`
	Publisher   string    `json:"publisher,omitempty"`
	Versions    []Release `json:"versions"`
}

// Release is a version of a listed plugin.
type Release struct {
	Version  string   `json:"version"`
	Location string   `json:"location"` // https, oci, or relative to the index
	SHA256   string   `json:"sha256"`   // of the file, in hex
	Size     int64    `json:"size,omitempty"`
	Asks     []string `json:"asks,omitempty"` // permissions, in words
}

const indexFormat = 1

var (
	namePattern = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`)
	hexPattern  = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// Index reads an index from a web address or a file.
func (c *Client) Index(ctx context.Context, from string) (*Index, error) {
	var raw []byte
	var err error
	if IsLocation(from) {
		raw, err = c.read(ctx, from, maxIndex)
	} else {
		raw, err = os.ReadFile(from)
	}
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	x := &Index{from: from}
	if err := json.Unmarshal(raw, x); err != nil {
		return nil, fmt.Errorf("index %s: %w", from, err)
	}
	if x.Format != indexFormat {
		return nil, fmt.Errorf("index %s: format %d; want \"easel_index\": %d", from, x.Format, indexFormat)
	}
	for _, p := range x.Plugins {
		if !namePattern.MatchString(p.Name) {
			return nil, fmt.Errorf("index %s: name %.80q is not that of a plugin", from, p.Name)
		}
		for _, v := range p.Versions {
			if _, ok := parseVersion(v.Version); !ok {
				return nil, fmt.Errorf("index %s: %s: version %.80q: want three numbers, as in 1.0.0", from, p.Name,
					v.Version)
			}
			if !hexPattern.MatchString(v.SHA256) {
				return nil, fmt.Errorf("index %s: %s %s: sha256 is missing or not 64 hexadecimal digits", from,
					p.Name, v.Version)
			}
		}
	}
	return x, nil
}

// Search returns the plugins whose name, description or category contain every word, without case.
func (x *Index) Search(words []string) (found []Listed) {
	for _, p := range x.Plugins {
		text := strings.ToLower(p.Name + " " + p.Description + " " + p.Category)
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, strings.ToLower(w)) }) {
			found = append(found, p)
		}
	}
	return found
}

// Find returns the newest release for weather, weather@1 or weather@1.2.0. Pre-releases are found
// by their full version only.
func (x *Index) Find(ref string) (Release, error) {
	name, want, _ := strings.Cut(ref, "@")
	i := slices.IndexFunc(x.Plugins, func(p Listed) bool { return p.Name == name })
	if i < 0 {
		return Release{}, fmt.Errorf("index %s lists no plugin %s", x.from, name)
	}
	var versions []string
	for _, v := range x.Plugins[i].Versions {
		versions = append(versions, v.Version)
	}
	newest := Newest(versions, want)
	for _, v := range x.Plugins[i].Versions {
		if v.Version == newest {
			return v, nil
		}
	}
	return Release{}, fmt.Errorf("index %s lists no version %s of %s; it has %s", x.from, want, name,
		strings.Join(versions, ", "))
}

// Get downloads a release and compares it with the digest in the index.
func (x *Index) Get(ctx context.Context, c *Client, v Release) ([]byte, error) {
	file, err := x.read(ctx, c, v.Location)
	if err != nil {
		return nil, err
	}
	if got := digestOf(file); got != "sha256:"+v.SHA256 {
		return nil, fmt.Errorf("%s: the file has digest %s, the index lists sha256:%s", v.Location, got, v.SHA256)
	}
	return file, nil
}

func (x *Index) read(ctx context.Context, c *Client, location string) ([]byte, error) {
	if IsLocation(location) {
		return c.Download(ctx, location)
	}
	if !IsLocation(x.from) {
		if !filepath.IsLocal(location) {
			return nil, fmt.Errorf("location %q: want an address or a path below the index", location)
		}
		return os.ReadFile(filepath.Join(filepath.Dir(x.from), location))
	}
	base, err := url.Parse(x.from)
	if err != nil {
		return nil, err
	}
	to, err := base.Parse(location)
	if err != nil {
		return nil, fmt.Errorf("location %q: %w", location, err)
	}
	return c.Download(ctx, to.String())
}

// AddTo adds a release of a plugin to an index file, which is made if it is missing. A version that
// is listed with another digest is an error unless replace is set.
func AddTo(path string, p Listed, replace bool) error {
	c := &Client{}
	x, err := c.Index(context.Background(), path)
	if errors.Is(err, fs.ErrNotExist) {
		x, err = &Index{Format: indexFormat, Plugins: []Listed{}}, nil
	}
	if err != nil {
		return err
	}
	release := p.Versions[0]
	i := slices.IndexFunc(x.Plugins, func(q Listed) bool { return q.Name == p.Name })
	if i < 0 {
		x.Plugins = append(x.Plugins, p)
	} else {
		versions := x.Plugins[i].Versions
		at := slices.IndexFunc(versions, func(v Release) bool { return v.Version == release.Version })
		switch {
		case at < 0:
			versions = append(versions, release)
		case versions[at].SHA256 != release.SHA256 && !replace:
			return fmt.Errorf("index %s lists %s %s with another file; raise the version, or use --replace", path,
				p.Name,
				release.Version)
		default:
			versions[at] = release
		}
		p.Versions = versions
		x.Plugins[i] = p
	}
	slices.SortFunc(x.Plugins, func(a, b Listed) int { return strings.Compare(a.Name, b.Name) })
	raw, err := json.MarshalIndent(x, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(raw, '\n'), 0o644)
}
