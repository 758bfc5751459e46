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
	"os"
	"path/filepath"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/store"
)

// firstTenant is the tenant of a host with one user.
const firstTenant = "00000000000000000000000000000001"

var exportCommand = command{
	name: "export", args: "[TITLE|ID...] [FLAGS]",
	summary: "writes canvases of a host as files",
	help: `
Without names it writes all canvases of the tenant. One canvas may go to a .json file or to standard output; a .zip file
takes any number. Conversations are left out unless --with-state asks for them. The host may be at work.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		e := &exporter{}
		e.place.add(fs)
		fs.StringVar(&e.tenant, "tenant", firstTenant, "`ID` of the tenant whose canvases they are")
		fs.StringVar(&e.out, "o", "", "`FILE` to write, .json or .zip; standard output when left out")
		fs.BoolVar(&e.state, "with-state", false, "keep the conversation that a canvas holds")
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
		err = writeWhole(e.out, func(w io.Writer) error { return e.zip(a, w, list) })
	} else {
		if len(list) != 1 {
			return misuse("export", "there are %d canvases: name one, or write a .zip file with -o", len(list))
		}
		text := e.document(a, list[0])
		if e.out == "" {
			_, err := a.out.Write(text)
			return err
		}
		err = writeWhole(e.out, func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		})
	}
	if err == nil {
		fmt.Fprintf(a.err, "%s: %d canvases\n", e.out, len(list))
	}
	return err
}

// chosen finds canvases by title or id; none named means all.
func chosen(ctx context.Context, s *store.Store, tenant string, names []string) ([]store.Canvas, error) {
	all, _, err := s.Canvases(ctx, store.CanvasFilter{Tenants: []string{tenant}}, store.Page{Order: "title", Asc: true})
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

// document is a canvas as a file: what belongs to it, and its document under dsl.
func (e *exporter) document(a *app, c store.Canvas) []byte {
	dsl := c.DSL
	if canvas, err := engine.Load(a.registry, dsl); err == nil && !e.state {
		state := canvas.State()
		state.Reset(false)
		dsl = canvas.Save(state)
	}
	doc, err := engine.ParseJSON(dsl)
	if err != nil {
		doc = engine.String(string(dsl)) // half-drawn; it goes as it is
	}
	v := engine.Object("title", c.Title, "description", c.Description, "avatar", c.Avatar, "canvas_type", c.Type,
		"canvas_category", c.Category, "dsl", doc)
	var out bytes.Buffer
	_ = json.Indent(&out, v.AppendJSON(nil), "", "  ") // it is JSON
	out.WriteByte('\n')
	return out.Bytes()
}

func (e *exporter) zip(a *app, w io.Writer, list []store.Canvas) error {
	z := zip.NewWriter(w)
	taken := map[string]int{}
	for _, c := range list {
		name := fileName(c.Title)
		key := strings.ToLower(name)
		if taken[key]++; taken[key] > 1 {
			name = fmt.Sprintf("%s (%s)", name, c.ID)
		}
		f, err := z.Create(name + ".json")
		if err == nil {
			_, err = f.Write(e.document(a, c))
		}
		if err != nil {
			return err
		}
	}
	return z.Close()
}

// fileName is a title without what file systems refuse.
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

var importCommand = command{
	name: "import", args: "FILE... [FLAGS]",
	summary: "saves files as canvases of a host",
	help: `
A FILE is a canvas as .json, with or without title and dsl around it, or a .zip of such files, as ` + "`easel export`" + ` writes
them. When one of them cannot be saved as it is, none is. The host may be at work.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		i := &importer{}
		i.place.add(fs)
		fs.StringVar(&i.tenant, "tenant", firstTenant, "`ID` of the tenant whose canvases they become")
		fs.BoolVar(&i.replace, "replace", false, "save over canvases with the same title; their versions are kept")
		return i.run
	},
}

type importer struct {
	place   dataPlace
	tenant  string
	replace bool
}

// mostImport bounds a file to import, and what an entry of a zip unpacks to, in bytes.
const mostImport = 64 << 20

