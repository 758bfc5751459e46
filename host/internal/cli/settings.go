package cli

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"
)

// settings are the flags of a command that environment variables may also set.
type settings struct {
	flags *flag.FlagSet
	given map[string]bool // on the command line
}

// read sets flags that were not given from EASEL_NAME: the named ones, or all without names.
func (s *settings) read(getenv func(string) string, names ...string) (err error) {
	s.given = map[string]bool{}
	s.flags.Visit(func(f *flag.Flag) { s.given[f.Name] = true })
	s.flags.VisitAll(func(f *flag.Flag) {
		if s.given[f.Name] || len(names) > 0 && !slices.Contains(names, f.Name) {
			return
		}
		name := variableOf(f.Name)
		if value := getenv(name); value != "" && s.flags.Set(f.Name, value) != nil {
			err = errors.Join(err, fmt.Errorf("%s=%s: expected %s", name, value, kindOf(f)))
		}
	})
	return err
}

// named returns the source of a flag, its variable or itself, without the value, which may hold a
// password.
func (s *settings) named(name string) string {
	if s.set(name) && !s.given[name] {
		return variableOf(name)
	}
	return "--" + name
}

// said returns a setting as it was given.
func (s *settings) said(name string) string {
	sep := " "
	if s.named(name) == variableOf(name) {
		sep = "="
	}
	return s.named(name) + sep + s.flags.Lookup(name).Value.String()
}

// set reports whether a flag differs from its default.
func (s *settings) set(name string) bool {
	f := s.flags.Lookup(name)
	return f.Value.String() != f.DefValue
}

// needs reports a setting that requires another one.
func (s *settings) needs(name, other string) error {
	if s.set(name) && !s.set(other) {
		return fmt.Errorf("%s requires --%s", s.named(name), other)
	}
	return nil
}

// list returns the trimmed parts of a comma-separated flag.
func (s *settings) list(name string) (parts []string, err error) {
	text := s.flags.Lookup(name).Value.String()
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			return nil, fmt.Errorf("%s: empty element in the list", s.named(name))
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// variableOf returns the environment variable of a flag.
func variableOf(flag string) string {
	return "EASEL_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// kindOf describes the values that a flag accepts.
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

// mostReplicas is the largest number of replicas of JetStream.
const mostReplicas = 5

// nats reads and checks the flags of an existing NATS, which `easel serve`, backup and restore
// have. The addresses may contain passwords.
func (s *settings) nats() (urls []string, err error) {
	if urls, err = s.list("nats"); err != nil {
		return nil, err
	}
	for _, u := range urls {
		scheme, _, found := strings.Cut(u, "://")
		if found && !slices.Contains([]string{"nats", "tls", "ws", "wss"}, scheme) {
			return nil, fmt.Errorf("%s: expected an address such as nats://HOST:4222, got one with %s://",
				s.named("nats"), scheme)
		}
	}
	replicas, _ := s.flags.Lookup("nats-replicas").Value.(flag.Getter).Get().(int)
	switch {
	case replicas < 0 || replicas > mostReplicas:
		return nil, fmt.Errorf("%s: expected a number from 1 to %d", s.said("nats-replicas"), mostReplicas)
	case replicas > 1 && urls == nil:
		return nil, fmt.Errorf("%s: the embedded run log has one server; name the servers of a cluster with --nats",
			s.said("nats-replicas"))
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
