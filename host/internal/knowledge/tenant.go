package knowledge

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
)

// tenantMark begins the name of a folder with the datasets of one tenant.
const tenantMark = "@"

// A dataset's key is its name, behind the folder of its tenant when it is not for everybody:
// "shop", "@4f2a/shop", "@4f2a/." for documents right inside that folder.

// placeOf is the dataset that a file belongs to, by its key, and the file's path in it.
func placeOf(name string) (dataset, file string) {
	dataset, file, below := strings.Cut(name, "/")
	if !below {
		return ".", name
	}
	if !strings.HasPrefix(dataset, tenantMark) {
		return dataset, file
	}
	inner, deeper, below := strings.Cut(file, "/")
	if !below {
		return dataset + "/.", file
	}
	return dataset + "/" + inner, deeper
}

// nameOf is the name of a dataset as its tenant knows it.
func nameOf(dataset string) string {
	if strings.HasPrefix(dataset, tenantMark) {
		return path.Base(dataset)
	}
	return dataset
}

// view is what one tenant sees.
type view struct {
	*Base
	tenant string // "" sees what is for everybody
}

var (
	_ engine.Retriever         = view{}
	_ component.MetadataLister = view{}
)

// Of is the folder as a tenant sees it: the datasets of everybody and its own. Where both have one
// of a name, it is its own.
func (b *Base) Of(tenant string) engine.Retriever {
	if strings.ContainsAny(tenant, `/\`) {
		tenant = "" // no folder has such a name
	}
	return view{b, tenant}
}

// Retrieve finds passages of what the tenant sees.
func (v view) Retrieve(ctx context.Context, q *engine.RetrievalQuery) (engine.Found, error) {
	keys, err := v.keys(ctx, q.Datasets)
	if err != nil {
		return engine.Found{}, err
	}
	seen := *q
	seen.Datasets = keys
	return v.retrieve(ctx, &seen)
}

// Metadata gives the metadata of what the tenant sees.
func (v view) Metadata(ctx context.Context, datasets []string) (engine.Value, error) {
	keys, err := v.keys(ctx, datasets)
	if err != nil {
		return engine.Null, err
	}
	return v.metadata(ctx, keys)
}

// keys are those of named datasets. One that the tenant does not see does not exist.
func (v view) keys(ctx context.Context, names []string) ([]string, error) {
	var keys []string
	for _, name := range names {
		key, ok := v.key(name)
		if !ok {
			if err := v.await(ctx); err != nil {
				return nil, err // their names are not all known yet
			}
			known, err := v.Datasets(ctx)
			if err != nil {
				return nil, err
			}
			return nil, fmt.Errorf("dataset %q does not exist; there are %s", name, strings.Join(known, ", "))
		}
		if keys = append(keys, key); name == "." && v.tenant != "" {
			keys = append(keys, tenantMark+v.tenant+"/.")
		}
	}
	return keys, nil
}

func (v view) key(name string) (key string, ok bool) {
	if name == "." {
		return name, true
	}
	if name == "" || strings.ContainsAny(name, `/\`) || strings.HasPrefix(name, ".") || strings.HasPrefix(name, tenantMark) {
		return "", false
	}
	if own := tenantMark + v.tenant + "/" + name; v.tenant != "" && v.isFolder(own) {
		return own, true
	}
	return name, v.isFolder(name)
}

func (b *Base) isFolder(name string) bool {
	info, err := b.root.Stat(name)
	return err == nil && info.IsDir()
}

// Datasets are the names of all datasets that the tenant sees and that hold documents, and ".".
func (v view) Datasets(ctx context.Context) ([]string, error) {
	all, err := v.index.datasets(ctx)
	if err != nil {
		return nil, err
	}
	names := []string{"."}
	for _, key := range all {
		if !strings.HasPrefix(key, tenantMark) || v.tenant != "" && strings.HasPrefix(key, tenantMark+v.tenant+"/") {
			names = append(names, nameOf(key))
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