func (i *importer) run(ctx context.Context, a *app, args []string) (err error) {
	if len(args) == 0 {
		return misuse("import", "a FILE is needed")
	}
	var all []store.Canvas
	for _, file := range args {
		list, err := i.read(a, file)
		if err != nil {
			return &usageError{"import", fmt.Errorf("%s: %w", file, err)}
		}
		all = append(all, list...)
	}
	s, err := i.place.records(ctx, a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return i.save(ctx, a, s, all)
}

func (i *importer) read(a *app, file string) ([]store.Canvas, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if len(data) > mostImport {
		return nil, fmt.Errorf("it has %d bytes; at most %d are read", len(data), mostImport)
	}
	if !bytes.HasPrefix(data, []byte("PK\x03\x04")) {
		c, err := i.parse(a, file, data)
		return []store.Canvas{c}, err
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	var out []store.Canvas
	for _, e := range z.File {
		if e.FileInfo().IsDir() || filepath.Ext(e.Name) != ".json" {
			continue
		}
		c, err := i.entry(a, e)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name, err)
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		return nil, errors.New("it holds no .json files")
	}
	return out, nil
}

func (i *importer) entry(a *app, e *zip.File) (store.Canvas, error) {
	r, err := e.Open()
	if err != nil {
		return store.Canvas{}, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, mostImport+1))
	if err != nil {
		return store.Canvas{}, err
	}
	if len(data) > mostImport {
		return store.Canvas{}, fmt.Errorf("it has more than %d bytes", mostImport)
	}
	return i.parse(a, e.Name, data)
}

// parse reads a canvas, or one that is wrapped with its title. What does not load is refused.
func (i *importer) parse(a *app, file string, data []byte) (store.Canvas, error) {
	canvas, err := engine.Load(a.registry, data)
	if err != nil {
		return store.Canvas{}, err
	}
	doc, err := engine.ParseJSON(data)
	if err != nil {
		return store.Canvas{}, err
	}
	base := filepath.Base(file)
	c := store.Canvas{
		Tenant: i.tenant, User: i.tenant, Title: strings.TrimSuffix(base, filepath.Ext(base)), Permission: "me", Category: "agent_canvas",
		DSL: canvas.Document().AppendJSON(nil),
	}
	if canvas.IsPipeline() {
		c.Category = "dataflow_canvas"
	}
	for name, to := range map[string]*string{"title": &c.Title, "description": &c.Description, "avatar": &c.Avatar, "canvas_type": &c.Type} {
		v := doc.Get(name)
		if v.Kind() == engine.KindObject {
			v = v.Get("en") // a template
		}
		if v.Kind() == engine.KindString && (v.Str() != "" || name != "title") {
			*to = v.Str()
		}
	}
	return c, nil
}

// save writes the canvases. What can be refused is refused before the first is written.
func (i *importer) save(ctx context.Context, a *app, s *store.Store, all []store.Canvas) error {
	if _, err := s.Tenant(ctx, i.tenant); err != nil {
		return fmt.Errorf("tenant %s: %w", i.tenant, err)
	}
	there := map[string]string{} // id by title
	known, _, err := s.Canvases(ctx, store.CanvasFilter{Tenants: []string{i.tenant}}, store.Page{})
	if err != nil {
		return err
	}
	for _, c := range known {
		there[strings.ToLower(c.Title)] = c.ID
	}
	coming := map[string]bool{}
	for _, c := range all {
		title := strings.ToLower(c.Title)
		if there[title] != "" && !i.replace {
			return misuse("import", "there is a canvas %q already; --replace saves over it", c.Title)
		}
		if coming[title] {
			return misuse("import", "two files have the title %q", c.Title)
		}
		coming[title] = true
	}
	for _, c := range all {
		if id := there[strings.ToLower(c.Title)]; id != "" {
			_, err = s.EditCanvas(ctx, i.tenant, id, "imported", func(old *store.Canvas) error {
				old.DSL, old.Description, old.Avatar, old.Type = c.DSL, c.Description, c.Avatar, c.Type
				return nil
			})
		} else {
			_, err = s.CreateCanvas(ctx, c, "imported")
		}
		if err != nil {
			return fmt.Errorf("canvas %q: %w", c.Title, err)
		}
		fmt.Fprintf(a.out, "%s\n", c.Title)
	}
	return nil
}
