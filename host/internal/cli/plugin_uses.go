package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/plugins/contract"
)

// usesPage is the number of canvases whose documents are read together.
const usesPage = 50

// printUses names the canvases of a host whose documents use a plugin that was switched off or
// removed. ref is weather, or weather@1 for one major.
func (p *pluginPlace) printUses(ctx context.Context, a *app, ref string) {
	users, err := p.uses(ctx, a, ref)
	if err != nil {
		fmt.Fprintln(a.err, "the canvases that use it cannot be listed:", err)
	}
	if len(users) > 0 && !p.json {
		fmt.Fprintln(a.out, "Canvases that use it, whose nodes now fail when reached:")
		for _, user := range users {
			fmt.Fprintf(a.out, "  %s\n", contract.PrintableLine(user))
		}
	}
}

// uses lists the canvases with a plugin, by title and id: those of the host whose data directory
// has the folder, or is named by the environment.
func (p *pluginPlace) uses(ctx context.Context, a *app, ref string) (found []string, err error) {
	dir, err := p.folder(a)
	if err != nil {
		return nil, err
	}
	var place dataPlace
	place.add(flag.NewFlagSet("", flag.ContinueOnError))
	if _, err := os.Stat(filepath.Join(filepath.Dir(dir), "easel.db")); err == nil {
		if err := place.flags.Set("data", filepath.Dir(dir)); err != nil {
			return nil, err
		}
	} else if !plugin.OfHost(dir) || a.getenv("EASEL_DATA") == "" {
		return nil, nil
	}
	records, err := place.records(ctx, a)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, records.Close()) }()
	tenants, err := records.Tenants.List(ctx)
	if err != nil {
		return nil, err
	}
	name, major, _ := strings.Cut(ref, "@")
	for _, t := range tenants {
		for offset := 0; ; offset += usesPage {
			list, _, err := records.Canvases.List(ctx, store.CanvasFilter{Viewer: access.All(t.ID)},
				store.Page{Offset: offset, Limit: usesPage, Order: "title", Asc: true})
			if err != nil {
				return found, err
			}
			for _, c := range list {
				doc, err := engine.ParseJSON(c.DSL)
				if err == nil {
					doc, err = engine.Complete(a.registry, doc)
				}
				if err == nil && namesPlugin(doc, name, major) { // no node of an unreadable document runs
					found = append(found, c.Title+" ("+c.ID+")")
				}
			}
			if len(list) < usesPage {
				break
			}
		}
	}
	return found, nil
}

// namesPlugin reports whether v has a node or tool of a plugin, in a major unless that is empty.
func namesPlugin(v engine.Value, name, major string) bool {
	if ref, ok := strings.CutPrefix(v.Get("component_name").Str(), engine.PluginPrefix); ok {
		named, _, version := contract.SplitRef(ref)
		of, _, _ := strings.Cut(version, ".")
		if named == name && (major == "" || of == "" || of == major) {
			return true
		}
	}
	for i := range v.Len() {
		if namesPlugin(v.At(i), name, major) {
			return true
		}
	}
	return false
}
