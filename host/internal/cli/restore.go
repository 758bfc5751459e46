package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/easel-canvas/easel/host/internal/backup"
	"github.com/easel-canvas/easel/host/internal/nats/broker"
)

var restoreCommand = command{
	name: "restore", args: "FILE [FLAGS]",
	summary: "restores a backup of a host",
	help: `
The host must be stopped, and the target must be empty or --replace given. With --replace the old content of the data
directory is kept in a folder replaced-TIME inside it; a PostgreSQL database is emptied. The backup may be that of the
other kind of database. Runs that were active at the time of the backup count as failed.

All hosts of a NATS or PostgreSQL must be stopped. If hosts are connected there, they are listed and nothing is changed;
--force continues anyway, for example if the connections belong to a machine that no longer exists.
` + placeHelpAll,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		var place dataPlace
		place.addAll(fs)
		replace := fs.Bool("replace", false, "replace existing data")
		force := fs.Bool("force", false, "skip the check for running hosts")
		return func(ctx context.Context, a *app, args []string) error {
			if len(args) != 1 {
				return misuse("restore", "expected one FILE, got %d", len(args))
			}
			return place.restore(ctx, a, args[0], *replace, *force)
		}
	},
}

func (d *dataPlace) restore(ctx context.Context, a *app, file string, replace, force bool) error {
	cfg, err := d.store(a)
	if err != nil {
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return &usageError{"restore", err}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	done, err := backup.Read(ctx, f, info.Size(), backup.Target{
		Store: cfg, NATS: d.broker(a), Files: d.bucket, Plugins: d.plugins(), Replace: replace, Force: force,
	})
	if errors.Is(err, broker.ErrLocked) {
		return fmt.Errorf("%w: stop the host that uses %s first", err, d.dir)
	}
	if errors.Is(err, backup.ErrAtWork) {
		return fmt.Errorf("%w; stop them first, or use --force if they are gone", err)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "restored the backup of %s: records, %d uploaded files, %d files of plugins\n",
		done.Created.Format("2006-01-02 15:04:05 MST"), done.Files, done.Plugins)
	if n := len(done.LeftOut); n > 0 {
		fmt.Fprintf(a.out,
			"skipped %d entries that are not part of a backup: %s\n", n, strings.Join(done.LeftOut[:min(n, 10)], ", "))
	}
	if done.FailedRuns > 0 {
		fmt.Fprintf(a.out, "marked %d unfinished runs as failed\n", done.FailedRuns)
	}
	return nil
}
