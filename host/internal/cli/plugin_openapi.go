package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/easel-canvas/easel/host/internal/cli/pluginkit"
	httptool "github.com/easel-canvas/easel/plugins/http"
)

// openAPIImport is `easel plugin import` for an OpenAPI document.
type openAPIImport struct {
	chosen texts
	all    bool
	server string
	dir    string
}

// isOpenAPI reports whether a document is one of OpenAPI, and returns it decoded.
func isOpenAPI(file string, raw []byte) (any, bool, error) {
	yamlFile := slices.Contains([]string{".yaml", ".yml"}, strings.ToLower(filepath.Ext(file)))
	var doc any
	if yamlFile {
		if err := yaml.Unmarshal(raw, &doc); err != nil {
			return nil, false, fmt.Errorf("%s: %w", file, err)
		}
		return doc, true, nil
	}
	if json.Unmarshal(raw, &doc) != nil {
		return nil, false, nil // Python, or an error that readLiteral reports better
	}
	m, _ := doc.(map[string]any)
	return doc, m["openapi"] != nil || m["swagger"] != nil, nil
}

// run creates a folder for each chosen operation, or lists the operations.
func (o *openAPIImport) run(a *app, file string, doc any) error {
	api, err := httptool.ReadOpenAPI(doc)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	api.Server = o.server
	operations := api.Operations()
	if !o.all && len(o.chosen) == 0 {
		var rows [][]string
		for _, op := range operations {
			rows = append(rows, []string{op.ID, op.Method + " " + op.Path, op.Summary})
		}
		fmt.Fprintln(a.err, "choose operations with --operation ID, or all of them with --all")
		return printTable(a.out, nil, rows)
	}
	for _, id := range o.chosen {
		if !slices.ContainsFunc(operations, func(op httptool.Operation) bool { return op.ID == id }) {
			return misuse("plugin import",
				"--operation %s: no such operation in %s; run without the flag to list them", id, file)
		}
	}
	return o.importAll(a, api, operations)
}

// importAll creates the folders of the chosen operations. With --all, operations that cannot be
// converted are left out and reported.
func (o *openAPIImport) importAll(a *app, api *httptool.OpenAPI, operations []httptool.Operation) error {
	taken := map[string]bool{}
	made, skipped := 0, []error{}
	for _, op := range operations {
		if !o.all && !slices.Contains(o.chosen, op.ID) {
			continue
		}
		im, err := api.Import(op)
		if err == nil {
			im.Rename(taken)
			err = o.write(a, im, op)
		}
		switch {
		case err == nil:
			made++
		case !o.all:
			return err
		default:
			skipped = append(skipped, err)
		}
	}
	if !o.all {
		return nil
	}
	for _, err := range skipped {
		fmt.Fprintln(a.err, "skipped:", err)
	}
	if made == 0 && len(skipped) > 0 {
		return fmt.Errorf("none of %d operations can be imported: %w", len(skipped), skipped[0])
	}
	_, err := fmt.Fprintf(a.err, "%d operations imported, %d skipped\n", made, len(skipped))
	return err
}

// write creates the folder of one operation.
func (o *openAPIImport) write(a *app, im *httptool.Imported, op httptool.Operation) error {
	files := map[string][]byte{}
	for name, content := range map[string]any{pluginkit.ManifestFile: im.Manifest, pluginkit.HTTPFile: im.Spec} {
		raw, err := json.MarshalIndent(content, "", "  ")
		if err != nil {
			return err
		}
		files[name] = append(raw, '\n')
	}
	to := filepath.Join(o.dir, im.Name)
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return &usageError{"", err}
	}
	if err := writeScaffold(to, files); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.out, "%s: %s %s\n", to, op.Method, op.Path)
	return err
}
