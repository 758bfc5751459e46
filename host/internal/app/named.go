package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/access"
)

// Opened is a private object of a member that a canvas names: others read it through the canvas
// once the member has published it.
type Opened struct {
	Kind  string `json:"kind" jsonschema:"dataset or memory"`
	ID    string `json:"id"`
	Title string `json:"title"`
}

// unknownCodes are the codes of diagnostics about objects by their kind.
var unknownCodes = map[string]string{
	engine.NamedDataset: engine.CodeUnknownDataset, engine.NamedMemory: engine.CodeUnknownMemory,
	engine.NamedCanvas: engine.CodeUnknownCanvas, engine.NamedServer: engine.CodeUnknownServer,
	engine.NamedTool: engine.CodeUnknownTool,
}

// named looks up what a document names: it returns a diagnostic for each object that a principal
// may not use, as for one that does not exist, and the objects that are the principal's alone. Of a
// document that does not load it returns nothing.
func (s *Canvases) named(
	ctx context.Context, who Principal, dsl []byte,
) (lacking []engine.Diagnostic, own []Opened, err error) {
	canvas, err := s.runs.Load(dsl)
	if errors.Is(err, ErrCanvas) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	for _, n := range engine.NamedIn(canvas) {
		whose, found, err := s.object(ctx, who, n)
		switch {
		case errors.Is(err, ErrNotFound):
			d := engine.Diagnostic{
				Severity: engine.SeverityError, Code: unknownCodes[n.Kind], Node: n.Node, Param: n.Param,
				Message: unknownText(n),
			}
			if n.Mild {
				d.Severity = engine.SeverityWarning
			}
			lacking = append(lacking, d)
		case err != nil:
			return nil, nil, err
		case found.ID != "" && !whose.Team && whose.Owner != "" && !slices.Contains(own, found):
			own = append(own, found)
		}
	}
	return lacking, own, nil
}

// unknownText is the message about an object that does not exist.
func unknownText(n engine.Named) string {
	switch n.Kind {
	case engine.NamedServer:
		return fmt.Sprintf("MCP server %q is not known, so the agent has none of its tools; add it first", n.Name)
	case engine.NamedTool:
		return fmt.Sprintf("MCP server %q had no tool %q when its tools were last listed", n.Server, n.Name)
	}
	return fmt.Sprintf("%s %q does not exist, or you have no access to it", n.Kind, n.Name)
}

// object finds what a canvas names, as far as a principal may use it. Errors: [ErrNotFound].
func (s *Canvases) object(ctx context.Context, who Principal, n engine.Named) (access.Object, Opened, error) {
	who = who.Using()
	whose, found := access.Object{Tenant: who.Tenant}, Opened{Kind: n.Kind}
	switch n.Kind {
	case engine.NamedDataset:
		if s.datasets == nil || slices.Contains(s.sources, n.Name) {
			return whose, found, nil
		}
		list, err := s.datasets.Resolve(ctx, who, n.Name)
		if err == nil && len(list) == 1 && !list[0].ReadOnly {
			v := &list[0]
			found.ID, found.Title, whose.Owner, whose.Team = v.ID, v.Name, v.CreatedBy, v.Team
		}
		return whose, found, err
	case engine.NamedMemory:
		v, err := s.memories.Get(ctx, who.Remembers(), n.Name)
		if errors.Is(err, ErrNoMemory) {
			return whose, found, ErrNotFound
		}
		found.ID, found.Title = v.ID, v.Name
		return v.Access(), found, err
	case engine.NamedServer, engine.NamedTool:
		return whose, found, s.server(ctx, who.Tenant, n)
	}
	now, err := s.Revision(ctx, who, n.Name)
	return now.Access, found, err
}

// server looks up an MCP server or one of its tools. The tools of a server that was not listed yet
// are not known, so all count as existing, as do those of an unknown server, which has a diagnostic
// already. Errors: [ErrNotFound].
func (s *Canvases) server(ctx context.Context, tenant string, n engine.Named) error {
	id := n.Name
	if n.Kind == engine.NamedTool {
		id = n.Server
	}
	item, err := serverItem(ctx, s.store, tenant, id)
	if n.Kind == engine.NamedServer || err != nil {
		if n.Kind == engine.NamedTool && errors.Is(err, ErrNotFound) {
			return nil
		}
		return err
	}
	d, err := ParseServer(item)
	if err != nil {
		return err
	}
	tools := d.Variables.Get(ToolsVariable)
	if _, known := tools.Lookup(n.Name); !known && tools.Len() > 0 {
		return ErrNotFound
	}
	return nil
}

// Opened returns what of a principal's own others get to read when the principal publishes a
// document.
func (s *Canvases) Opened(ctx context.Context, who Principal, dsl []byte) ([]Opened, error) {
	_, own, err := s.named(ctx, who, dsl)
	return own, err
}

// mostUsing bounds the canvases that are searched for a dataset, newest first.
const mostUsing = 1000

// Using returns the canvases of a principal that search a dataset by its id or name. all is false
// if the principal has more canvases than are looked at.
func (s *Canvases) Using(ctx context.Context, who Principal, id, name string) (using []Canvas, all bool, err error) {
	rows, total, err := s.List(ctx, who, CanvasFilter{}, Page{Limit: mostUsing, Order: "update_time"})
	if err != nil {
		return nil, false, err
	}
	part := []byte(plainPart(name))
	for _, row := range rows {
		c, err := s.Get(ctx, who, row.ID)
		if errors.Is(err, ErrNotFound) {
			continue // deleted since it was listed
		}
		if err != nil {
			return nil, false, err
		}
		if !bytes.Contains(c.DSL, []byte(id)) && !bytes.Contains(c.DSL, part) {
			continue // most canvases need not be loaded
		}
		if s.searches(c.DSL, id, name) {
			using = append(using, c)
		}
	}
	return using, total <= len(rows), nil
}

// plainPart is the longest part of a name that JSON writes in one way only: other characters may be
// escaped or not.
func plainPart(name string) (longest string) {
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool {
		return r < ' ' || r >= unicode.MaxASCII || strings.ContainsRune(`"\/<>&'`, r)
	}) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	return longest
}

// searches reports whether a document names a dataset. Of one that does not load, its text decides.
func (s *Canvases) searches(dsl []byte, id, name string) bool {
	canvas, err := s.runs.Load(dsl)
	if err != nil {
		return bytes.Contains(dsl, []byte(id))
	}
	return slices.ContainsFunc(engine.NamedIn(canvas), func(n engine.Named) bool {
		return n.Kind == engine.NamedDataset && (n.Name == id || n.Name == name)
	})
}
