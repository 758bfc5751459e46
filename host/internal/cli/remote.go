package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/egress/reach"
	"github.com/easel-canvas/easel/host/internal/egress/redact"
)

// remote is the API of a running host. It reads the settings of `easel serve`, so that both work
// with the same environment.
type remote struct {
	url, addr, keyFile string
	json               bool

	a    *app
	base string
	key  string
}

func (r *remote) add(fs *flag.FlagSet) {
	fs.StringVar(&r.url, "url", "", "`URL` of the host; EASEL_URL, or http:// and --addr when left out")
	fs.StringVar(&r.addr, "addr", "",
		"`HOST:PORT` of a host on this machine; EASEL_ADDR or 127.0.0.1:9380 when left out")
	fs.StringVar(&r.keyFile, "api-key-file", "",
		"`FILE` with the API key; EASEL_API_KEY or EASEL_API_KEY_FILE when left out")
	fs.BoolVar(&r.json, "json", false, "print the response of the API as JSON")
}

const remoteHelp = `
The host must be running. Its address is that of --url, EASEL_URL, --addr or EASEL_ADDR, and the key that of
--api-key-file, EASEL_API_KEY or EASEL_API_KEY_FILE.`

// open determines the address and the key; it sends no request.
func (r *remote) open(a *app) error {
	r.a = a
	r.base = strings.TrimSuffix(cmp.Or(r.url, a.getenv("EASEL_URL")), "/")
	if r.addr != "" && r.url == "" || r.base == "" {
		r.base = "http://" + reachable(cmp.Or(r.addr, a.getenv("EASEL_ADDR"), "127.0.0.1:9380"))
	}
	if !strings.HasPrefix(r.base, "http://") && !strings.HasPrefix(r.base, "https://") {
		return misuse("", "%s is not an address such as http://127.0.0.1:9380", r.base)
	}
	r.key = a.getenv("EASEL_API_KEY")
	if file := cmp.Or(r.keyFile, a.getenv("EASEL_API_KEY_FILE")); r.keyFile != "" || r.key == "" && file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return misuse("", "API key: %w", err)
		}
		r.key = strings.TrimSpace(string(text))
	}
	if r.key == "" {
		return misuse("", "no API key: set EASEL_API_KEY or --api-key-file FILE")
	}
	return nil
}

// answerTime bounds one request.
const answerTime = 30 * time.Second

// ask sends a request with a body, null for none, and returns the response.
func (r *remote) ask(ctx context.Context, method, path string, body engine.Value) (engine.Value, error) {
	ctx, done := context.WithTimeout(ctx, answerTime)
	defer done()
	var sent io.Reader
	if !body.IsNull() {
		sent = bytes.NewReader(body.AppendJSON(nil))
	}
	req, err := http.NewRequestWithContext(ctx, method, r.base+"/api/v2/"+path, sent)
	if err != nil {
		return engine.Null, err
	}
	req.Header.Set("Authorization", "Bearer "+r.key)
	req.Header.Set("Content-Type", "application/json")
	client := http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true, Proxy: http.ProxyFromEnvironment},
		CheckRedirect: reach.StayAtOrigin,
	}
	res, err := client.Do(req)
	var refused *net.OpError
	if errors.As(err, &refused) {
		return engine.Null, fmt.Errorf("no response from a host at %s: %w", redact.Address(r.base),
			redact.Error(refused))
	}
	if err != nil {
		return engine.Null, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 64<<20))
	if err != nil {
		return engine.Null, err
	}
	v, err := engine.ParseJSON(text)
	if res.StatusCode >= 400 {
		if said := v.Get("error").Get("message").Str(); err == nil && said != "" {
			return engine.Null, errors.New(said)
		}
		return engine.Null, fmt.Errorf("%s answers %s", redact.Address(r.base), res.Status)
	}
	if len(text) == 0 {
		return engine.Null, nil
	}
	return v, err
}

// shown prints a response as JSON, unless there was an error.
func (r *remote) shown(v engine.Value, err error) error {
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, v.AppendJSON(nil), "", "  "); err != nil {
		return err
	}
	out.WriteByte('\n')
	_, err = r.a.out.Write(out.Bytes())
	return err
}

// listing returns the list verb of a command: a table of the objects at a path of the API.
func listing(noun, path, summary, head string, row func(engine.Value) []string) command {
	return command{
		name: noun + " list", args: "[FLAGS]", summary: summary, help: remoteHelp,
		setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
			r := &remote{}
			r.add(fs)
			return func(ctx context.Context, a *app, args []string) error {
				if len(args) > 0 {
					return misuse(noun, "unexpected argument %q", args[0])
				}
				if err := r.open(a); err != nil {
					return err
				}
				list, err := r.ask(ctx, "GET", path, engine.Null)
				if err != nil || r.json {
					return r.shown(list, err)
				}
				var rows [][]string
				for _, item := range list.Get("items").Elements() {
					rows = append(rows, row(item))
				}
				return printTable(r.a.out, strings.Fields(head), rows)
			}
		},
	}
}

// moment formats a time of the API to the minute; "-" without a time.
func moment(v engine.Value) string {
	t, err := time.Parse(time.RFC3339Nano, v.Str())
	if err != nil {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04")
}

// called returns the id of the object in a list with a title or name, ignoring case. Anything else
// counts as an id, which the host checks.
func called(what, name string, list engine.Value) (string, error) {
	var ids []string
	for _, v := range list.Elements() {
		if strings.EqualFold(cmp.Or(v.Get("title").Str(), v.Get("name").Str()), name) {
			ids = append(ids, v.Get("id").Str())
		}
	}
	switch len(ids) {
	case 0:
		return name, nil
	case 1:
		return ids[0], nil
	}
	return "", misuse(what, "%d of them have the name %q; use the id of the %s: %s", len(ids), name, what,
		strings.Join(ids, ", "))
}

// verbHelp lists the verbs of a command for its help.
func verbHelp(name string, verbs []command) string {
	var b strings.Builder
	b.WriteString("Verbs:\n")
	for _, v := range verbs {
		fmt.Fprintf(&b, "  %-9s %s\n", strings.TrimPrefix(v.name, name+" "), v.summary)
	}
	fmt.Fprintf(&b, "\n`easel %s VERB --help` shows the help of a verb.", name)
	return b.String()
}

// needsVerb returns the usage error of a missing or unknown verb.
func needsVerb(name string) func(*flag.FlagSet) func(context.Context, *app, []string) error {
	return func(*flag.FlagSet) func(context.Context, *app, []string) error {
		return func(context.Context, *app, []string) error { return misuse(name, "expected a verb") }
	}
}
