package cli

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host"
	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/model"
	"github.com/easel-canvas/easel/host/internal/store"
)

var importCommand = command{
	name: "import", args: "FILE... [FLAGS]",
	summary: "saves files as canvases of a host",
	help: `
A FILE is a canvas as .json, with or without title and dsl around it, or a .zip of such files, as written by
` + "`easel export`" + `; published versions in them are published. If one of them is invalid, none is saved. The host
may be running.
` + placeHelp,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		i := &importer{named: map[string]bool{}}
		i.place.add(fs)
		fs.StringVar(&i.tenant, "tenant", host.FirstTenant, "`ID` of the tenant whose canvases they become")
		fs.Func("map", "`OLD=NEW` ids of models: steps that name OLD get NEW; may be repeated", func(v string) error {
			return setPair(&i.models, v)
		})
		fs.BoolVar(&i.replace, "replace", false, "save over canvases with the same title; their versions are kept")
		return i.run
	},
}

type importer struct {
	place   dataPlace
	tenant  string
	replace bool
	models  map[string]string // new ids by old ones
	named   map[string]bool   // models that the files name
}

// setPair adds an entry OLD=NEW to a map.
func setPair(to *map[string]string, v string) error {
	old, next, ok := strings.Cut(v, "=")
	old, next = strings.TrimSpace(old), strings.TrimSpace(next)
	if !ok || old == "" || next == "" {
		return errors.New("expected OLD=NEW, such as deepseek-chat@DeepSeek=gpt-4.1@OpenAI")
	}
	if *to == nil {
		*to = map[string]string{}
	}
	(*to)[old] = next
	return nil
}

// mostImport bounds a file to import and the unpacked size of an entry of a zip, in bytes.
const mostImport = 64 << 20

// imported is a canvas to be saved.
type imported struct {
	store.Canvas
	published []byte // the document to be published; nil for none
}

func (i *importer) run(ctx context.Context, a *app, args []string) (err error) {
	if len(args) == 0 {
		return misuse("import", "expected at least one FILE")
	}
	var all []imported
	for _, file := range args {
		list, err := i.read(a, file)
		if err != nil {
			return &usageError{"import", fmt.Errorf("%s: %w", file, err)}
		}
		all = append(all, list...)
	}
	for _, old := range slices.Sorted(maps.Keys(i.models)) {
		if !i.named[old] {
			return misuse("import", "--map %s: no step names this model", old)
		}
	}
	s, err := i.place.records(ctx, a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return i.save(ctx, a, s, all)
}

func (i *importer) read(a *app, file string) ([]imported, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if len(data) > mostImport {
		return nil, fmt.Errorf("%d bytes; at most %d are accepted", len(data), mostImport)
	}
	if !bytes.HasPrefix(data, []byte("PK\x03\x04")) {
		c, err := i.parse(a, file, data)
		return []imported{c}, err
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("the zip ends early, after %d bytes, or is damaged: %w", len(data), err)
	}
	var out []imported
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
		return nil, errors.New("it contains no .json files")
	}
	return out, nil
}

func (i *importer) entry(a *app, e *zip.File) (imported, error) {
	r, err := e.Open()
	if err != nil {
		return imported{}, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, mostImport+1))
	if err != nil {
		return imported{}, err
	}
	if len(data) > mostImport {
		return imported{}, fmt.Errorf("more than %d bytes", mostImport)
	}
	return i.parse(a, e.Name, data)
}

// parse reads a canvas, bare or wrapped with its title. A canvas that does not load is an error.
func (i *importer) parse(a *app, file string, data []byte) (imported, error) {
	data = engine.FileText(data)
	doc, err := engine.ParseJSON(data)
	if err != nil {
		return imported{}, err
	}
	if doc = i.renamed(doc); len(i.models) > 0 {
		data = doc.AppendJSON(nil)
	}
	canvas, err := engine.Load(a.registry, data)
	if err != nil {
		return imported{}, err
	}
	base := filepath.Base(file)
	c := imported{Canvas: store.Canvas{
		Tenant: i.tenant, Title: strings.TrimSuffix(base, filepath.Ext(base)), Permission: "me",
		Category: "agent_canvas",
		DSL:      canvas.Document().AppendJSON(nil),
	}}
	if v := doc.Get("published"); v.Kind() == engine.KindObject && !doc.Get("dsl").IsNull() {
		published, err := engine.Load(a.registry, v.AppendJSON(nil))
		if err != nil {
			return imported{}, fmt.Errorf("published: %w", err)
		}
		c.published = published.Document().AppendJSON(nil)
	}
	if canvas.IsPipeline() {
		c.Category = "dataflow_canvas"
	}
	for name, to := range map[string]*string{
		"title": &c.Title, "description": &c.Description, "avatar": &c.Avatar,
		"canvas_type": &c.Type,
	} {
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

// renamed returns a document with the ids of --map.
func (i *importer) renamed(doc engine.Value) engine.Value {
	model.NamedIn(doc, func(id string) { i.named[id] = true })
	return model.Renamed(doc, i.models)
}

// save writes the canvases. All checks come before the first write.
func (i *importer) save(ctx context.Context, a *app, s *store.Store, all []imported) error {
	if _, err := s.Tenants.Get(ctx, i.tenant); err != nil {
		return fmt.Errorf("tenant %s: %w", i.tenant, noTenant(ctx, s, err))
	}
	there := map[string]string{} // id by title
	known, _, err := s.Canvases.List(
		ctx, store.CanvasFilter{Viewer: access.All(i.tenant)}, store.Page{Documents: store.NoDocuments},
	)
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
	owner, err := s.Members.Owner(ctx, i.tenant)
	if err != nil {
		return err
	}
	for _, c := range all {
		c.User = owner
		if err := i.put(ctx, s, c, there[strings.ToLower(c.Title)]); err != nil {
			return fmt.Errorf("canvas %q: %w", c.Title, err)
		}
		fmt.Fprintf(a.out, "%s\n", c.Title)
	}
	return nil
}

// put saves a canvas, replacing the one with id unless that is empty: first the published version,
// then the draft.
func (i *importer) put(ctx context.Context, s *store.Store, c imported, id string) error {
	const title = "imported"
	type step struct {
		dsl     []byte
		publish bool
	}
	steps := []step{{c.DSL, bytes.Equal(c.DSL, c.published)}}
	if c.published != nil && !steps[0].publish {
		steps = []step{{c.published, true}, {c.DSL, false}}
	}
	for _, now := range steps {
		if id == "" {
			c.DSL, c.Released = now.dsl, now.publish
			made, err := s.Canvases.Create(ctx, c.Canvas, title)
			if err != nil {
				return err
			}
			id = made.ID
			continue
		}
		_, err := s.Canvases.Edit(ctx, i.tenant, id, title, func(old *store.Canvas) error {
			old.Description, old.Avatar, old.Type = c.Description, c.Avatar, c.Type
			old.DSL, old.Released = now.dsl, now.publish
			old.Author, old.Publisher = c.User, c.User
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
