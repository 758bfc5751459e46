package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/easel-canvas/easel/host"
	"github.com/easel-canvas/easel/host/internal/blobs"
	"github.com/easel-canvas/easel/host/internal/datasets"
	"github.com/easel-canvas/easel/host/internal/knowledge/ocr"
	"github.com/easel-canvas/easel/host/internal/store"
)

// shortestLease is the least --lease: below it a busy host would be taken for dead.
const shortestLease = 100 * time.Millisecond

// check refuses settings that are wrong by themselves or do not go together, before anything is
// opened.
func (s *server) check(getenv func(string) string) error {
	for _, check := range []func() error{s.checkNumbers, s.checkMemory, s.checkWords, s.checkPlaces, s.checkAddresses} {
		if err := check(); err != nil {
			return err
		}
	}
	if err := s.needs("redis-door-remote", "redis-door"); err != nil {
		return err
	}
	if getenv("EASEL_REDIS_PASSWORD") != "" && s.cfg.RedisDoor == "" {
		return errors.New("EASEL_REDIS_PASSWORD: it means nothing without --redis-door; the password of an existing Redis is part of --redis")
	}
	if slices.Contains(s.cfg.CORS, "none") && len(s.cfg.CORS) > 1 {
		return fmt.Errorf("%s: none stands alone, or not at all", s.said("cors"))
	}
	return nil
}

func (s *server) checkNumbers() error {
	switch r, lease, tokens := s.cfg.Rate, s.cfg.Lease, s.cfg.TokensPerDay; {
	case r < 0 || math.IsNaN(r) || math.IsInf(r, 0):
		return fmt.Errorf("%s: a number of requests from 0 on is needed", s.said("rate"))
	case tokens < 0 || tokens > store.MostTokens:
		return fmt.Errorf("%s: a number from 0 to %d is needed", s.said("tokens-per-day"), int64(store.MostTokens))
	case lease != 0 && lease < shortestLease:
		return fmt.Errorf("%s: a time of at least %s is needed", s.said("lease"), shortestLease)
	case s.cfg.KeepRuns < 0:
		return fmt.Errorf("%s: a time such as 2160h is needed; 0 keeps runs for ever", s.said("keep-runs"))
	}
	return nil
}

func (s *server) checkWords() error {
	for _, w := range []struct {
		flag, value string
		of          []string
	}{
		{"sync", string(s.cfg.Sync), []string{string(host.SyncAlways), string(host.SyncContract), string(host.SyncInterval)}},
		{"log", s.logs, []string{"text", "json"}},
		{"plugin-signatures", s.cfg.PluginSignatures, []string{"require", "warn", "off"}},
	} {
		if last := len(w.of) - 1; !slices.Contains(w.of, w.value) {
			return fmt.Errorf("%s: %s or %s is needed", s.said(w.flag), strings.Join(w.of[:last], ", "), w.of[last])
		}
	}
	return nil
}

// checkPlaces looks at where data is kept.
func (s *server) checkPlaces() error {
	// The address may hold a password, so it is not shown.
	if scheme, _, found := strings.Cut(s.cfg.Postgres, "://"); found && scheme != "postgres" && scheme != "postgresql" {
		return fmt.Errorf("%s: an address such as postgres://USER@HOST/DATABASE is needed, not one with %s://", s.named("postgres"), scheme)
	}
	if s.cfg.Index == "postgres" {
		if err := s.needs("index", "postgres"); err != nil {
			return err
		}
	}
	if _, err := datasets.IndexAddress(s.cfg.Index, s.cfg.Postgres); err != nil {
		return fmt.Errorf("%s: %w", s.named("index"), err)
	}
	if err := (blobs.Bucket{URL: s.cfg.Files}).Check(); err != nil {
		return fmt.Errorf("%s: %w", s.named("files"), err)
	}
	if s.cfg.OCR != "" {
		if _, err := ocr.New(s.cfg.OCR, "", nil); err != nil {
			return fmt.Errorf("%s: %w", s.named("ocr"), err)
		}
	}
	if s.cfg.Dir == "" {
		return fmt.Errorf("%s: a directory is needed, also with --nats and --postgres: plugins and compiled code are there", s.named("data"))
	}
	return nil
}

// checkAddresses sees to it that no two parts of the host listen at one address.
func (s *server) checkAddresses() error {
	at := map[string]string{}
	for _, name := range []string{"addr", "metrics-addr", "redis-door"} {
		value := s.flags.Lookup(name).Value.String()
		if value == "" {
			continue
		}
		_, port, err := net.SplitHostPort(value)
		if err != nil {
			return fmt.Errorf("%s: HOST:PORT is needed: %w", s.said(name), err)
		}
		if other := at[value]; other != "" && port != "0" {
			return fmt.Errorf("%s: %s is there already", s.said(name), s.named(other))
		}
		at[value] = name
	}
	return nil
}

// sameKey refuses a key file that holds another key than the environment: nobody could say which
// one counts.
func sameKey(file, key string) error {
	text, err := os.ReadFile(file)
	if err != nil || string(bytes.TrimSpace(text)) == key {
		return nil // a file that is not there is not needed
	}
	return fmt.Errorf("EASEL_API_KEY and %s hold different keys; leave one of them out", file)
}

// readable says why a file cannot be read, before it is needed.
func readable(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	_, err = f.Read(make([]byte, 1))
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, f.Close())
}
