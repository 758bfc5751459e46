package cli

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// The verbs of `easel model`.
var modelCommand = command{
	name: "model", args: "VERB [ARGUMENTS]",
	summary: "manages the models of a host",
	help: verbHelp("model", modelVerbs()) + `

  OPENAI_API_KEY=... easel model add OpenAI --key-env OPENAI_API_KEY
  easel model offered OpenAI gpt
  easel model default gpt-4.1@OpenAI`,
	setup: needsVerb("model"),
	verbs: modelVerbs,
}

func modelVerbs() []command {
	return []command{
		modelList, modelPresets, modelFind, modelAdd, modelOffered, modelTest, modelDefault, modelAlias,
		modelRemove, modelPrices, modelLearned, modelReset,
	}
}

var modelList = listing("model", "models", "lists the models that canvases can name", "ID KIND PROVIDER SHARED ABOUT",
	func(m engine.Value) []string {
		return []string{
			m.Get("id").Str(), m.Get("kind").Str(), m.Get("provider").Str(), yesNo(m.Get("host")), m.Get("about").Str(),
		}
	})

// yesNo formats a flag for a cell; one that is not known is empty.
func yesNo(v engine.Value) string {
	if v.IsNull() {
		return ""
	}
	return map[bool]string{true: "yes", false: "no"}[v.True()]
}

var modelPresets = renamed(listing("model", "provider-presets", "lists the providers that need no more than a key",
	"NAME API URL ALIASES", func(p engine.Value) []string {
		aliases := make([]string, 0, 4)
		for _, a := range p.Get("aliases").Elements() {
			aliases = append(aliases, a.Str())
		}
		return []string{
			p.Get("name").Str(), p.Get("api").Str(), p.Get("base_url").Str(), strings.Join(aliases, ", "),
		}
	}), "model presets")

func renamed(c command, name string) command {
	c.name = name
	return c
}

var modelFind = command{
	name:    "model find",
	summary: "looks for model servers on the machine of the host",
	help: `
The addresses of the presets of local servers are asked for their models. Add one with
` + "`easel model add NAME --local`" + `. Both need the right to operate the host.
` + remoteHelp,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		r := &remote{}
		r.add(fs)
		return func(ctx context.Context, a *app, args []string) error {
			if len(args) > 0 {
				return misuse("model", "model find takes no arguments, got %d", len(args))
			}
			if err := r.open(a); err != nil {
				return err
			}
			found, err := r.ask(ctx, "POST", "local-providers", engine.Object())
			if err != nil || r.json {
				return r.shown(found, err)
			}
			if found.Get("items").Len() == 0 {
				_, err = fmt.Fprintln(a.out, "no model server answers at the usual addresses of the host's machine")
				return err
			}
			var rows [][]string
			for _, p := range found.Get("items").Elements() {
				var names []string
				for _, m := range p.Get("models").Elements() {
					names = append(names, m.Get("name").Str())
				}
				rows = append(rows, []string{p.Get("name").Str(), p.Get("base_url").Str(), strings.Join(names, ", ")})
			}
			return printTable(a.out, strings.Fields("NAME URL MODELS"), rows)
		}
	},
}

// modelAdder is the add verb with its flags.
type modelAdder struct {
	remote
	keyEnv, keyFile, baseURL, api, models string
	local                                 bool
}

var modelAdd = command{
	name: "model add", args: "PROVIDER [FLAGS]",
	summary: "adds a provider, or replaces it",
	help: `
PROVIDER is a name of the presets, NAME@PRESET for a second account, or any other name with --base-url. Without a key,
the key that was stored for the same address is kept. A provider without --models accepts every name.
` + remoteHelp,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		m := &modelAdder{}
		m.add(fs)
		fs.StringVar(&m.keyEnv, "key-env", "", "`VARIABLE` of the environment with the key of the provider")
		fs.StringVar(&m.keyFile, "key-file", "", "`FILE` whose first line is the key; - is the standard input")
		fs.StringVar(&m.baseURL, "base-url", "", "`URL` of its API; that of the preset when left out")
		fs.StringVar(&m.api, "api", "",
			"`FORM` of its API: openai, azure, anthropic, bedrock, gemini, ollama or responses")
		fs.BoolVar(&m.local, "local", false, "allow the address, which is one of the machine of the host")
		fs.StringVar(&m.models, "models", "", "`NAME,...` of its models")
		return m.run
	},
}

