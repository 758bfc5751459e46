package cli

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host"
	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/store"
)

var exportCommand = command{
	name: "export", args: "[TITLE|ID...] [FLAGS]",
	summary: "writes canvases of a host as files",
	help: `
Without names it writes all canvases of the tenant. A single canvas can be written to a .json file or to standard
output, any number to a .zip file. Published versions are included, conversations only with --with-state. The host may
be running.
` + placeHelp,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		e := &exporter{}
		e.place.add(fs)
		fs.StringVar(&e.tenant, "tenant", host.FirstTenant, "`ID` of the tenant whose canvases they are")
		fs.StringVar(&e.out, "o", "", "`FILE` to write, .json or .zip; standard output when left out")
		fs.BoolVar(&e.state, "with-state", false, "keep the conversation in a canvas")
		return e.run
	},
}

type exporter struct {
	place       dataPlace
	tenant, out string
	state       bool
}

func (e *exporter) run(ctx context.Context, a *app, args []string) (err error) {
	s, err := e.place.records(ctx, a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	list, err := chosen(ctx, s, e.tenant, args)
	if err != nil {
		return err
	}
	if filepath.Ext(e.out) == ".zip" {
		err = writeWhole(e.out, func(w io.Writer) error { return e.zip(ctx, a, s, w, list) })
	} else {
		if len(list) != 1 {
			return misuse("export", "there are %d canvases: name one, or write a .zip file with -o", len(list))
		}
		text, err := e.document(ctx, a, s, list[0])
		if err != nil {
			return err
		}
		if e.out == "" {
			_, err := a.out.Write(text)
			return err
		}
		if err := writeWhole(e.out, func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		}); err != nil {
			return err
		}
	}
	if err == nil {
		fmt.Fprintf(a.err, "%s: %d canvases\n", e.out, len(list))
	}
	return err
}

// chosen returns the canvases with the given titles or ids; all without arguments.
func chosen(ctx context.Context, s *store.Store, tenant string, names []string) ([]store.Canvas, error) {
	all, _, err := s.Canvases.List(
		ctx, store.CanvasFilter{Viewer: access.All(tenant)}, store.Page{Order: "title", Asc: true},
	)
	if err != nil || len(names) == 0 {
		return all, err
	}
	var out []store.Canvas
	for _, name := range names {
		found := false
		for _, c := range all {
			if c.ID == name || strings.EqualFold(c.Title, name) {
				out, found = append(out, c), true
			}
		}
		if !found {
			return nil, misuse("export", "no canvas %q; there are %s", name, titles(all))
		}
	}
	return out, nil
}

func titles(list []store.Canvas) string {
	var out []string
	for _, c := range list {
		out = append(out, fmt.Sprintf("%q", c.Title))
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}

// document returns a canvas as a file: its title and settings, its document under dsl and the
// published one, if any, under published.
func (e *exporter) document(ctx context.Context, a *app, s *store.Store, c store.Canvas) ([]byte, error) {
	v := engine.Object("title", c.Title, "description", c.Description, "avatar", c.Avatar, "canvas_type", c.Type,
		"canvas_category", c.Category, "dsl", e.dsl(a, c.DSL))
	if c.Published != "" {
		published, err := s.Canvases.Version(ctx, c.Tenant, c.Published)
		if err != nil {
			return nil, err
		}
		v = v.With("published", e.dsl(a, published.DSL))
	}
	var out bytes.Buffer
	_ = json.Indent(&out, v.AppendJSON(nil), "", "  ") // it is JSON
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// dsl returns a document in the form of a file.
func (e *exporter) dsl(a *app, dsl []byte) engine.Value {
	if canvas, err := engine.Load(a.registry, dsl); err == nil && !e.state {
		state := canvas.State()
		state.Reset(false)
		dsl = canvas.Save(state)
	}
	doc, err := engine.ParseJSON(dsl)
	if err != nil {
		doc = engine.String(string(dsl)) // incomplete: it is written as it is
	}
	return doc
}

func (e *exporter) zip(ctx context.Context, a *app, s *store.Store, w io.Writer, list []store.Canvas) error {
	z := zip.NewWriter(w)
	taken := map[string]int{}
	for _, c := range list {
		name := fileName(c.Title)
		key := strings.ToLower(name)
		if taken[key]++; taken[key] > 1 {
			name = fmt.Sprintf("%s (%s)", name, c.ID)
		}
		text, err := e.document(ctx, a, s, c)
		if err != nil {
			return err
		}
		f, err := z.Create(name + ".json")
		if err == nil {
			_, err = f.Write(text)
		}
		if err != nil {
			return err
		}
	}
	return z.Close()
}

// fileName returns a title without characters that file systems refuse.
func fileName(title string) string {
	name := strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, strings.TrimSpace(title))
	if name = strings.Trim(name, "."); name == "" {
		name = "canvas"
	}
	return name
}
