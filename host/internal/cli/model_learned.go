package cli

import (
	"context"
	"flag"
	"net/url"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

var modelLearned = renamed(listing("model", "models/learned", "lists what was learned of models from their servers",
	"PROVIDER MODEL SHARED UNTIL LEARNED", func(m engine.Value) []string {
		until, _, _ := strings.Cut(m.Get("until").Str(), "T")
		return []string{
			m.Get("provider").Str(), m.Get("model").Str(), yesNo(m.Get("host")), until, learnedText(m),
		}
	}), "model learned")

// learnedText describes a lesson in one line.
func learnedText(m engine.Value) string {
	var parts []string
	for _, name := range m.Get("refused").Elements() {
		parts = append(parts, "no "+name.Str())
	}
	for from, to := range m.Get("renamed").Fields() {
		parts = append(parts, from+" as "+to.Str())
	}
	for _, name := range m.Get("unsent").Elements() {
		parts = append(parts, name.Str()+" has no place")
	}
	for _, f := range [...]struct{ name, text string }{
		{"no_tools", "no tools"}, {"samples", "takes sampling"}, {"reasons", "begins with reasoning"},
	} {
		if m.Get(f.name).True() {
			parts = append(parts, f.text)
		}
	}
	for _, f := range [...]struct{ name, text string }{
		{"base_url", "base URL "}, {"batch", "batch "}, {"max_tokens", "max_tokens "},
	} {
		if v := m.Get(f.name); v.Truthy() {
			parts = append(parts, f.text+v.Text())
		}
	}
	return strings.Join(parts, ", ")
}

var modelReset = command{
	name: "model reset", args: "PROVIDER [MODEL]",
	summary: "forgets what was learned of a model, or of all models of a provider",
	help: `
Parameters that its server refused are sent again. Use it after a server got another version or configuration.
` + remoteHelp,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		r := &remote{}
		r.add(fs)
		return func(ctx context.Context, a *app, args []string) error {
			if len(args) != 1 && len(args) != 2 {
				return misuse("model", "expected PROVIDER and MODEL, got %d arguments", len(args))
			}
			if err := r.open(a); err != nil {
				return err
			}
			path := providerPath(args[0]) + "/learned"
			if len(args) == 2 {
				path += "?model=" + url.QueryEscape(args[1])
			}
			_, err := r.ask(ctx, "DELETE", path, engine.Null)
			return err
		}
	},
}
