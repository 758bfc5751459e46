package limit

import (
	"fmt"
	"strings"
)

// Limits bound the calls of a run, a tenant or a model; 0 means unlimited.
type Limits struct {
	Concurrency int   `json:"concurrency,omitempty"`         // calls at once
	Requests    int   `json:"requests_per_minute,omitempty"` // calls and retries
	Tokens      int64 `json:"tokens_per_minute,omitempty"`   // input and output
}

// Or returns the limits with zero fields replaced by those of defaults.
func (l Limits) Or(defaults Limits) Limits {
	if l.Concurrency == 0 {
		l.Concurrency = defaults.Concurrency
	}
	if l.Requests == 0 {
		l.Requests = defaults.Requests
	}
	if l.Tokens == 0 {
		l.Tokens = defaults.Tokens
	}
	return l
}

// Check returns an error that names the first negative limit.
func (l Limits) Check() error {
	for _, f := range [...]struct {
		name  string
		value int64
	}{
		{"concurrency", int64(l.Concurrency)},
		{"requests_per_minute", int64(l.Requests)},
		{"tokens_per_minute", l.Tokens},
	} {
		if f.value < 0 {
			return fmt.Errorf("limits: %s is %d; expected a number above 0, or 0 for no limit", f.name, f.value)
		}
	}
	return nil
}

// Config holds the limits of every run, every tenant and every model without specific limits.
type Config struct{ Run, Tenant, Model Limits }

// Check returns an error that names the first negative limit.
func (c *Config) Check() error {
	for _, s := range c.scopes() {
		if err := s.limits.Check(); err != nil {
			return fmt.Errorf("%s %w", s.name, err)
		}
	}
	return nil
}

type named struct {
	name   string
	limits *Limits
}

func (c *Config) scopes() [3]named {
	return [3]named{{"run", &c.Run}, {"tenant", &c.Tenant}, {"model", &c.Model}}
}

// Names lists the names that [Config.Set] accepts.
func Names() []string {
	var names []string
	for _, s := range new(Config).scopes() {
		for _, name := range [...]string{"concurrency", "requests", "tokens"} {
			names = append(names, s.name+"."+name)
		}
	}
	return names
}

// Set sets the limit with a name such as run.concurrency; requests and tokens are per minute.
func (c *Config) Set(name string, n int64) error {
	scope, limit, _ := strings.Cut(name, ".")
	for _, s := range c.scopes() {
		if s.name != scope {
			continue
		}
		switch limit {
		case "concurrency":
			s.limits.Concurrency = int(n)
			return nil
		case "requests":
			s.limits.Requests = int(n)
			return nil
		case "tokens":
			s.limits.Tokens = n
			return nil
		}
	}
	return fmt.Errorf("unknown limit %q (one of %s)", name, strings.Join(Names(), ", "))
}
