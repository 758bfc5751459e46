package cli

import (
	"context"
	"flag"
	"fmt"

	"github.com/easel-canvas/easel/engine"
)

// The verbs of `easel tenant`, for operators of the host.
var tenantCommand = command{
	name: "tenant", args: "VERB [ARGUMENTS]",
	summary: "manages the tenants of a host and their limits",
	help:    verbHelp("tenant", tenantVerbs()),
	setup:   needsVerb("tenant"),
	verbs:   tenantVerbs,
}

func tenantVerbs() []command { return []command{tenantList, tenantCreate, tenantLimit} }

var tenantList = listing("tenant", "tenants", "lists the tenants",
	"ID NAME TOKENS CREATED", func(t engine.Value) []string {
		return []string{t.Get("id").Str(), t.Get("name").Str(), tokensText(t), moment(t.Get("created"))}
	})

// tenantMaker is the create verb with its flags.
type tenantMaker struct {
	remote
	email, passwordFile string
	tokens              int64
}

var tenantCreate = command{
	name: "tenant create", args: "NAME [FLAGS]",
	summary: "creates a tenant with its owner and prints its key once",
	help: `
With --email and --password-file the owner can log in at once; otherwise the owner logs in with the key and sets a
password.

  easel tenant create "Research"
  easel tenant create "Research" --email ann@example.org --password-file password
` + remoteHelp,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		t := &tenantMaker{}
		t.add(fs)
		fs.Int64Var(&t.tokens, tokensFlag, 0, "model tokens per day (UTC) of all its keys together; 0 means no limit")
		fs.StringVar(&t.email, "email", "", "`ADDRESS` of the owner")
		fs.StringVar(&t.passwordFile, "password-file", "",
			"`FILE` with the owner's password (at least 8 characters); - for standard input")
		return t.run
	},
}

func (t *tenantMaker) run(ctx context.Context, a *app, args []string) error {
	if len(args) != 1 {
		return misuse("tenant", "expected one NAME, got %d", len(args))
	}
	if (t.email == "") != (t.passwordFile == "") {
		return misuse("tenant", "--email and --password-file require each other")
	}
	body := engine.NewObject(4)
	body.Set("name", engine.String(args[0]))
	if t.email != "" {
		password, err := firstLine(a.in, t.passwordFile)
		if err != nil {
			return &usageError{"tenant", err}
		}
		body.Set("email", engine.String(t.email)).Set("password", engine.String(password))
	}
	if t.tokens != 0 {
		body.Set("tokens_per_day", engine.Int(t.tokens))
	}
	if err := t.open(a); err != nil {
		return err
	}
	made, err := t.ask(ctx, "POST", "tenants", body.Value())
	if err != nil || t.json {
		return t.shown(made, err)
	}
	_, err = fmt.Fprintf(a.out,
		"id: %s\nowner: %s\nkey: %s\n", made.Get("id").Str(), made.Get("owner").Str(), made.Get("key").Str())
	return err
}