func (m *modelAdder) run(ctx context.Context, a *app, args []string) error {
	if len(args) != 1 {
		return misuse("model", "expected one PROVIDER, got %d", len(args))
	}
	if err := m.open(a); err != nil {
		return err
	}
	key := ""
	switch {
	case m.keyEnv != "" && m.keyFile != "":
		return misuse("model", "--key-env and --key-file exclude each other")
	case m.keyEnv != "":
		if key = a.getenv(m.keyEnv); key == "" {
			return misuse("model", "the variable %s is empty", m.keyEnv)
		}
	case m.keyFile != "":
		var err error
		if key, err = firstLine(a.in, m.keyFile); err != nil {
			return fmt.Errorf("key: %w", err)
		}
	}
	body := engine.NewObject(4)
	for name, v := range map[string]string{"key": key, "base_url": m.baseURL, "api": m.api} {
		if v != "" {
			body.Set(name, engine.String(v))
		}
	}
	var models []engine.Value
	for name := range strings.SplitSeq(m.models, ",") {
		if name = strings.TrimSpace(name); name != "" {
			models = append(models, engine.Object("name", name))
		}
	}
	body.Set("models", engine.List(models...))
	if m.local {
		body.Set("local", engine.Bool(true))
	}
	path := providerPath(args[0])
	made, err := m.ask(ctx, "PUT", path, body.Value())
	if err != nil || m.json {
		return m.shown(made, err)
	}
	fmt.Fprintf(a.out, "added %s, %s\n", made.Get("name").Str(), made.Get("base_url").Str())
	offers, err := m.ask(ctx, "GET", path+"/models", engine.Null)
	if err != nil {
		fmt.Fprintf(a.err, "its models could not be listed: %v\n", err)
		return nil // it is stored: a server may list none, or be off
	}
	fmt.Fprintf(a.out, "it serves %d models: easel model offered %s\n", offers.Get("items").Len(), args[0])
	return nil
}

func providerPath(name string) string { return "providers/" + url.PathEscape(name) }

var modelOffered = command{
	name: "model offered", args: "PROVIDER [WORD...]",
	summary: "lists the models that a provider serves",
	help: `
With words, only models whose names contain all of them. A cell is empty if the provider does not say it.
` + remoteHelp,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		r := &remote{}
		r.add(fs)
		return func(ctx context.Context, a *app, args []string) error {
			if len(args) == 0 {
				return misuse("model", "expected a PROVIDER")
			}
			if err := r.open(a); err != nil {
				return err
			}
			list, err := r.ask(ctx, "GET", providerPath(args[0])+"/models", engine.Null)
			if err != nil || r.json {
				return r.shown(list, err)
			}
			var rows [][]string
			for _, m := range list.Get("items").Elements() {
				if !containsAll(m.Get("name").Str(), args[1:]) {
					continue
				}
				rows = append(rows, []string{
					m.Get("name").Str(), m.Get("kind").Str(), m.Get("context").Text(), yesNo(m.Get("tools")),
					yesNo(m.Get("images")), yesNo(m.Get("reasoning")),
				})
			}
			return printTable(a.out, strings.Fields("NAME KIND CONTEXT TOOLS IMAGES REASONING"), rows)
		}
	},
}

func containsAll(text string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(strings.ToLower(text), strings.ToLower(w)) {
			return false
		}
	}
	return true
}

