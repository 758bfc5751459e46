package cli

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/easel-canvas/easel/host"
	"github.com/easel-canvas/easel/host/internal/telemetry"
)

// configure reads what is not a plain flag.
func (s *server) configure(a *app) error {
	s.given = map[string]bool{}
	s.flags.Visit(func(f *flag.Flag) { s.given[f.Name] = true })
	if err := fromEnvironment(s.flags, a.getenv); err != nil {
		return err
	}
	for _, list := range []struct {
		text string
		to   *[]string
	}{{s.nats, &s.cfg.NATS}, {s.examples, &s.cfg.Examples}, {s.cors, &s.cfg.CORS}, {s.proxies, &s.cfg.TrustedProxies}} {
		if list.text != "" {
			*list.to = strings.Split(list.text, ",")
		}
	}
	if r := s.cfg.Rate; r < 0 || math.IsNaN(r) || math.IsInf(r, 0) {
		return fmt.Errorf("%s: a number of requests from 0 on is needed", s.said("rate"))
	}
	switch s.cfg.Sync {
	case host.SyncContract, host.SyncAlways, host.SyncInterval:
	default:
		return fmt.Errorf("%s: always, contract or interval is needed", s.said("sync"))
	}
	switch s.logs {
	case "text":
		s.cfg.Log = slog.New(slog.NewTextHandler(a.err, nil))
	case "json":
		s.cfg.Log = slog.New(slog.NewJSONHandler(a.err, nil))
	default:
		return fmt.Errorf("%s: text or json is needed", s.said("log"))
	}
	var err error
	if s.cfg.Models, err = host.ModelsFromEnvironment(a.getenv); err != nil {
		return err
	}
	s.cfg.Traces = telemetry.Wanted(a.getenv)
	s.cfg.RedisPassword = a.getenv("EASEL_REDIS_PASSWORD")
	s.cfg.ScriptWorker, s.cfg.Version = worker(), hostVersion()
	return s.readKey(a)
}

// said is a setting as it was given: a flag, or a variable of the environment.
func (s *server) said(name string) string {
	value := s.flags.Lookup(name).Value.String()
	if s.given[name] {
		return "--" + name + " " + value
	}
	return variableOf(name) + "=" + value
}

// variableOf is the variable that sets a flag.
func variableOf(flag string) string {
	return "EASEL_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// fromEnvironment sets flags that were not given from EASEL_NAME: the named ones, or all when none is named.
func fromEnvironment(flags *flag.FlagSet, getenv func(string) string, names ...string) (err error) {
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	flags.VisitAll(func(f *flag.Flag) {
		if given[f.Name] || len(names) > 0 && !slices.Contains(names, f.Name) {
			return
		}
		name := variableOf(f.Name)
		if value := getenv(name); value != "" && flags.Set(f.Name, value) != nil {
			err = errors.Join(err, fmt.Errorf("%s=%s: %s is needed", name, value, kindOf(f)))
		}
	})
	return err
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
		case time.Duration:
			return "a duration such as 10s or 5m"
		}
	}
	return "another value"
}

// readKey finds the API key: the environment's, or that of the file, which is made when it is missing.
func (s *server) readKey(a *app) error {
	s.cfg.Key = a.getenv("EASEL_API_KEY")
	if s.cfg.Key != "" {
		return usableKey("EASEL_API_KEY", s.cfg.Key)
	}
	if s.keyFile == "" {
		return nil
	}
	text, err := os.ReadFile(s.keyFile)
	if errors.Is(err, fs.ErrNotExist) {
		// The file may lie in the data directory, which the first start makes.
		if filepath.Dir(s.keyFile) == filepath.Clean(s.cfg.Dir) {
			if err := os.MkdirAll(s.cfg.Dir, 0o700); err != nil {
				return fmt.Errorf("data directory: %w", err)
			}
		}
		random := make([]byte, 32)
		rand.Read(random) // never fails
		s.cfg.Key, s.madeKey = "ragflow-"+base64.RawURLEncoding.EncodeToString(random), true
		if err := writeNew(s.keyFile, []byte(s.cfg.Key+"\n"), 0o600); err != nil {
			return fmt.Errorf("API key: %w", err)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("API key: %w", err)
	}
	s.cfg.Key = strings.TrimSpace(string(text))
	return usableKey(s.keyFile, s.cfg.Key)
}

// shortestKey is the least length of a key that somebody chose, in characters.
const shortestKey = 12

// usableKey refuses what no client could send, or anybody could guess. The key itself is not shown.
func usableKey(where, key string) error {
	if len(key) < shortestKey {
		return fmt.Errorf("%s holds a key of %d characters; at least %d are needed", where, len(key), shortestKey)
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsGraphic(r) || r == ' ' }) {
		return fmt.Errorf("%s holds a key with blanks or other characters that a header cannot carry", where)
	}
	return nil
}

// greet prints where the host is and how to talk to it.
func (s *server) greet(ctx context.Context, a *app, addr string, h *host.Host) {
	url := "http://" + reachable(addr)
	fmt.Fprintf(a.out, "address: %s\n", url)
	shown := "$EASEL_API_KEY"
	switch {
	case h.Key != "":
		shown = h.Key
		fmt.Fprintf(a.out, "key: %s\n", h.Key)
	case s.madeKey:
		shown = s.cfg.Key
		fmt.Fprintf(a.out, "key: %s\n", s.cfg.Key)
	case s.keyFile != "" && a.getenv("EASEL_API_KEY") == "":
		shown = fmt.Sprintf("$(cat '%s')", s.keyFile)
		fmt.Fprintf(a.out, "key: that of %s\n", s.keyFile)
	case s.cfg.Key == "":
		fmt.Fprintln(a.out, "key: that of the first start; EASEL_API_KEY or --api-key-file sets another")
	}
	if metrics := h.Metrics(); metrics != "" {
		fmt.Fprintf(a.out, "metrics: http://%s/metrics\n", reachable(metrics))
	}
	if door := h.RedisDoor(); door != "" {
		fmt.Fprintf(a.out, "redis door: %s\n", door)
	}
	if h.RedisKey != "" {
		fmt.Fprintf(a.out, "redis password: %s\n", h.RedisKey)
	}
	if canvas, question := h.Sample(ctx); canvas != "" {
		fmt.Fprintf(a.out, "try: curl -N -H \"Authorization: Bearer %s\" -H 'Content-Type: application/json' -d '{\"question\": \"%s\"}' %s/api/v1/agents/%s/completions\n",
			shown, question, url, canvas)
		return
	}
	fmt.Fprintf(a.out, "try: curl -H \"Authorization: Bearer %s\" %s/api/v1/agents\n", shown, url)
}

// reachable is a listening address as one that this machine can call.
func reachable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
