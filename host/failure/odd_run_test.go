package failure_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/faces"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// oddSeed is the seed of the odd requests of `make test`.
const oddSeed = 1

// oddRequestsShort is the part of the odd requests that `make test` sends.
func oddRequestsShort(t *testing.T, bin programs) { sendOddRequests(t, bin, oddSeed, 2000) }

// sendOddRequests sends n odd requests to a host of 1 GiB, eight at a time. Each is answered in its
// dialect, without internal errors, internal names or panics.
func sendOddRequests(t *testing.T, bin programs, seed uint64, n int) {
	w := embedded(t, bin)
	w.env = nil // the offline model
	h := w.start("a", "--memory", "1GiB")
	t.Logf("seed %d; in a control group: %v", seed, confine(t, h, 1<<30))
	requests := make(chan *oddRequest)
	statuses := make([]atomic.Int64, 1000)
	var senders sync.WaitGroup
	for range 8 {
		senders.Go(func() {
			for r := range requests {
				status, problem := sendOdd(t.Context(), r)
				if statuses[status].Add(1); problem != "" {
					t.Errorf("%s\n\t%v", problem, r)
				}
			}
		})
	}
	o := &oddRequests{Rand: rand.New(rand.NewPCG(seed, 0)), base: h.url, key: w.key, routes: oddRoutes()}
	for i := range n {
		if i%500 == 0 {
			o.ids = w.oddIDs()
		}
		requests <- o.next()
	}
	close(requests)
	senders.Wait()
	peak := servertest.PeakMemory(t, h.PID())
	t.Logf("%d requests, peak %d MB, %s", n, peak/1e6, countStatuses(statuses))
	requireQuiet(t, h)
	require.Less(t, peak, int64(600e6))
	requireSteps(t, w.follow(w.run(h, w.canvas(w.outside.chain(2)), "", "fine"), 0, nil).wait(), 2)
}

// requireQuiet checks that a host has logged no error and no panic.
func requireQuiet(t *testing.T, h *hostProcess) {
	t.Helper()
	for line := range strings.Lines(h.Output()) {
		require.NotContains(t, line, "level=ERROR")
		require.NotContains(t, line, "panic")
		require.NotContains(t, line, "runtime error")
	}
}

func countStatuses(statuses []atomic.Int64) string {
	var b strings.Builder
	for status := range statuses {
		if n := statuses[status].Load(); n > 0 {
			fmt.Fprintf(&b, " %d:%d", status, n)
		}
	}
	return b.String()
}

// oddRoutes returns all routes of the API, each with one method.
func oddRoutes() (list []api.Route) {
	for _, r := range faces.New(api.Config{Services: &app.Services{}}, "").Routes() {
		for method := range strings.FieldsSeq(r.Method) {
			r.Method = method
			list = append(list, r)
		}
	}
	return list
}

// oddIDs creates one object for each path parameter, since earlier requests may have deleted them.
func (w *world) oddIDs() map[string][]string {
	w.t.Helper()
	canvas := w.canvas(echo)
	session := w.session(canvas)
	run := w.run(w.hosts["a"], canvas, session, "x")
	w.follow(run, 0, nil).wait()
	var key, user, server, schedule struct{ ID string }
	w.call("POST", w.any()+"/api/v2/keys", `{"name":"odd","scopes":["read"]}`, &key)
	w.call("POST", w.any()+"/api/v2/schedules", `{"name":"`+canvas+`","canvas":"`+canvas+`","every":"1h"}`, &schedule)
	w.call("GET", w.any()+"/api/v2/me", "", &user)
	var made struct{ Data struct{ ID string } }
	w.call("POST", w.any()+"/v1/mcp_server/create",
		fmt.Sprintf(`{"name":"odd%s","url":"http://127.0.0.1:1/mcp","server_type":"sse"}`, canvas[:8]), &made)
	server.ID = made.Data.ID
	ids := map[string][]string{
		"canvas": {
			canvas,
		}, "id": {canvas, session, run, key.ID}, "session": {session}, "sid": {session}, "run": {run},
		"task": {run}, "message": {run}, "key": {key.ID},
		"schedule": {schedule.ID}, "server": {server.ID}, "component": {"Message:A", "begin"}, "name": {"odd"},
		"provider": {"odd"}, "vid": {"1"},
	}
	ids["any"] = []string{canvas, session, run, key.ID, schedule.ID, "begin", "Message:A"}
	return ids
}

