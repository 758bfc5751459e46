package cli

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

var healthCommand = command{
	name: "health", args: "[FLAGS]",
	summary: "checks whether a host is ready",
	help: `
Prints the status of the host and exits with 0, or with 1 if it is not ready or does not respond. It serves as the
health check of containers; EASEL_ADDR is the address of the host.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		h := &health{}
		fs.StringVar(&h.addr, "addr", "",
			"`HOST:PORT` that the host listens on; EASEL_ADDR or 127.0.0.1:9380 when left out")
		fs.DurationVar(&h.wait, "wait", 4*time.Second, "how long it may take to answer")
		return h.run
	},
}

// health is the health command with its flags.
type health struct {
	addr string
	wait time.Duration
}

func (h *health) run(ctx context.Context, a *app, args []string) error {
	if len(args) > 0 {
		return misuse("health", "unexpected argument %q", args[0])
	}
	addr := reachable(cmp.Or(h.addr, a.getenv("EASEL_ADDR"), "127.0.0.1:9380"))
	ctx, done := context.WithTimeout(ctx, h.wait)
	defer done()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/readyz", nil)
	if err != nil {
		return err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // no proxy: it is this machine
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	said, err := io.ReadAll(io.LimitReader(res.Body, 4096))
	if err != nil {
		return err
	}
	text := strings.TrimSpace(string(said))
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s is not ready: %s", addr, text)
	}
	fmt.Fprintln(a.out, text)
	return nil
}
