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
	"github.com/easel-canvas/easel/host/internal/datasets"
	"github.com/easel-canvas/easel/host/internal/knowledge/models/ocr"
	"github.com/easel-canvas/easel/host/internal/nats/blobs"
	"github.com/easel-canvas/easel/host/internal/store"
)

// shortestLease is the least --lease: below it a busy host would be taken for dead.
const shortestLease = 100 * time.Millisecond

// check reports invalid settings and combinations before anything is opened.
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
		return errors.New(
			"EASEL_REDIS_PASSWORD requires --redis-door; the password of an existing Redis is part of --redis")
	}
	if slices.Contains(s.cfg.CORS, "none") && len(s.cfg.CORS) > 1 {
		return fmt.Errorf("%s: none excludes other origins", s.said("cors"))
	}
	return nil
}

func (s *server) checkNumbers() error {
	switch r, lease, tokens := s.cfg.Rate, s.cfg.Lease, s.cfg.TokensPerDay; {
	case r < 0 || math.IsNaN(r) || math.IsInf(r, 0):
		return fmt.Errorf("%s: expected a number of requests of at least 0", s.said("rate"))
	case tokens < 0 || tokens > store.MostTokens:
		return fmt.Errorf("%s: expected a number from 0 to %d", s.said("tokens-per-day"), int64(store.MostTokens))
	case lease != 0 && lease < shortestLease:
		return fmt.Errorf("%s: expected at least %s", s.said("lease"), shortestLease)
	case s.cfg.KeepRuns < 0:
		return fmt.Errorf("%s: expected a duration such as 2160h; 0 keeps runs forever", s.said("keep-runs"))
	}
	return nil
}

func (s *server) checkWords() error {
	for _, w := range []struct {
		flag, value string
		of          []string
	}{
		{"sync", string(s.cfg.Sync), []string{
			string(host.SyncAlways), string(host.SyncContract),
			string(host.SyncInterval),
		}},
		{"log", s.logs, []string{"text", "json"}},
		{"plugin-signatures", s.cfg.PluginSignatures, []string{"require", "warn", "off"}},
	} {
		if last := len(w.of) - 1; !slices.Contains(w.of, w.value) {
			return fmt.Errorf("%s: expected %s or %s", s.said(w.flag), strings.Join(w.of[:last], ", "), w.of[last])
		}
	}
	return nil
}

// checkPlaces checks the locations of data.
func (s *server) checkPlaces() error {
	// The address may hold a password, so it is not shown.
	if scheme, _, found := strings.Cut(s.cfg.Postgres, "://"); found && scheme != "postgres" && scheme != "postgresql" {
		return fmt.Errorf("%s: expected an address such as postgres://USER@HOST/DATABASE, got one with %s://",
			s.named("postgres"), scheme)
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
	if s.cfg.PDFPages < 0 {
		return fmt.Errorf("%s: expected a number of pages", s.said("pdf-pages"))
	}
	if s.cfg.OCR != "" {
		if _, err := ocr.New(s.cfg.OCR, "", nil); err != nil {
			return fmt.Errorf("%s: %w", s.named("ocr"), err)
		}
	}
	if s.cfg.Dir == "" {
		return fmt.Errorf(
			"%s: a directory is required, also with --nats and --postgres: it holds plugins and compiled code",
			s.named("data"))
	}
	return nil
}

// checkAddresses reports parts of the host that listen at the same address.
func (s *server) checkAddresses() error {
	at := map[string]string{}
	for _, name := range []string{"addr", "metrics-addr", "redis-door"} {
		value := s.flags.Lookup(name).Value.String()
		if value == "" {
			continue
		}
		_, port, err := net.SplitHostPort(value)
		if err != nil {
			return fmt.Errorf("%s: expected HOST:PORT: %w", s.said(name), err)
		}
		if other := at[value]; other != "" && port != "0" {
			return fmt.Errorf("%s: %s uses the same address", s.said(name), s.named(other))
		}
		at[value] = name
	}
	return nil
}

// sameKey reports a key file with another key than the environment: it would be unclear which one
// is valid.
func sameKey(file, key string) error {
	text, err := os.ReadFile(file)
	if err != nil || string(bytes.TrimSpace(text)) == key {
		return nil // the file is optional
	}
	return fmt.Errorf("EASEL_API_KEY and %s have different keys; remove one of them", file)
}

// readable reports why a file cannot be read, before it is used.
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
