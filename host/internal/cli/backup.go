package cli

import (
	"archive/zip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"github.com/easel-canvas/easel/host/internal/backup"
	"github.com/easel-canvas/easel/host/internal/nats/blobs"
	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/store"
)

var backupCommand = command{
	name: "backup", args: "FILE [FLAGS]",
	summary: "writes all data of a host to one file",
	help: `
The file is a zip archive with the records of all tenants, uploaded files, installed plugins and the key that decrypts
secrets. The host may be running; the records are a consistent snapshot. Protect the file like the host itself.
` + placeHelpAll,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		b := &backuper{}
		b.place.addAll(fs)
		fs.BoolVar(&b.noKey, "without-key", false,
			"leave the key out; without a copy of it elsewhere, secrets are lost")
		return b.run
	},
}

type backuper struct {
	place dataPlace
	noKey bool
}

func (b *backuper) run(ctx context.Context, a *app, args []string) error {
	if len(args) != 1 {
		return misuse("backup", "expected one FILE, got %d", len(args))
	}
	cfg, err := b.place.store(a)
	if err != nil {
		return err
	}
	if err := b.place.there(); err != nil {
		return err
	}
	err = writeWhole(args[0], func(w io.Writer) error {
		if host, dialed := b.atWork(ctx); dialed == nil {
			return b.fromHost(ctx, host, w)
		}
		return b.fromPlace(ctx, a, cfg, w)
	})
	if err != nil {
		return err
	}
	return whole(a, args[0])
}

// atWork connects to the running host that uses the data directory.
func (b *backuper) atWork(ctx context.Context) (*http.Client, error) {
	socket := filepath.Join(b.place.dir, "control.sock")
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
	conn, err := dial(ctx, "", "")
	if err != nil {
		return nil, err
	}
	return &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}, conn.Close()
}

// fromHost lets the host write the archive, since only it can read its files.
func (b *backuper) fromHost(ctx context.Context, host *http.Client, w io.Writer) error {
	url := "http://host/backup"
	if b.noKey {
		url += "?key=none"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	res, err := host.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the host answers %s", res.Status)
	}
	_, err = io.Copy(w, res.Body)
	return err
}

// fromPlace writes the archive of a stopped host, or of one whose data is all in NATS and
// PostgreSQL.
func (b *backuper) fromPlace(ctx context.Context, a *app, cfg store.Config, w io.Writer) (err error) {
	// NATS first: it finds out whether another process uses the directory.
	conn, err := broker.Open(ctx, b.place.broker(a), "easel backup")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	uploads, err := blobs.Open(ctx, conn, b.place.bucket)
	if err != nil {
		return err
	}
	s, err := store.Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	from := backup.Source{Store: s, Files: uploads, Plugins: b.place.plugins(), Version: hostVersion()}
	if !b.noKey {
		from.KeyFile = b.place.key()
	}
	return backup.Write(ctx, w, from)
}

// whole checks that the archive is complete and returns its size.
func whole(a *app, file string) error {
	z, err := zip.OpenReader(file)
	if err != nil {
		return errors.Join(fmt.Errorf("%s is not a complete backup: %w", file, err), os.Remove(file))
	}
	entries := len(z.File)
	info, err := os.Stat(file)
	if err = errors.Join(err, z.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "%s: %d parts, %d bytes\n", file, entries, info.Size())
	return err
}
