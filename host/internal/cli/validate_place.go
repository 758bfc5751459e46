package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/nearest"
	"github.com/easel-canvas/easel/host/internal/cli/place"
	"github.com/easel-canvas/easel/host/internal/model"
)

// placeCheck lists the nodes of a canvas that do not work at a place, with reasons.
type placeCheck struct {
	app      *app
	place    *place.Place
	models   *model.Models // nil for the page, where the user chooses the models
	datasets []string      // nil if unknown
	found    []engine.Diagnostic
}

// newPlaceCheck reads the model configuration and, unless it is "", the folder of datasets.
func newPlaceCheck(a *app, name, knowledge string) (*placeCheck, error) {
	p, err := place.Named(name)
	if err != nil {
		return nil, misuse("validate", "--place: %w", err)
	}
	c := &placeCheck{app: a, place: p}
	if p.Name != "page" {
		config, err := model.FromEnvironment(a.getenv)
		if err == nil {
			c.models, err = model.New(config)
		}
		if err != nil {
			return nil, &usageError{"validate", fmt.Errorf("model configuration: %w", err)}
		}
	}
	if knowledge != "" {
		folders, err := os.ReadDir(knowledge)
		if err != nil {
			return nil, &usageError{"validate", fmt.Errorf("--knowledge: %w", err)}
		}
		c.place, c.datasets = p.With("Retriever"), []string{}
		for _, f := range folders {
			if f.IsDir() {
				c.datasets = append(c.datasets, filepath.Base(f.Name()))
			}
		}
	}
	return c, nil
}

// check adds the diagnostics of the place to those of a canvas. They replace the general hint that
// a component needs a port.
func (c *placeCheck) check(data []byte, general []engine.Diagnostic) []engine.Diagnostic {
	doc, err := engine.ParseJSON(data)
	if err != nil {
		return general // it reports that itself
	}
	if doc, err = engine.Complete(c.app.registry, doc); err != nil {
		return general
	}
	c.found = nil
	for id, node := range doc.Get("components").Fields() {
		obj := node.Get("obj")
		c.node(id, "", obj.Get("component_name").Str(), obj.Get("params"))
	}
	if c.models != nil {
		c.found = append(c.found, c.models.UnknownIn(doc)...)
	}
	general = slices.DeleteFunc(slices.Clone(general), func(d engine.Diagnostic) bool {
		return d.Code == engine.CodeNeedsHost || d.Code == engine.CodeUnsupported
	})
	return append(general, c.found...)
}

// node checks a node, or a tool of an Agent, and the tools below it.
func (c *placeCheck) node(id, tool, kind string, params engine.Value) {
	spec, err := c.app.registry.Lookup(kind)
	if err != nil {
		return // reported by loading
	}
	param := ""
	if tool != "" {
		param = "tools"
	}
	add := func(severity engine.Severity, code, param, format string, args ...any) {
		message := fmt.Sprintf(format, args...)
		if tool != "" {
			message = "tool " + tool + ": " + message
		}
		d := engine.Diagnostic{Severity: severity, Code: code, Message: message, Node: id, Param: param}
		c.found = append(c.found, d)
	}
	own := func(name string) string {
		if param != "" {
			return param
		}
		return name
	}
	switch status := c.place.Status(spec); status.State {
	case place.Needs:
		add(engine.SeverityError, engine.CodeNotAvailable, param, "%s does not run here (%s): it requires %s",
			spec.Name, c.place.Name, status.Needs)
	case place.StandIn:
		add(engine.SeverityWarning, engine.CodeNotAvailable, param, "%s does not run here (%s): a stand-in answers",
			spec.Name, c.place.Name)
	}
	if acts, ok := spec.New().(interface{ Needs() string }); ok && acts.Needs() == "Code" {
		if language := scriptLanguage(params.Get("lang").Str()); !c.place.Runs(language) {
			add(engine.SeverityError, engine.CodeUnknownLanguage, own("lang"),
				"scripts in %s do not run here (%s); accepted are %s",
				language, c.place.Name, strings.Join(c.place.Languages, ", "))
		}
	}
	for _, name := range []string{"kb_ids", "dataset_ids"} {
		for _, v := range params.Get(name).Elements() {
			if message := c.unknownDataset(v.Str()); message != "" {
				add(engine.SeverityError, engine.CodeUnknownDataset, own(name), "%s", message)
			}
		}
	}
	for _, entry := range params.Get("mcp").Elements() {
		for _, message := range unknownServerParams(entry) {
			add(engine.SeverityWarning, engine.CodeUnknownParam, own("mcp"), "%s", message)
		}
	}
	for _, entry := range params.Get("tools").Elements() {
		name := entry.Get("name").Str()
		if tool != "" {
			name = tool + " > " + name
		}
		c.node(id, name, entry.Get("component_name").Str(), entry.Get("params"))
	}
}

// unknownDataset returns the problem of the name of a dataset; "" for known names and references,
// and if the datasets of the place are unknown.
func (c *placeCheck) unknownDataset(name string) string {
	if c.datasets == nil || name == "" || strings.Contains(name, "@") || slices.Contains(c.datasets, name) {
		return ""
	}
	message := fmt.Sprintf("no dataset %q", name)
	if meant, ok := nearest.Match(name, c.datasets); ok {
		message += fmt.Sprintf("; did you mean %q?", meant)
	}
	return message
}

// scriptLanguage returns the language of a name in a canvas.
func scriptLanguage(name string) string {
	switch strings.ToLower(name) {
	case "", "python", "python3":
		return "python"
	case "javascript", "nodejs":
		return "javascript"
	}
	return name
}

// serverParams are the settings of an MCP server in a canvas.
var serverParams = []string{"mcp_id", "url", "server_type", "tools", "approval"}

// unknownServerParams returns a message for each other setting of an entry. The engine leaves this
// check out, because its module has a bound on its size.
func unknownServerParams(entry engine.Value) (messages []string) {
	for name := range entry.Fields() {
		if slices.Contains(serverParams, name) || strings.HasPrefix(name, "_") {
			continue
		}
		server := cmp.Or(entry.Get("mcp_id").Text(), entry.Get("url").Text())
		message := fmt.Sprintf("MCP server %s: unknown parameter %q, which has no effect", server, name)
		if meant, ok := nearest.Match(name, serverParams); ok {
			message += fmt.Sprintf("; did you mean %q?", meant)
		}
		messages = append(messages, message)
	}
	return messages
}
