package cli

import (
	"context"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/model/price"
)

var modelPrices = command{
	name: "model prices", args: "[WORD...]",
	summary: "lists the prices of models by the price lists of their vendors",
	help: `
Prices are for a million tokens, as of the day in SINCE, at the vendor's own address; other servers have none. CACHED
and WRITE are for input from the vendor's cache and to it, - if it costs as much as INPUT. Above TIER tokens of
input the vendor charges twice as much for input, and 1.5 times or twice for output. With words, only models whose
names or vendors contain all of them. A file of --prices has precedence over this list, which is part of the command.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		asJSON := fs.Bool("json", false, "print JSON")
		return func(_ context.Context, a *app, args []string) error { return printPrices(a, args, *asJSON) }
	},
}

func printPrices(a *app, words []string, asJSON bool) error {
	var rows [][]string
	var values []engine.Value
	cell := func(f float64) string {
		if f == 0 {
			return ""
		}
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	for _, e := range price.All() {
		if !containsAll(e.Vendor+" "+e.Model, words) {
			continue
		}
		since, tier := e.From.Format(time.DateOnly), ""
		if e.Tier > 0 {
			tier = strconv.Itoa(e.Tier)
		}
		rows = append(rows, []string{
			e.Vendor, e.Model, cell(e.Input), cell(e.CachedInput), cell(e.CacheWrite), cell(e.Output), e.Currency, tier,
			strconv.Itoa(e.Context), since,
		})
		b := engine.NewObject(12).Set("vendor", engine.String(e.Vendor)).Set("model", engine.String(e.Model)).
			Set("input", engine.Float(e.Input)).Set("output", engine.Float(e.Output))
		for name, f := range map[string]float64{"cached_input": e.CachedInput, "cache_write": e.CacheWrite} {
			if f > 0 {
				b.Set(name, engine.Float(f))
			}
		}
		if e.Tier > 0 {
			b.Set("tier", engine.Int(int64(e.Tier))).Set("tier_input", engine.Float(e.LongInput)).
				Set("tier_output", engine.Float(e.LongOutput))
		}
		b.Set("context", engine.Int(int64(e.Context))).Set("currency", engine.String(e.Currency))
		values = append(values, b.Set("since", engine.String(since)).Set("source", engine.String(e.Source)).Value())
	}
	switch {
	case asJSON:
		_, err := fmt.Fprintln(a.out, engine.List(values...).JSON())
		return err
	case len(rows) == 0:
		return fmt.Errorf("no price of %q in the price lists", strings.Join(words, " "))
	}
	head := strings.Fields("VENDOR MODEL INPUT CACHED WRITE OUTPUT CURRENCY TIER CONTEXT SINCE")
	return printTable(a.out, head, rows)
}
