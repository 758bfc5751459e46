package cli

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"
)

// settings are the flags of a command that the environment may set as well.
type settings struct {
	flags *flag.FlagSet
	given map[string]bool // by the command line
}

// read sets flags that were not given from EASEL_NAME: the named ones, or all when none is named.
func (s *settings) read(getenv func(string) string, names ...string) (err error) {
	s.given = map[string]bool{}
	s.flags.Visit(func(f *flag.Flag) { s.given[f.Name] = true })
	s.flags.VisitAll(func(f *flag.Flag) {
		if s.given[f.Name] || len(names) > 0 && !slices.Contains(names, f.Name) {
			return
		}
		name := variableOf(f.Name)
		if value := getenv(name); value != "" && s.flags.Set(f.Name, value) != nil {
			err = errors.Join(err, fmt.Errorf("%s=%s: %s is needed", name, value, kindOf(f)))
		}
	})
	return err
}

// named is what set a flag, without its value, which may hold a password: its variable, or itself.
func (s *settings) named(name string) string {
	if s.set(name) && !s.given[name] {
		return variableOf(name)
	}
	return "--" + name
}

// said is a setting as it was given.
func (s *settings) said(name string) string {
	sep := " "
	if s.named(name) == variableOf(name) {
		sep = "="
	}
	return s.named(name) + sep + s.flags.Lookup(name).Value.String()
}

// set says whether a flag has another value than without any word about it.
func (s *settings) set(name string) bool {
	f := s.flags.Lookup(name)
	return f.Value.String() != f.DefValue
}

// needs refuses a setting that means nothing without another one.
func (s *settings) needs(name, other string) error {
	if s.set(name) && !s.set(other) {
		return fmt.Errorf("%s: it means nothing without --%s", s.named(name), other)
	}
	return nil
}

// list are the parts of a flag that takes several, without the blanks around them.
func (s *settings) list(name string) (parts []string, err error) {
	text := s.flags.Lookup(name).Value.String()
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			return nil, fmt.Errorf("%s: one of the parts between the commas is empty", s.named(name))
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// variableOf is the variable that sets a flag.
func variableOf(flag string) string {
	return "EASEL_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// kindOf is what a flag takes, in words.
func kindOf(f *flag.Flag) string {
	if g, ok := f.Value.(flag.Getter); ok {
		switch g.Get().(type) {
		case bool:
			return "true or false"
		case int, int64:
			return "a whole number"
		case float64:
			return "a number"
		case byteSize:
			return "a size such as 1GiB or 512MiB"
		case time.Duration:
			return "a duration such as 10s or 5m"
		}
	}
	return "another value"
}

// mostReplicas is how many servers JetStream keeps a message on at most.
const mostReplicas = 5

// nats reads and checks the flags that say where an existing NATS is, which `easel serve`, backup
// and restore have. The addresses may hold passwords.
func (s *settings) nats() (urls []string, err error) {
	if urls, err = s.list("nats"); err != nil {
		return nil, err
	}
	for _, u := range urls {
		scheme, _, found := strings.Cut(u, "://")
		if found && !slices.Contains([]string{"nats", "tls", "ws", "wss"}, scheme) {
			return nil, fmt.Errorf("%s: an address of a NATS such as nats://HOST:4222 is needed, not one with %s://", s.named("nats"), scheme)
		}
	}
	replicas, _ := s.flags.Lookup("nats-replicas").Value.(flag.Getter).Get().(int)
	switch {
	case replicas < 0 || replicas > mostReplicas:
		return nil, fmt.Errorf("%s: a number from 1 to %d is needed", s.said("nats-replicas"), mostReplicas)
	case replicas > 1 && urls == nil:
		return nil, fmt.Errorf("%s: without --nats the run log is in this process, which is one server; name the servers of a cluster with --nats", s.said("nats-replicas"))
	}
	if err := s.needs("nats-credentials", "nats"); err != nil {
		return nil, err
	}
	if s.set("nats-credentials") {
		if err := readable(s.flags.Lookup("nats-credentials").Value.String()); err != nil {
			return nil, fmt.Errorf("%s: %w", s.named("nats-credentials"), err)
		}
	}
	return urls, nil
}
