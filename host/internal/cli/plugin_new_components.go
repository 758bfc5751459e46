package cli

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template"
)

// newComponent is a component of a new plugin as the templates of scaffolds/components name it.
// Identifiers have a prefix, as a name may be a keyword of the language.
type newComponent struct {
	Name  string // next-days
	Title string // NextDays
	Camel string // runNextDays
	Snake string // run_next_days
}

// newComponents reads the names of the components of a plugin, separated by commas.
func newComponents(plugin, list string) (all []newComponent, err error) {
	if list == "" {
		return nil, nil
	}
	for name := range strings.SplitSeq(list, ",") {
		if !pluginName.MatchString(name) {
			return nil, fmt.Errorf(
				"--components: name %q: expected lower-case letters, digits, - and _, starting with a letter", name)
		}
		if node := plugin + "." + name; name != plugin && len(node) > 64 {
			return nil, fmt.Errorf("--components: name %q: expected at most 64 characters", node)
		}
		c := newComponent{Name: name, Snake: "run_" + strings.ReplaceAll(name, "-", "_")}
		for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '-' || r == '_' }) {
			c.Title += strings.ToUpper(word[:1]) + word[1:]
		}
		c.Camel = "run" + c.Title
		same := func(other newComponent) bool { return other.Snake == c.Snake || other.Title == c.Title }
		if i := slices.IndexFunc(all, same); i >= 0 {
			return nil, fmt.Errorf("--components: %q and %q are the same function; name one differently",
				all[i].Name, name)
		}
		all = append(all, c)
	}
	if len(all) > 64 {
		return nil, errors.New("--components: expected at most 64")
	}
	return all, nil
}

// fillComponents executes a template with the components of a new plugin.
func fillComponents(name string, raw []byte, all []newComponent) ([]byte, error) {
	t, err := template.New(name).Parse(string(raw))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, all)
	return out.Bytes(), err
}
