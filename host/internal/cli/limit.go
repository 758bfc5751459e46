package cli

import (
	"context"
	"flag"
	"net/url"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// The limit verbs of `easel key` and `easel tenant`, and the usage in their lists.

const tokensFlag = "tokens-per-day"

var keyLimit = limiting("key", "changes the limits of a key; others stay as they are", `
  easel key limit 4f2a... --tokens-per-day 200000
  easel key limit 4f2a... --tokens-per-day 0 --rate 60
`, map[string]string{
	tokensFlag: "model tokens per day (UTC); 0 means the host's limit",
	"rate":     "requests per minute; 0 means the host's limit",
})

var tenantLimit = limiting("tenant", "changes the limits of a tenant", `
  easel tenant limit 4f2a... --tokens-per-day 5000000
`, map[string]string{tokensFlag: "model tokens per day (UTC) of all its keys together; 0 means no limit"})

// limiting returns a limit verb: each given flag becomes a member of the request.
func limiting(noun, summary, examples string, flags map[string]string) command {
	return command{
		name: noun + " limit", args: "ID [FLAGS]", summary: summary, help: examples + remoteHelp,
		setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
			r := &remote{}
			r.add(fs)
			for name, usage := range flags {
				fs.Int64(name, 0, usage)
			}
			return func(ctx context.Context, a *app, args []string) error {
				if len(args) != 1 {
					return misuse(noun, "expected one ID, got %d", len(args))
				}
				body := engine.NewObject(len(flags))
				fs.Visit(func(f *flag.Flag) {
					if flags[f.Name] != "" {
						n, _ := f.Value.(flag.Getter).Get().(int64)
						body.Set(strings.ReplaceAll(f.Name, "-", "_"), engine.Int(n))
					}
				})
				if body.Value().Len() == 0 {
					return misuse(noun, "nothing to change: expected --%s", tokensFlag)
				}
				if err := r.open(a); err != nil {
					return err
				}
				changed, err := r.ask(ctx, "PUT", noun+"s/"+url.PathEscape(args[0]), body.Value())
				if err != nil || r.json {
					return r.shown(changed, err)
				}
				return nil
			}
		},
	}
}

// tokensText shows the tokens that a key or tenant used today, and the limit.
func tokensText(v engine.Value) string {
	text := v.Get("tokens_today").Text()
	if quota := v.Get("tokens_per_day"); quota.Truthy() {
		text += "/" + quota.Text()
	}
	return text
}
