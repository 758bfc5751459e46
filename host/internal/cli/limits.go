package cli

import (
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/limit"
)

// paces are the flags for the concurrency and the steps of a run.
type paces struct{ concurrency, maxSteps int }

func (p *paces) flags(fs *flag.FlagSet) {
	fs.IntVar(&p.concurrency, "concurrency", 0, "nodes of a run that execute concurrently; 0 means 5")
	fs.IntVar(&p.maxSteps, "max-steps", 0,
		"executions without progress, besides one of each node, before a run counts as a runaway; 0 means 10,000")
}

// limits is the repeatable flag --limit NAME=N,... of commands that run canvases.
type limits struct {
	engine.Limits
	given string // as it was given, for String
}

// limitUsage returns the help of the flag.
func limitUsage() string {
	return "`NAME=N,...` limits of a run, such as text=64MiB,state=256MiB; 0 means the default, -1 no limit. Names: " +
		strings.Join(engine.LimitNames(), ", ")
}

// String returns the flag as it was given.
func (l *limits) String() string { return l.given }

// Set parses one or more limits.
func (l *limits) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		name, number, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok {
			return fmt.Errorf("%q: expected NAME=N, such as text=64MiB", part)
		}
		parse := parseSize
		if name == "cost" {
			parse = parseAmount
		}
		n, err := parse(number)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := l.Limits.Set(name, n); err != nil {
			return err
		}
	}
	if l.given != "" {
		text = l.given + "," + text
	}
	l.given = text
	return nil
}

// parseAmount parses an amount of money in millionths.
func parseAmount(text string) (int64, error) {
	amount, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	switch {
	case err != nil || math.IsNaN(amount) || amount < 0 && amount != -1 || amount > 1e9:
		return 0, fmt.Errorf("%q: not an amount such as 0.50 or -1", text)
	case amount == -1:
		return -1, nil
	}
	return engine.MicrosOf(amount), nil
}

// modelLimits is the repeatable flag --model-limit NAME=N,... of commands that run canvases.
type modelLimits struct {
	limit.Config
	given string // as it was given, for String
}

func modelLimitUsage() string {
	return "`NAME=N,...` bounds the model calls of each run, each tenant and each model on this host: at once " +
		"(concurrency), and the requests and tokens of a minute, such as tenant.concurrency=20,model.requests=500; " +
		"0 is no limit. Names: " + strings.Join(limit.Names(), ", ")
}

// String returns the flag as it was given.
func (l *modelLimits) String() string { return l.given }

// Set parses one or more limits.
func (l *modelLimits) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		name, number, ok := strings.Cut(strings.TrimSpace(part), "=")
		n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 32)
		if !ok || err != nil || n < 0 {
			return fmt.Errorf("%q: expected NAME=N with N of at least 0, such as run.concurrency=4", part)
		}
		if err := l.Config.Set(name, n); err != nil {
			return err
		}
	}
	l.given = strings.TrimPrefix(l.given+","+text, ",")
	return nil
}

// prices is the flag --prices FILE of commands that run canvases.
type prices struct {
	engine.Prices
	currency string             // code, such as USD; "" when the file has none
	rates    map[string]float64 // of other currencies
	file     string             // for String
}

var currencyCode = regexp.MustCompile(`^[A-Z]{3}$`)

const pricesUsage = "`FILE` of what models cost for a million tokens: {\"MODEL\": {\"input\": 1.25, \"output\": 10}, " +
	"\"*\": {...}, \"currency\": \"EUR\", \"rates\": {\"USD\": 0.92}}, for the limit cost, the usage in events and " +
	"GET /api/v2/usage; other models have the prices of easel model prices, if their currency or a rate is named"

// String returns the name of the file.
func (p *prices) String() string { return p.file }

// Set reads the file.
func (p *prices) Set(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	v, err := engine.ParseJSON(data)
	if err == nil {
		if code := v.Get("currency"); code.Kind() == engine.KindString { // else it is a model
			if p.currency = code.Str(); !currencyCode.MatchString(p.currency) {
				return fmt.Errorf("%s: currency is %q; expected a code of three letters, such as USD", file, p.currency)
			}
			v = v.Without("currency")
		}
		if p.rates, err = readRates(v.Get("rates")); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if p.rates != nil {
			v = v.Without("rates")
		}
		p.Prices, err = engine.ReadPrices(v)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	p.file = file
	return nil
}

// accounting returns the currency in which costs are counted: dollars without a file.
func (p *prices) accounting() string {
	if p.file == "" {
		return "USD"
	}
	return p.currency
}

// readRates reads {"USD": 0.92}; nil for a model of that name.
func readRates(v engine.Value) (map[string]float64, error) {
	if v.Kind() != engine.KindObject || v.Get("input").Kind() == engine.KindNumber {
		return nil, nil
	}
	rates := map[string]float64{}
	for code, rate := range v.Fields() {
		n, ok := rate.Float()
		if !currencyCode.MatchString(code) || !ok || n <= 0 || math.IsInf(n, 0) {
			return nil, fmt.Errorf("rates: %.20q is %.40s; expected a code of three letters and the worth of a unit "+
				"in the currency of the file", code, rate.JSON())
		}
		rates[code] = n
	}
	return rates, nil
}

// names is a repeatable flag of comma-separated names.
type names []string

const approvalUsage = "`NAME,...` of nodes, components and tools that require approval, " +
	"in addition to those in the canvas"

// String returns the names.
func (n *names) String() string { return strings.Join(*n, ",") }

// Set adds names.
func (n *names) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			*n = append(*n, part)
		}
	}
	return nil
}

// units of sizes, larger ones first.
var units = []struct {
	name  string
	bytes int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

// parseSize parses a number, optionally of bytes with a unit.
func parseSize(text string) (int64, error) {
	number, factor := strings.TrimSpace(text), int64(1)
	if i := slices.IndexFunc(units, func(u struct {
		name  string
		bytes int64
	},
	) bool {
		return strings.HasSuffix(number, u.name)
	}); i >= 0 {
		number, factor = strings.TrimSpace(strings.TrimSuffix(number, units[i].name)), units[i].bytes
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < -1 || n > math.MaxInt64/factor {
		return 0, fmt.Errorf("%q: not a number such as 1000, 64MiB or -1", text)
	}
	return n * factor, nil
}