var modelTest = command{
	name: "model test", args: "PROVIDER [MODEL]",
	summary: "requests a short answer from a model of a provider",
	help: `
Without MODEL, the first one of the provider. The command fails if the model does not answer.
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
			body := engine.Object("model", strings.Join(args[1:], ""))
			v, err := r.ask(ctx, "POST", providerPath(args[0])+"/test", body)
			if err != nil || r.json {
				return r.shown(v, err)
			}
			if text := v.Get("error").Str(); text != "" {
				return fmt.Errorf("%s", text)
			}
			_, err = fmt.Fprintf(a.out, "%s answers in %s ms: %s\n", v.Get("model").Str(), v.Get("took_ms").Text(),
				v.Get("answer").Str())
			return err
		}
	},
}

var modelDefault = command{
	name: "model default", args: "[MODEL@PROVIDER]",
	summary: "shows or sets the models of canvases that name none",
	help: `
--kind chooses which default is set. An empty MODEL@PROVIDER leaves the choice to the host.
` + remoteHelp,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		r := &remote{}
		r.add(fs)
		kind := fs.String("kind", "chat", "`KIND` of model: chat, embedding, speech or transcription")
		return func(ctx context.Context, a *app, args []string) error {
			if len(args) > 1 {
				return misuse("model", "expected one MODEL@PROVIDER, got %d", len(args))
			}
			kinds := []string{"chat", "embedding", "speech", "transcription"}
			if !slices.Contains(kinds, *kind) {
				return misuse("model", "--kind %s: expected chat, embedding, speech or transcription", *kind)
			}
			if err := r.open(a); err != nil {
				return err
			}
			v, err := r.ask(ctx, "GET", "models/default", engine.Null)
			if err == nil && len(args) == 1 {
				v, err = r.ask(ctx, "PUT", "models/default", v.With(*kind, engine.String(args[0])))
			}
			if err != nil || r.json {
				return r.shown(v, err)
			}
			var rows [][]string
			for _, kind := range kinds {
				rows = append(rows, []string{kind, cmp.Or(v.Get(kind).Str(), "chosen by the host")})
			}
			return printTable(a.out, nil, rows)
		}
	},
}

var modelAlias = command{
	name: "model alias", args: "[ID=MODEL@PROVIDER...]",
	summary: "shows or sets the models of ids that canvases use",
	help: `
A canvas that names ID, which no provider has, uses MODEL@PROVIDER. Without a right side (ID=) the alias is removed.
The ID * is that of all other names.
` + remoteHelp,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		r := &remote{}
		r.add(fs)
		return func(ctx context.Context, a *app, args []string) error {
			if err := r.open(a); err != nil {
				return err
			}
			const path = "models/aliases"
			v, err := r.ask(ctx, "GET", path, engine.Null)
			if err == nil && len(args) > 0 {
				aliases := v.Get("aliases")
				for _, arg := range args {
					id, name, ok := strings.Cut(arg, "=")
					switch {
					case !ok || id == "":
						return misuse("model", "%s: expected ID=MODEL@PROVIDER", arg)
					case name == "":
						aliases = aliases.Without(id)
					default:
						aliases = aliases.With(id, engine.String(name))
					}
				}
				v, err = r.ask(ctx, "PUT", path, engine.Object("aliases", aliases))
			}
			if err != nil || r.json {
				return r.shown(v, err)
			}
			var rows [][]string
			for id, name := range v.Get("aliases").Fields() {
				rows = append(rows, []string{id, name.Str()})
			}
			return printTable(a.out, strings.Fields("ID MODEL"), rows)
		}
	},
}

var modelRemove = command{
	name: "model remove", args: "PROVIDER [FLAGS]",
	summary: "removes a provider with its key",
	help:    remoteHelp,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		r := &remote{}
		r.add(fs)
		return func(ctx context.Context, a *app, args []string) error {
			if len(args) != 1 {
				return misuse("model", "expected one PROVIDER, got %d", len(args))
			}
			if err := r.open(a); err != nil {
				return err
			}
			_, err := r.ask(ctx, "DELETE", providerPath(args[0]), engine.Null)
			return err
		}
	},
}
