package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"github.com/easel-canvas/easel/host"
	"github.com/easel-canvas/easel/host/internal/disk"
)

// Files of the data directory with secrets that are not printed, since a standard output that is no
// terminal is often collected: by journald, Docker or CI.
const (
	linkFile     = "sign-in.url"
	firstKeyFile = "api.key"
	redisFile    = "redis.password"
)

// greet prints the addresses of the host, how to sign in, and an example request. Secrets are
// printed to a terminal only; otherwise the name of a file is printed.
func (s *server) greet(ctx context.Context, a *app, addr string, h *host.Host) {
	url := "http://" + reachable(addr)
	fmt.Fprintf(a.out, "address: %s\n", url)
	key := s.greetKey(a, h)
	s.greetLink(a, url, h)
	if metrics := h.Metrics(); metrics != "" {
		fmt.Fprintf(a.out, "metrics: http://%s/metrics\n", reachable(metrics))
	}
	if door := h.RedisDoor(); door != "" {
		fmt.Fprintf(a.out, "redis door: %s\n", door)
	}
	if h.RedisKey != "" {
		s.show(a, "redis password", h.RedisKey, redisFile)
	}
	if canvas, question := h.Sample(ctx); canvas != "" {
		fmt.Fprintf(a.out, "try: curl -N -H \"Authorization: Bearer %s\" -H 'Content-Type: application/json' -d "+
			"'{\"question\": \"%s\"}' %s/api/v1/agents/%s/completions\n",
			key, question, url, canvas)
		return
	}
	fmt.Fprintf(a.out, "try: curl -H \"Authorization: Bearer %s\" %s/api/v1/agents\n", key, url)
}

// greetKey prints the API key or where it is, and returns it as a word of a shell.
func (s *server) greetKey(a *app, h *host.Host) string {
	given := a.getenv("EASEL_API_KEY") != ""
	switch file := filepath.Join(s.cfg.Dir, firstKeyFile); {
	case h.Key != "":
		if s.show(a, "key", h.Key, firstKeyFile) {
			return h.Key
		}
		return catOf(file)
	case s.madeKey && a.prints:
		fmt.Fprintf(a.out, "key: %s\n", s.cfg.Key)
		return s.cfg.Key
	case s.keyFile != "" && !given:
		fmt.Fprintf(a.out, "key: see %s\n", s.keyFile)
		return catOf(s.keyFile)
	case s.cfg.Key != "":
	case exists(file):
		fmt.Fprintf(a.out, "key: see %s\n", file)
		return catOf(file)
	default:
		fmt.Fprintln(a.out, "key: as printed at the first start; set EASEL_API_KEY or --api-key-file to change it")
	}
	return "$EASEL_API_KEY"
}

// greetLink prints the link that signs in once, or the file that has it until it was used or has
// expired.
func (s *server) greetLink(a *app, url string, h *host.Host) {
	file := filepath.Join(s.cfg.Dir, linkFile)
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.cfg.Log.Warn("the file of an expired sign-in link cannot be removed", "err", err)
	}
	switch {
	case !a.page:
		fmt.Fprintln(a.out, "page: not in this program; run make page build/out/easel in the repository to build it in")
	case a.prints || s.printLink:
		fmt.Fprintf(a.out, "sign in: %s%s (works once, within an hour)\n", url, h.SignInPath(nil))
	default:
		link := url + h.SignInPath(s.removeLink)
		if err := disk.Replace(file, []byte(link+"\n")); err != nil {
			s.cfg.Log.Warn("the link to sign in cannot be written", "err", err)
			return
		}
		fmt.Fprintf(a.out, "sign in: the link in %s works once, within an hour\n", file)
	}
}

// removeLink removes the file of the sign-in link.
func (s *server) removeLink() {
	err := os.Remove(filepath.Join(s.cfg.Dir, linkFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.cfg.Log.Warn("the file of the sign-in link cannot be removed", "err", err)
	}
}

// show prints a generated secret to a terminal and reports that. Otherwise it writes the secret to
// a file of the data directory, which only the owner can read, and prints its name.
func (s *server) show(a *app, what, secret, file string) (printed bool) {
	if a.prints {
		fmt.Fprintf(a.out, "%s: %s\n", what, secret)
		return true
	}
	file = filepath.Join(s.cfg.Dir, file)
	if err := disk.Replace(file, []byte(secret+"\n")); err != nil {
		s.cfg.Log.Error("a generated secret cannot be written, and is lost; set another one in the environment",
			"secret", what, "err", err)
	}
	fmt.Fprintf(a.out, "%s: see %s\n", what, file)
	return false
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// catOf returns the content of a file as a word of a shell.
func catOf(file string) string { return fmt.Sprintf("$(cat '%s')", file) }

// reachable returns the address by which this machine can reach a listener.
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