// unclear matches internal names that must not be in an answer: of Go types and packages, and of
// the database.
var unclear = regexp.MustCompile(strings.Join([]string{
	`json: |cannot unmarshal|invalid character|unexpected end of JSON|parsing time|mime: `,
	`\*errors\.|strconv\.|reflect\.|runtime error|goroutine \d|interface \{\}|Go value|Go struct|map\[string\]`,
	`\b(engine|store|runs|runlog|broker|multipart|url|http|time|sql|hex|base64)\.[A-Z]\w+`,
	`sql: |SQL logic|SQLITE_|constraint failed|nats: `,
}, "|"))

// formPaths answer with an HTML page.
var formPaths = regexp.MustCompile(`^/(login|login/password|login/oidc/.*|logout)$`)

// sendOdd sends a request and returns the faults of the response.
func sendOdd(ctx context.Context, r *oddRequest) (status int, problem string) {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, r.method, r.url, bytes.NewReader(r.body))
	if err != nil {
		return 0, "" // no client can send it
	}
	req.Header = r.header
	res, err := oddClient.Do(req)
	if err != nil && ctx.Err() == nil && strings.Contains(err.Error(), "net/http: ") {
		return 0, ""
	}
	if err != nil {
		return 0, "no answer: " + err.Error()
	}
	defer res.Body.Close()
	text, err := readOdd(res)
	if err != nil {
		return res.StatusCode, "the answer ends early: " + err.Error()
	}
	kind := res.Header.Get("Content-Type")
	switch {
	case res.StatusCode >= 500 && res.StatusCode != http.StatusServiceUnavailable:
		problem = "an internal error"
	case res.StatusCode >= 400 && r.method != "HEAD" && !isError(text) && !formPaths.MatchString(req.URL.Path):
		problem = "the error is not JSON with a message"
	case kind == "application/jsonl" && slices.ContainsFunc(bytes.Split(bytes.TrimSpace(text), []byte("\n")),
		func(line []byte) bool { return !json.Valid(line) }):
		problem = "a line of the answer is not JSON"
	case strings.HasPrefix(kind, "application/json") && kind != "application/jsonl" && r.method != "HEAD" &&
		!json.Valid(text):
		problem = "the answer is not JSON"
	case !strings.HasPrefix(kind, "text/html") && !strings.Contains(r.url, "openapi.json") && unclear.Match(text):
		problem = "a word of the code: " + string(unclear.Find(text))
	}
	if problem != "" {
		problem = fmt.Sprintf("%s: %d %s %.600s", problem, res.StatusCode, kind, text)
	}
	return res.StatusCode, problem
}

// endless are streams of changes, which the client ends.
var endless = regexp.MustCompile(`^/api/v2/(canvases|datasets)/[^/]+/events$`)

// readOdd reads an answer, of an endless stream the part that is sent at once.
func readOdd(res *http.Response) ([]byte, error) {
	if res.StatusCode != http.StatusOK || !endless.MatchString(res.Request.URL.Path) || res.Request.Method == "HEAD" {
		return io.ReadAll(io.LimitReader(res.Body, 8<<20))
	}
	first := make([]byte, 64<<10)
	n, err := res.Body.Read(first)
	return first[:n], err
}

// oddClient follows no redirects: their target is not the host's answer.
var oddClient = &http.Client{
	Timeout:       patience,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Transport:     &http.Transport{MaxIdleConnsPerHost: 8, IdleConnTimeout: time.Minute, DisableCompression: true},
}

// isError reports whether an answer is an error of one of the dialects: a code with a message, or a
// member error.
func isError(text []byte) bool {
	var e struct {
		Code    *json.RawMessage
		Message *string
		Error   *json.RawMessage
	}
	return json.Unmarshal(text, &e) == nil && (e.Code != nil && e.Message != nil || e.Error != nil)
}
