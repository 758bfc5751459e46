package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"regexp"
	"strings"
)

// guide is a document that the page shows.
type guide struct {
	ID    string `json:"id"`
	Group string `json:"group"`
	Title string `json:"title"`
	Text  string `json:"text"` // Markdown below the title
	file  string
}

// guideHost begins links to guides: the page reads only addresses of the web as links.
const guideHost = "https://guides.invalid/"

// guides lists the documents for users and operators, in the order in which they are shown.
// Documents about the code of easel are not among them.
func guides() []guide {
	return []guide{
		{ID: "start", Group: "use", file: "README.md"},
		{ID: "page", Group: "use", file: "web/README.md"},
		{ID: "components", Group: "use", file: "engine/component/README.md"},
		{ID: "words", Group: "use", file: "engine/VOCABULARY.md"},
		{ID: "embed", Group: "call", file: "docs/embed.md"},
		{ID: "api", Group: "call", file: "docs/api.md"},
		{ID: "compatibility", Group: "call", file: "docs/compatibility.md"},
		{ID: "one-machine", Group: "operate", file: "docs/operate/one-machine.md"},
		{ID: "many-machines", Group: "operate", file: "docs/operate/many-machines.md"},
		{ID: "roles", Group: "operate", file: "docs/operate/roles.md"},
		{ID: "document-access", Group: "operate", file: "docs/operate/document-access.md"},
		{ID: "databases", Group: "operate", file: "docs/operate/databases.md"},
		{ID: "durability", Group: "operate", file: "docs/operate/durability.md"},
		{ID: "host", Group: "operate", file: "host/README.md"},
		{ID: "plugins", Group: "plugins", file: "plugins/README.md"},
		{ID: "contract", Group: "plugins", file: "plugins/contract/contract.md"},
		{ID: "plugins-http", Group: "plugins", file: "plugins/http/README.md"},
		{ID: "plugins-js", Group: "plugins", file: "plugins/js/README.md"},
	}
}

// guides writes the documents as one file, and returns its name.
func (b bundler) guides() (string, error) {
	list, err := b.readGuides()
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(list)
	if err != nil {
		return "", err
	}
	return b.store("guides.json", text)
}

func (b bundler) readGuides() ([]guide, error) {
	list := guides()
	ids := map[string]string{}
	for _, g := range list {
		ids[g.file] = g.ID
	}
	for i, g := range list {
		text, err := os.ReadFile(b.abs(g.file))
		if err != nil {
			return nil, err
		}
		title, body, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
		var ok bool
		if list[i].Title, ok = strings.CutPrefix(title, "# "); !ok {
			return nil, fmt.Errorf("%s: its first line is no heading: %q", g.file, title)
		}
		list[i].Text = linked(strings.TrimSpace(body), g, ids)
	}
	return list, nil
}

var (
	picturePattern = regexp.MustCompile(`!\[[^\]]*\]\([^)]*\)`)
	linkPattern    = regexp.MustCompile(`\[([^\]]+)\]\(([^)\s]+)\)`)
)

// linked rewrites the links of a document outside its blocks of code: those to other guides lead
// there, those to files that the page does not have become their words.
func linked(text string, g guide, ids map[string]string) string {
	parts := strings.Split(text, "```")
	for i := 0; i < len(parts); i += 2 {
		plain := picturePattern.ReplaceAllString(parts[i], "")
		parts[i] = linkPattern.ReplaceAllStringFunc(plain, func(found string) string {
			m := linkPattern.FindStringSubmatch(found)
			if strings.Contains(m[2], "://") || strings.HasPrefix(m[2], "mailto:") {
				return found
			}
			file, heading, _ := strings.Cut(m[2], "#")
			id := g.ID
			if file != "" {
				id = ids[path.Join(path.Dir(g.file), file)]
			}
			switch {
			case id == "":
				return m[1]
			case heading == "":
				return "[" + m[1] + "](" + guideHost + id + ")"
			default:
				return "[" + m[1] + "](" + guideHost + id + "/" + heading + ")"
			}
		})
	}
	return strings.Join(parts, "```")
}
