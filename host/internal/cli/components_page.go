package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/place"
)

// componentsPage writes what --json says as a page of markdown. Params that every component has
// stand once, on top.
func componentsPage(w io.Writer, specs []*engine.Spec) {
	described := make([]engine.Value, len(specs))
	count := map[string]int{}
	for i, s := range specs {
		described[i] = s.Describe()
		for name := range described[i].Get("params").Get("properties").Fields() {
			count[name]++
		}
	}
	shared := func(name string) bool { return len(specs) > 1 && count[name] == len(specs) }

	fmt.Fprint(w, "# Components\n\nWhat a canvas may use. This page is made by `easel components --markdown`; what is said of each component stands in its file.\n\n")
	fmt.Fprint(w, "| component | as a tool | what it does |\n| --- | --- | --- |\n")
	for i, s := range specs {
		fmt.Fprintf(w, "| [%s](#%s) | %s | %s |\n", s.Name, strings.ToLower(s.Name), described[i].Get("tool").Get("function").Get("name").Text(), inCell(s.Doc))
	}
	fmt.Fprint(w, "\n## Params of every component\n\n")
	if len(described) > 0 {
		paramTable(w, described[0], shared)
	}
	for i, s := range specs {
		componentSection(w, s, described[i], func(name string) bool { return !shared(name) })
	}
}

func componentSection(w io.Writer, s *engine.Spec, d engine.Value, own func(string) bool) {
	fmt.Fprintf(w, "\n## %s\n\n%s\n", s.Name, s.Doc)
	if len(s.Aliases) > 0 {
		fmt.Fprintf(w, "\nAlso named %s.\n", strings.Join(s.Aliases, ", "))
	}
	if s.Pipeline {
		fmt.Fprintln(w, "\nA step of an ingestion pipeline, a canvas that starts at File.")
	}
	var where []string
	for _, p := range place.All() {
		if status := p.Status(s); status.State != place.Runs {
			where = append(where, p.Name+" "+status.String())
		}
	}
	if len(where) > 0 {
		fmt.Fprintf(w, "\nIt does not run everywhere: %s.\n", strings.Join(where, "; "))
	}
	fmt.Fprintln(w)
	paramTable(w, d, own)
	for _, part := range []string{"inputs", "outputs"} {
		list := d.Get(part)
		if list.Len() == 0 {
			continue
		}
		fmt.Fprintf(w, "\n| %s | type | |\n| --- | --- | --- |\n", strings.TrimSuffix(part, "s"))
		for _, v := range list.Elements() {
			fmt.Fprintf(w, "| `%s` | %s | %s |\n", v.Get("name").Text(), v.Get("type").Text(), inCell(v.Get("description").Text()))
		}
	}
}

// paramTable lists the params that choose wants.
func paramTable(w io.Writer, d engine.Value, choose func(string) bool) {
	head := false
	for name, p := range d.Get("params").Get("properties").Fields() {
		if !choose(name) {
			continue
		}
		if !head {
			fmt.Fprint(w, "| param | type | default | |\n| --- | --- | --- | --- |\n")
			head = true
		}
		byDefault := ""
		if v, ok := p.Lookup("default"); ok {
			byDefault = "`" + inCell(v.JSON()) + "`"
		}
		text := p.Get("description").Text()
		if choices := p.Get("enum"); choices.Len() > 0 {
			var names []string
			for _, c := range choices.Elements() {
				names = append(names, c.Text())
			}
			text += ": " + strings.Join(names, ", ")
		}
		fmt.Fprintf(w, "| `%s` | %s | %s | %s |\n", name, typeOf(p), byDefault, inCell(text))
	}
}

// typeOf names the type of a schema in a few words.
func typeOf(schema engine.Value) string {
	switch kind := schema.Get("type").Text(); kind {
	case "":
		return "any"
	case "array":
		return "list of " + typeOf(schema.Get("items"))
	case "string":
		if format := schema.Get("format").Text(); format == "reference" {
			return "reference"
		}
		return kind
	default:
		return kind
	}
}

// inCell is a text for a cell of a table.
func inCell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(s)
}
