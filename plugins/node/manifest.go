package node

import (
	"errors"

	"github.com/easel-canvas/easel/engine"
)

// Manifest is the part of what a plugin says about itself that makes it a component.
type Manifest struct {
	Name        string
	Version     string
	Description string
	Display     string // name for people, in English
	Params      Schema // null when it has none, as the other two
	Arguments   Schema
	Outputs     Schema
	Streams     bool
	Idempotent  bool
	Chats       bool // asks models
}

// ReadManifest reads a manifest that whoever loaded the plugin has checked; of one that was not it
// refuses what would make no component.
func ReadManifest(v engine.Value) (*Manifest, error) {
	m := &Manifest{
		Name: v.Get("name").Str(), Version: v.Get("version").Str(), Description: v.Get("description").Str(),
		Display: v.Get("display").Get("en").Str(),
		Params:  Schema{v.Get("params")}, Arguments: Schema{v.Get("arguments")}, Outputs: Schema{v.Get("outputs")},
		Streams: v.Get("streams").True(), Idempotent: v.Get("idempotent").True(),
		Chats: !v.Get("permissions").Get("llm").IsNull(),
	}
	if m.Name == "" || m.Version == "" {
		return nil, errors.New("manifest: name or version is missing")
	}
	for _, s := range [...]Schema{m.Params, m.Arguments, m.Outputs} {
		if !s.IsNull() && s.Kind() != engine.KindObject {
			return nil, errors.New("manifest: params, arguments and outputs want a schema")
		}
	}
	if m.Display == "" {
		m.Display = m.Name
	}
	return m, nil
}
