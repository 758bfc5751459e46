package host

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/app"
)

//go:embed examples/*.json
var examples embed.FS

// readTemplates reads the built-in examples and those of further folders.
// A file of a folder that does not load is an error, since the operator named the
// folder.
func readTemplates(registry *engine.Registry, folders []string) ([]app.Template, error) {
	inside, err := fs.Sub(examples, "examples")
	if err != nil {
		return nil, err
	}
	all := []fs.FS{inside}
	for _, dir := range folders {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("examples: %s is not a folder", dir)
		}
		all = append(all, os.DirFS(dir))
	}
	var out []app.Template
	for _, folder := range all {
		names, err := fs.Glob(folder, "*.json")
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			data, err := fs.ReadFile(folder, name)
			if err != nil {
				return nil, err
			}
			t, err := readTemplate(registry, name, data)
			if err != nil {
				return nil, fmt.Errorf("example %s: %w", name, err)
			}
			out = append(out, t)
		}
	}
	return out, nil
}

// readTemplate reads a canvas, or a template that wraps one under "dsl".
func readTemplate(registry *engine.Registry, file string, data []byte) (app.Template, error) {
	canvas, err := engine.Load(registry, data)
	if err != nil {
		return app.Template{}, err
	}
	doc, err := engine.ParseJSON(data)
	if err != nil {
		return app.Template{}, err
	}
	name := strings.TrimSuffix(filepath.Base(file), ".json")
	t := app.Template{
		ID: name, Title: engine.Object("en", name), Description: engine.Object("en", ""), Type: "Example",
		DSL: canvas.Document().AppendJSON(nil),
	}
	if _, wrapped := doc.Lookup("dsl"); wrapped {
		for key, to := range map[string]*engine.Value{"title": &t.Title, "description": &t.Description} {
			if v := doc.Get(key); v.Kind() == engine.KindObject {
				*to = v
			}
		}
		if v := doc.Get("canvas_type").Str(); v != "" {
			t.Type = v
		}
	}
	return t, nil
}
