package cli

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	services "github.com/easel-canvas/easel/host/internal/app"
)

// The verbs of `easel key`. A key is printed once, when it is created.
var keyCommand = command{
	name: "key", args: "VERB [ARGUMENTS]",
	summary: "manages the API keys of a host",
	help:    verbHelp("key", keyVerbs()),
	setup:   needsVerb("key"),
	verbs:   keyVerbs,
}

func keyVerbs() []command { return []command{keyList, keyCreate, keyLimit, keyRevoke} }

var keyList = listing("key", "keys", "lists the API keys of the tenant by their first characters",
	"ID NAME BEGINS SCOPES TOKENS CREATED EXPIRES", func(k engine.Value) []string {
		return []string{
			k.Get("id").Str(), k.Get("name").Str(), k.Get("hint").Str() + "...", scopesText(k), tokensText(k),
			moment(k.Get("created")), moment(k.Get("expires")),
		}
	})

func scopesText(key engine.Value) string {
	var out []string
	for _, s := range key.Get("scopes").Elements() {
		out = append(out, s.Str())
	}
	lacks := func(scope string) bool { return !slices.Contains(out, scope) }
	switch {
	case out == nil:
		return "none"
	case !slices.ContainsFunc(services.Scopes, lacks):
		return "all"
	}
	return strings.Join(out, ",")
}

// scopesHelp is the table of scopes.
func scopesHelp() string {
	var b strings.Builder
	for _, term := range services.ScopeTerms() {
		fmt.Fprintf(&b, "  %-12s  %s\n", term.Word, term.Doc)
	}
	return b.String()
}

// keyMaker is the create verb with its flags.
type keyMaker struct {
	remote
	scopes          *string // nil for those of a key without a list
	tenant, expires string
	rate, tokens    int64
}

var keyCreate = command{
	name: "key create", args: "NAME [FLAGS]",
	summary: "creates an API key and prints it once",
	help: `
Without --scopes it has the scopes ` + strings.Join(services.KeyScopes, " and ") + `. The key that creates it must have
all of them, and gives no wider limits than its own. What the scopes allow:

` + scopesHelp() + `
  easel key create reports --scopes read,run --expires 2160h
  easel key create lost --tenant 4f2a... --scopes read,run,edit,admin
                                 for operators of the host: a key for a tenant that has lost its own
` + remoteHelp,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		k := &keyMaker{}
		k.add(fs)
		fs.Func("scopes", "`SCOPE,...` that it has; "+strings.Join(services.KeyScopes, ",")+" when left out",
			func(list string) error { k.scopes = &list; return nil })
		fs.Int64Var(&k.rate, "rate", 0, "requests per minute; 0 means the host's limit")
		fs.Int64Var(&k.tokens, tokensFlag, 0, "model tokens per day (UTC); 0 means the host's limit")
		fs.StringVar(&k.expires, "expires", "",
			"`WHEN` it expires: a duration such as 720h or a time such as 2027-01-31T00:00:00Z; never when left out")
		fs.StringVar(&k.tenant, "tenant", "", "`ID` of its tenant; the caller's when left out")
		return k.run
	},
}

func (k *keyMaker) run(ctx context.Context, a *app, args []string) error {
	if len(args) != 1 {
		return misuse("key", "expected one NAME, got %d", len(args))
	}
	body := engine.NewObject(5)
	body.Set("name", engine.String(args[0]))
	if k.scopes != nil {
		var list []engine.Value
		for s := range strings.SplitSeq(*k.scopes, ",") {
			if s = strings.TrimSpace(s); s != "" {
				list = append(list, engine.String(s))
			}
		}
		body.Set("scopes", engine.List(list...))
	}
	if k.rate != 0 {
		body.Set("rate", engine.Int(k.rate))
	}
	if k.tokens != 0 {
		body.Set("tokens_per_day", engine.Int(k.tokens))
	}
	if k.expires != "" {
		at, err := expiry(k.expires, time.Now())
		if err != nil {
			return err
		}
		body.Set("expires", engine.String(at.UTC().Format(time.RFC3339)))
	}
	if err := k.open(a); err != nil {
		return err
	}
	path := "keys"
	if k.tenant != "" {
		path = "tenants/" + url.PathEscape(k.tenant) + "/keys"
	}
	made, err := k.ask(ctx, "POST", path, body.Value())
	if err != nil || k.json {
		return k.shown(made, err)
	}
	_, err = fmt.Fprintf(a.out, "id: %s\nkey: %s\n", made.Get("id").Str(), made.Get("key").Str())
	return err
}

// expiry parses a time or a duration from now.
func expiry(text string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(d), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, misuse("key",
			"--expires %s: not a duration such as 720h or a time such as 2027-01-31T00:00:00Z", text)
	}
	return at, nil
}

var keyRevoke = command{
	name: "key revoke", args: "ID|KEY [FLAGS]",
	summary: "revokes an API key (by id or value)",
	help:    remoteHelp,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		r := &remote{}
		r.add(fs)
		return func(ctx context.Context, a *app, args []string) error {
			if len(args) != 1 {
				return misuse("key", "expected one ID, got %d", len(args))
			}
			if err := r.open(a); err != nil {
				return err
			}
			_, err := r.ask(ctx, "DELETE", "keys/"+url.PathEscape(args[0]), engine.Null)
			return err
		}
	},
}
