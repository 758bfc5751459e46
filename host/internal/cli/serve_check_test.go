package cli

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// Every flag of serve is accepted alone, or its error names the flag that it requires; with that
// one it is accepted.
func TestServeFlagsTogether(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, []byte("0123456789abcdef\n"), 0o600))
	priceFile := filepath.Join(dir, "prices.json")
	require.NoError(t, os.WriteFile(priceFile, []byte(`{"*": {"input": 1, "output": 2}}`), 0o600))
	table := map[string]struct{ value, needs, of string }{
		"accept-loss": {value: "0a1b2c3d"}, "print-link": {value: "true"},
		"addr": {value: "127.0.0.1:0"}, "data": {value: dir}, "nats": {value: "nats://127.0.0.1:1, 127.0.0.1:2"},
		"nats-credentials": {file, "nats", "nats://127.0.0.1:1"}, "nats-replicas": {"3", "nats", "127.0.0.1:1"},
		"postgres": {value: "postgres://127.0.0.1/x"}, "key-file": {value: file}, "sync": {value: "always"},
		"lease":     {value: "1s"},
		"keep-runs": {value: "1h"}, "examples": {value: dir + ", " + dir}, "install-examples": {value: "true"},
		"trusted-proxy": {value: "10.0.0.0/8"},
		"api-key-file":  {value: file}, "metrics-addr": {value: "127.0.0.1:0"}, "redis-door": {value: "127.0.0.1:0"},
		"redis-door-remote": {"true", "redis-door", "0.0.0.0:0"}, "redis": {value: "redis://127.0.0.1:1"},
		"plugins":           {value: dir},
		"no-tools":          {value: "true"},
		"mcp-stdio":         {value: "true"},
		"sqlite":            {value: dir},
		"sql-sockets":       {value: "true"},
		"browser":           {value: "/usr/bin/chromium"},
		"python":            {value: dir},
		"code-executor":     {value: "http://127.0.0.1:1"},
		"prices":            {value: priceFile},
		"approval":          {value: "Email"},
		"plugin-signatures": {value: "off"}, "knowledge": {value: dir}, "allow-private": {value: "true"},
		"cancel-on-disconnect": {value: "true"},
		"rate":                 {value: "2.5"}, "tokens-per-day": {value: "100000"}, "limit": {value: "text=1MiB"},
		"cors": {value: "none"}, "log": {value: "json"},
		"files":     {value: "s3://bucket/easel?endpoint=https://127.0.0.1"},
		"pdf-pages": {value: "5000"},
		"ocr":       {value: "http://127.0.0.1:1/ocr#de"},
		"sources":   {value: "shop=ragflow:http://127.0.0.1:1#id"},
		"index":     {"postgres", "postgres", "postgres://127.0.0.1/x"},
		"embedding": {value: "http://127.0.0.1:1/v1#model"}, "rerank": {value: "http://127.0.0.1:1#model@jina"},
		"dataset-bytes": {value: "1GiB"}, "dataset-chunks": {value: "1000"}, "ingest-workers": {value: "4"},
		"memory": {value: "1GiB"}, "concurrency": {value: "20"}, "max-steps": {value: "100000"},
		"model-limit": {value: "tenant.concurrency=20"}, "oidc": {value: "issuer=https://a.example,client=easel"},
	}
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	serveCommand.setup(flags)
	flags.VisitAll(func(f *flag.Flag) { require.Contains(t, table, f.Name, "a new flag: does it need another one?") })
	// configured reads the settings and opens nothing.
	configured := func(args ...string) error {
		s := &server{}
		flags := flag.NewFlagSet("serve", flag.ContinueOnError)
		s.define(flags)
		require.NoError(t, flags.Parse(args))
		return s.configure(withEnv(t, &servertest.Output{}, &servertest.Output{}, nil))
	}
	for name, c := range table {
		t.Run(name, func(t *testing.T) {
			alone := configured("--" + name + "=" + c.value)
			if c.needs == "" {
				require.NoError(t, alone)
				return
			}
			require.ErrorContains(t, alone, "--"+c.needs)
			require.NoError(t, configured("--"+name+"="+c.value, "--"+c.needs+"="+c.of))
		})
	}
}

// A start with --sync always and NATS warns that the setting does not apply to NATS.
func TestServeWarnsOfSync(t *testing.T) {
	const warning = "sync_interval: always in the jetstream block"
	for _, c := range []struct {
		flags []string
		warns bool
	}{
		{[]string{"--sync=always", "--nats=nats://127.0.0.1:1"}, true},
		{[]string{"--sync=always"}, false},
		{[]string{"--nats=nats://127.0.0.1:1"}, false},
	} {
		s, said := &server{}, &servertest.Output{}
		flags := flag.NewFlagSet("serve", flag.ContinueOnError)
		s.define(flags)
		require.NoError(t, flags.Parse(c.flags))
		require.NoError(t, s.configure(withEnv(t, said, said, nil)))
		s.warnOfSync()
		require.Equal(t, c.warns, strings.Contains(said.String(), warning), c.flags)
	}
}
