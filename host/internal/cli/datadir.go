package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/easel-canvas/easel/host/internal/disk"
	"github.com/easel-canvas/easel/host/internal/nats/blobs"
	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/store"
)

// defaultData is the data directory when none is named.
const defaultData = "easel-data"

// dataPlace is the location of a host's data, from the flags of `easel serve`.
type dataPlace struct {
	settings
	dir, postgres, keyFile      string
	natsCredentials, pluginsDir string
	bucket                      blobs.Bucket
	replicas                    int
	urls                        []string // of NATS
}

// placeFlags are the only flags that are also read from the environment: EASEL_REPLACE must not
// replace anything.
var placeFlags = []string{
	"data", "postgres", "key-file", "nats", "nats-credentials", "nats-replicas", "plugins", "files",
}

// filesUsage is the help text of --files.
const filesUsage = "bucket of an S3-compatible service for uploaded files, as `URL` " +
	"s3://BUCKET/PREFIX?endpoint=https://HOST with its credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; " +
	"NATS when left out"

// Credentials of a bucket, under the names that every S3 client reads.
const (
	filesKey    = "AWS_ACCESS_KEY_ID"
	filesSecret = "AWS_SECRET_ACCESS_KEY"
)

// placeHelp describes the location of the records in the help of a command.
const placeHelp = `
The location of the data can be set by the environment, as for ` + "`easel serve`" + `: EASEL_DATA, EASEL_POSTGRES and
EASEL_KEY_FILE.`

// placeHelpAll is placeHelp for a command that needs more than the records.
const placeHelpAll = `
The location of the data can be set by the environment, as for ` + "`easel serve`" + `: EASEL_DATA, EASEL_POSTGRES,
EASEL_KEY_FILE, EASEL_NATS, EASEL_NATS_CREDENTIALS, EASEL_NATS_REPLICAS, EASEL_FILES and EASEL_PLUGINS.`

func (d *dataPlace) add(fs *flag.FlagSet) {
	d.flags = fs
	fs.StringVar(&d.dir, "data", defaultData, "`DIR` that holds everything")
	fs.StringVar(&d.postgres, "postgres", "", "`URL` of the PostgreSQL database for the records")
	fs.StringVar(&d.keyFile, "key-file", "",
		"`FILE` with the key that seals secrets; default secret.key in the data directory")
}

// addAll also adds the flags of NATS, files and plugins.
func (d *dataPlace) addAll(fs *flag.FlagSet) {
	d.add(fs)
	fs.String("nats", "", "`URL,...` of an existing NATS with JetStream, where uploaded files are")
	fs.StringVar(&d.natsCredentials, "nats-credentials", "", "credentials `FILE` for NATS")
	fs.IntVar(&d.replicas, "nats-replicas", 0, "how many NATS servers keep each message; 0 means 1")
	fs.StringVar(&d.bucket.URL, "files", "", filesUsage)
	fs.StringVar(&d.pluginsDir, "plugins", "", "`DIR` of installed plugins; default plugins in the data directory")
}

// store returns the location of the records. Flags that were not given come from the environment,
// as for `easel serve`.
func (d *dataPlace) store(a *app) (store.Config, error) {
	err := d.read(a.getenv, placeFlags...)
	if err == nil && d.flags.Lookup("nats") != nil {
		d.urls, err = d.nats()
		d.bucket.Key, d.bucket.Secret = a.getenv(filesKey), a.getenv(filesSecret)
		err = errors.Join(err, d.bucket.Check())
	}
	if err != nil {
		return store.Config{}, &usageError{"", err}
	}
	return store.Config{
		Dir: d.dir, URL: d.postgres, KeyFile: d.keyFile, Reserve: disk.NewReserve(d.dir),
	}, nil
}

// there returns an error for a data directory that no host has made, such as one in which only
// plugins were installed; opening it would make half of one.
func (d *dataPlace) there() error {
	made := filepath.Join(d.dir, "easel.db")
	if d.postgres != "" {
		made = d.dir
	}
	if _, err := os.Stat(made); err != nil {
		return misuse("", "--data %s: not an easel data directory; run `easel serve --data %s` once, which makes it",
			d.dir, quoted(d.dir))
	}
	return nil
}

// errNoTenant means that no host has used the records yet.
var errNoTenant = errors.New("there is no tenant yet; run `easel serve` once with the same flags, which creates it")

// noTenant returns errNoTenant if err reports a missing tenant and the records have none at all.
func noTenant(ctx context.Context, s *store.Store, err error) error {
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if list, listed := s.Tenants.List(ctx); listed == nil && len(list) == 0 {
		return errNoTenant
	}
	return err
}

// records opens the records of a host, which may be running.
func (d *dataPlace) records(ctx context.Context, a *app) (*store.Store, error) {
	cfg, err := d.store(a)
	if err != nil {
		return nil, err
	}
	if err := d.there(); err != nil {
		return nil, err
	}
	cfg.AsIs = true
	return store.Open(ctx, cfg)
}

func (d *dataPlace) broker(a *app) broker.Config {
	// Commands report problems to the user themselves.
	cfg := broker.Config{
		Dir: d.dir, Credentials: d.natsCredentials, Replicas: d.replicas, Reserve: disk.NewReserve(d.dir),
		Log: slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: slog.LevelError})),
	}
	if len(d.urls) > 0 {
		cfg.Dir, cfg.URLs = "", d.urls
	}
	return cfg
}

func (d *dataPlace) plugins() string {
	if d.pluginsDir != "" {
		return d.pluginsDir
	}
	return filepath.Join(d.dir, "plugins")
}

func (d *dataPlace) key() string {
	if d.keyFile != "" {
		return d.keyFile
	}
	return filepath.Join(d.dir, "secret.key")
}

// writeWhole creates a file that only the owner can read; it must not exist yet. On an error it is
// removed.
func writeWhole(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return misuse("", "%s exists already", path)
	}
	if err != nil {
		return &usageError{"", err}
	}
	if err := errors.Join(write(f), f.Sync(), f.Close()); err != nil {
		return errors.Join(fmt.Errorf("%s: %w", path, err), os.Remove(path))
	}
	return nil
}
