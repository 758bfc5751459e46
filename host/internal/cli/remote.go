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
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/reach"
)

// remote is a host at work that a command talks to, by its own API. It is found by what `easel
// serve` reads, so that both work with the same environment.
type remote struct {
	url, addr, keyFile string
	json               bool

	a    *app
	base string
	key  string
}

func (r *remote) add(fs *flag.FlagSet) {
	fs.StringVar(&r.url, "url", "", "`URL` of the host; EASEL_URL, or http:// and --addr when left out")
	fs.StringVar(&r.addr, "addr", "", "`HOST:PORT` that a host on this machine listens on; EASEL_ADDR or 127.0.0.1:9380 when left out")
	fs.StringVar(&r.keyFile, "api-key-file", "", "`FILE` that keeps the API key; EASEL_API_KEY or EASEL_API_KEY_FILE when left out")
	fs.BoolVar(&r.json, "json", false, "print what the API answers, as JSON")
}

const remoteHelp = `
The host must be at work. It is found by --url, EASEL_URL, --addr or EASEL_ADDR, and asked with the key of --api-key-file,
EASEL_API_KEY or EASEL_API_KEY_FILE.`

// open finds the host and the key; nothing is asked yet.
func (r *remote) open(a *app) error {
	r.a = a
	r.base = strings.TrimSuffix(cmp.Or(r.url, a.getenv("EASEL_URL")), "/")
	if r.addr != "" && r.url == "" || r.base == "" {
		r.base = "http://" + reachable(cmp.Or(r.addr, a.getenv("EASEL_ADDR"), "127.0.0.1:9380"))
	}
	if !strings.HasPrefix(r.base, "http://") && !strings.HasPrefix(r.base, "https://") {
		return misuse("", "%s is no address such as http://127.0.0.1:9380", r.base)
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
		return misuse("", "an API key is needed: EASEL_API_KEY or --api-key-file FILE")
	}
	return nil
}

// answerTime bounds one request.
const answerTime = 30 * time.Second

// ask sends a request with a body, null for none, and gives the answer.
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
		return engine.Null, fmt.Errorf("no host answers at %s: %w", r.base, refused)
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
		return engine.Null, fmt.Errorf("%s answers %s", r.base, res.Status)
	}
	if len(text) == 0 {
		return engine.Null, nil
	}
	return v, err
}

// shown shows an answer as JSON, unless there was an error.
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

// listing is the verb list of a command: what the API has at path, a row for each.
func listing(noun, path, summary, head string, row func(engine.Value) []string) command {
	return command{
		name: noun + " list", args: "[FLAGS]", summary: summary, help: remoteHelp,
		setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
			r := &remote{}
			r.add(fs)
			return func(ctx context.Context, a *app, args []string) error {
				if len(args) > 0 {
					return misuse(noun, "nothing follows the flags, but %q does", args[0])
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
				return r.table(head, rows)
			}
		},
	}
}

// table shows rows under a head, in columns.
func (r *remote) table(head string, rows [][]string) error {
	w := tabwriter.NewWriter(r.a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(strings.Fields(head), "\t"))
	for _, row := range rows {
		for i, cell := range row {
			row[i] = cmp.Or(strings.Map(visible, cell), "-")
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}

// visible drops what would move the cursor.
func visible(r rune) rune {
	if unicode.IsControl(r) {
		return -1
	}
	return r
}

// moment is a time of the API, to the minute; "-" when there is none.
func moment(v engine.Value) string {
	t, err := time.Parse(time.RFC3339Nano, v.Str())
	if err != nil {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04")
}

// called is the id of the one in a list whose title or name is given, without case. What no title
// is counts as an id; the host says when there is none.
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
	return "", misuse(what, "%q is the name of %d; give the id of the %s: %s", name, len(ids), what, strings.Join(ids, ", "))
}

// verbHelp lists the verbs of a command and how their pages are shown.
func verbHelp(name string, verbs []command) string {
	var b strings.Builder
	b.WriteString("Verbs:\n")
	for _, v := range verbs {
		fmt.Fprintf(&b, "  %-9s %s\n", strings.TrimPrefix(v.name, name+" "), v.summary)
	}
	fmt.Fprintf(&b, "\n`easel %s VERB --help` shows the page of a verb.", name)
	return b.String()
}

// needsVerb explains what is missing behind a command with verbs.
func needsVerb(name string) func(*flag.FlagSet) func(context.Context, *app, []string) error {
	return func(*flag.FlagSet) func(context.Context, *app, []string) error {
		return func(context.Context, *app, []string) error { return misuse(name, "a verb is needed") }
	}
}
