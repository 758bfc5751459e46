package cli

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/easel-canvas/easel/host"
	"github.com/easel-canvas/easel/host/internal/telemetry"
)

// configure reads and checks the settings.
func (s *server) configure(a *app) (err error) {
	if err := s.read(a.getenv); err != nil {
		return err
	}
	if s.cfg.NATS, err = s.nats(); err != nil {
		return err
	}
	for _, list := range []struct {
		flag string
		to   *[]string
	}{{"examples", &s.cfg.Examples}, {"cors", &s.cfg.CORS}, {"trusted-proxy", &s.cfg.TrustedProxies}} {
		if *list.to, err = s.list(list.flag); err != nil {
			return err
		}
	}
	if err := s.check(a.getenv); err != nil {
		return err
	}
	s.cfg.Log = slog.New(slog.NewTextHandler(a.err, nil))
	if s.logs == "json" {
		s.cfg.Log = slog.New(slog.NewJSONHandler(a.err, nil))
	}
	if s.cfg.Models, err = host.ModelsFromEnvironment(a.getenv); err != nil {
		return err
	}
	s.cfg.Prices, s.cfg.Rates, s.cfg.Approval = s.prices.Prices, s.prices.rates, s.approval
	s.cfg.Currency, s.cfg.SignIn = s.prices.accounting(), s.signIn
	s.cfg.Limits, s.cfg.Concurrency, s.cfg.MaxSteps = s.limits.Limits, s.paces.concurrency, s.paces.maxSteps
	s.cfg.ModelLimits = s.calls.Config
	s.cfg.Traces = telemetry.Wanted(a.getenv)
	s.cfg.EmbeddingKey, s.cfg.RerankKey = a.getenv("EASEL_EMBEDDING_KEY"), a.getenv("EASEL_RERANK_KEY")
	s.cfg.FilesKey, s.cfg.FilesSecret = a.getenv(filesKey), a.getenv(filesSecret)
	s.cfg.OCRKey = a.getenv("EASEL_OCR_KEY")
	if s.cfg.Sources, err = readSources(a, s.sources); err != nil {
		return fmt.Errorf("%s: %w", s.named("sources"), err)
	}
	s.cfg.DatasetBytes = int64(s.datasetBytes)
	s.cfg.RedisPassword = a.getenv("EASEL_REDIS_PASSWORD")
	s.cfg.ScriptWorker, s.cfg.PluginCompiler = worker(scriptWorker), worker(pluginCompiler)
	s.cfg.Version = hostVersion()
	place := &pythonPlace{dir: s.pythonDir, data: s.cfg.Dir}
	s.cfg.Python = place.folders(a)
	s.cfg.InstallPython = func(ctx context.Context) error { return place.install(ctx, a, "", "") }
	s.cfg.CodeExecutorToken = a.getenv(executorToken)
	return s.readKey(a)
}

// readKey returns the API key from the environment or the file, which it creates when missing.
func (s *server) readKey(a *app) error {
	s.cfg.Key = a.getenv("EASEL_API_KEY")
	if s.cfg.Key != "" {
		if err := usableKey("EASEL_API_KEY", s.cfg.Key); err != nil || s.keyFile == "" {
			return err
		}
		return sameKey(s.keyFile, s.cfg.Key)
	}
	if s.keyFile == "" {
		return nil
	}
	text, err := os.ReadFile(s.keyFile)
	if errors.Is(err, fs.ErrNotExist) {
		// The file may be in the data directory, which the first start creates.
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

// shortestKey is the least length of a configured key, in characters.
const shortestKey = 12

// usableKey refuses keys that clients cannot send or that are easy to guess. The error does not
// contain the key.
func usableKey(where, key string) error {
	if len(key) < shortestKey {
		return fmt.Errorf("%s has a key of %d characters; at least %d are required", where, len(key), shortestKey)
	}
	if strings.ContainsFunc(key, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsGraphic(r) ||
			r == ' '
	}) {
		return fmt.Errorf("%s has a key with spaces or other characters that are not allowed in a header", where)
	}
	return nil
}
