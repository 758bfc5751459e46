// Package price has the prices of the models that vendors serve at their own addresses, typed from
// their public price pages. Prices of gateways, of cloud contracts and of other servers are not in
// it: their models have no price unless the operator sets one.
package price

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
)

// Entry is the price of a model for a million tokens.
type Entry struct {
	Model  string // name at the vendor; versions with a date have the same price unless they are listed
	Vendor string
	Input  float64
	Output float64
	// CachedInput and CacheWrite are for input that is read from the vendor's cache and written to
	// it; 0 means Input.
	CachedInput, CacheWrite float64
	// Tier is the length of a prompt, in tokens, above which the vendor charges more: LongInput
	// times as much for all input, LongOutput times for output. 0 is none.
	Tier                  int
	LongInput, LongOutput float64

	Context  int       // in tokens; 0 is unknown
	Currency string    // code, such as USD
	From     time.Time // the day on which the price was read; it counts from then on
	Source   string    // the vendor's price page
}

// vendor is an owner of models.
type vendor struct {
	name, source string
	hosts        []string // of its API
	long         float64  // how much more output costs above a tier; input costs twice as much
	entries      []Entry
}

// Price returns the price in the form of the engine, in another currency at a rate.
func (e *Entry) Price(rate float64) engine.Price {
	rates := func(input, output float64) engine.Price {
		return engine.Price{
			Input: e.Input * input, Output: e.Output * output,
			Cached: e.CachedInput * input, Written: e.CacheWrite * input,
		}
	}
	p := rates(rate, rate)
	if e.Tier > 0 {
		p.Above = &engine.Tier{Tokens: e.Tier, Price: rates(rate*e.LongInput, rate*e.LongOutput)}
	}
	return p
}

// version matches the date of a version at the end of a name. Shorter numbers are no dates that can
// be left out: such versions often have another price.
var version = regexp.MustCompile(`(-\d{4}-\d\d-\d\d|[-@]\d{8}|-latest)$`)

// Of returns the price of a model that is served at an address, at a time. ok is false for models
// and addresses that the table does not have.
func Of(address, model string, at time.Time) (e Entry, ok bool) {
	u, err := url.Parse(address)
	if err != nil {
		return Entry{}, false
	}
	model = strings.TrimPrefix(model, "models/")
	for _, v := range vendors {
		if !slices.Contains(v.hosts, strings.ToLower(u.Hostname())) {
			continue
		}
		for _, name := range [...]string{model, version.ReplaceAllString(model, "")} {
			for _, one := range v.entries {
				if one.Model == name && !one.From.After(at) && (!ok || one.From.After(e.From)) {
					e, ok = one, true
				}
			}
			if ok {
				return e, true
			}
		}
	}
	return Entry{}, false
}

// All lists the prices, by vendor.
func All() (list []Entry) {
	for _, v := range vendors {
		list = append(list, v.entries...)
	}
	return list
}
