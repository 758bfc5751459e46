package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	services "github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// operator is a served host with the environment of its operator.
type operator struct {
	*served
	env []string
}

func operated(t *testing.T, env ...string) *operator {
	t.Helper()
	s := serve(t, append(env, "EASEL_API_KEY="+operatorKey))
	return &operator{s, []string{"EASEL_ADDR=" + strings.TrimPrefix(s.url, "http://"), "EASEL_API_KEY=" + operatorKey}}
}

// easel runs a command in an environment.
func (o *operator) easel(env []string, args ...string) (code int, out, errs string) {
	o.t.Helper()
	var stdout, stderr servertest.Output
	a := withEnv(o.t, &stdout, &stderr, env)
	code = a.exit(o.t.Context(), a.dispatch(o.t.Context(), args))
	return code, stdout.String(), stderr.String()
}

// good requires that a command of the operator succeeds.
func (o *operator) good(args ...string) string {
	o.t.Helper()
	code, out, errs := o.easel(o.env, args...)
	require.Equal(o.t, ExitOK, code, errs)
	require.Empty(o.t, errs)
	return out
}

func (o *operator) json(args ...string) engine.Value {
	o.t.Helper()
	return parse1(o.t, o.good(append(args, "--json")...))
}

// bad requires that one fails, with a code and words.
func (o *operator) bad(code int, want string, args ...string) {
	o.t.Helper()
	got, out, errs := o.easel(o.env, args...)
	require.Equal(o.t, code, got, errs)
	require.Empty(o.t, out)
	require.Contains(o.t, errs, want)
}

func TestKeyCommands(t *testing.T) {
	o := operated(t)
	made := o.good("key", "create", "reports", "--scopes", "read, run", "--rate", "60", "--tokens-per-day", "5000",
		"--expires", "720h")
	found := regexp.MustCompile(`^id: (\S+)\nkey: (ragflow-\S{43})\n$`).FindStringSubmatch(made)
	require.NotNil(t, found, made)
	id, key := found[1], found[2]
	status, me := o.get("/api/v2/me", key)
	require.Equal(t, 200, status)
	require.Contains(t, me, `"scopes":["read","run"]`)

	list := o.good("key", "list")
	require.Regexp(t, `(?m)^ID +NAME +BEGINS +SCOPES +TOKENS +CREATED +EXPIRES$`, list)
	require.Regexp(t, `(?m)^`+
		id+` +reports +ragflow-\S{4}\.\.\. +read,run +0/5000 +\d{4}-\d\d-\d\d \d\d:\d\d +\d{4}-\d\d-\d\d \d\d:\d\d$`,
		list)
	require.Regexp(t, `(?m) first .* all .* -$`, list)
	require.NotContains(t, list, key)
	require.Equal(t, 2, o.json("key", "list").Get("items").Len())

	require.Regexp(t, `(?m) first .* all +0 `, list)

	require.Empty(t, o.good("key", "limit", id, "--tokens-per-day", "7"))
	limited := o.json("key", "limit", id, "--rate", "5")
	require.Equal(t, "7 5", limited.Get("tokens_per_day").Text()+" "+limited.Get("rate").Text())
	require.Equal(t, "0", o.json("key", "limit", id, "--tokens-per-day", "0").Get("tokens_per_day").Text())
	o.bad(ExitFailed, "tokens per day must be between 0 and", "key", "limit", id, "--tokens-per-day", "-1")
	o.bad(ExitFailed, "tokens per day must be between 0 and", "key", "create", "x", "--tokens-per-day", "-1")
	o.bad(ExitFailed, "key not found", "key", "limit", "none", "--rate", "5")
	o.bad(ExitUsage, "nothing to change: expected --tokens-per-day", "key", "limit", id)
	o.bad(ExitUsage, "expected one ID", "key", "limit")
	o.bad(ExitUsage, "invalid value", "key", "limit", id, "--tokens-per-day", "many")

	require.Empty(t, o.good("key", "revoke", id))
	status, _ = o.get("/api/v2/me", key)
	require.Equal(t, 401, status)
	o.bad(ExitFailed, "key not found", "key", "revoke", id)
	itself := o.json("key", "create", "short", "--expires", "2099-01-31T00:00:00Z")
	require.Equal(t, "2099-01-31T00:00:00Z", itself.Get("expires").Str())
	o.good("key", "revoke", itself.Get("key").Str())

	o.bad(ExitUsage, "expected one NAME", "key", "create")
	o.bad(ExitUsage, "--expires soon: not a duration such as 720h", "key", "create", "x", "--expires", "soon")
	o.bad(ExitFailed, `unknown scope "root"`, "key", "create", "x", "--scopes", "root")
	for _, empty := range []string{"", " , "} {
		o.bad(ExitFailed, "scopes is empty", "key", "create", "x", "--scopes", empty)
	}
	require.JSONEq(t, `["read","run"]`, o.json("key", "create", "plain").Get("scopes").JSON())
	help := o.good("key", "create", "--help")
	for _, term := range services.ScopeTerms() {
		require.Regexp(t, `(?m)^  `+term.Word+` +`+regexp.QuoteMeta(term.Doc)+`$`, help)
	}
	o.bad(ExitFailed, "tenant not found", "key", "create", "x", "--tenant", "missing")
	o.bad(ExitUsage, "expected a verb", "key")
	o.bad(ExitUsage, `unknown verb "make"`, "key", "make")
	o.bad(ExitUsage, `unexpected argument "x"`, "key", "list", "x")
}

func TestTenantCommands(t *testing.T) {
	o := operated(t)
	password := file(t, "password", "correct horse\n")
	made := o.json("tenant", "create", "Research", "--email", "ann@example.org", "--password-file", password)
	tenant, key := made.Get("id").Str(), made.Get("key").Str()
	status, me := o.get("/api/v2/me", key)
	require.Equal(t, 200, status)
	require.Contains(t, me, `"tenant_name":"Research"`)
	require.Contains(t, o.post("/v1/user/login", "", `{"email":"ann@example.org","password":"correct horse"}`),
		`"nickname":"Research"`)
	require.Regexp(t, `^id: \S+\nowner: \S+\nkey: ragflow-\S{43}\n$`, o.good("tenant", "create", "Sales"))
	list := o.good("tenant", "list")
	require.Regexp(t, `(?m)^`+tenant+` +Research +0 +\d{4}-`, list)
	require.Empty(t, o.good("tenant", "limit", tenant, "--tokens-per-day", "900"))
	require.Regexp(t, `(?m)^`+tenant+` +Research +0/900 +\d{4}-`, o.good("tenant", "list"))
	require.Equal(t, "80", o.json("tenant", "create", "Trial", "--tokens-per-day", "80").Get("tokens_per_day").Text())
	o.bad(ExitFailed, "tenant not found", "tenant", "limit", "none", "--tokens-per-day", "1")
	require.Equal(t, 4, o.json("tenant", "list").Get("items").Len())
	lost := o.json("key", "create", "lost", "--tenant", tenant, "--scopes", "read,run,edit,admin")
	status, me = o.get("/api/v2/me", lost.Get("key").Str())
	require.Equal(t, 200, status)
	require.Contains(t, me, tenant)

	o.bad(ExitUsage, "require each other", "tenant", "create", "x", "--email", "a@b.org")
	o.bad(ExitUsage, "no such file", "tenant", "create", "x", "--email", "a@b.org", "--password-file", password+".none")
	o.bad(ExitFailed, "8 characters", "tenant", "create", "x", "--email", "a@b.org", "--password-file",
		file(t, "short", "short"))
	o.env[1] = "EASEL_API_KEY=" + key
	o.bad(ExitFailed, "Only who operates this host", "tenant", "list")
}

func TestScheduleCommands(t *testing.T) {
	o := operated(t)
	canvas := member(t, o.post("/api/v2/canvases", operatorKey, `{"title":"Daily report","dsl":`+echoing+`}`), "id")
	out := o.good("schedule", "add", "daily report", "--cron", "30 7 * * mon-fri", "--zone", "Europe/Berlin", "--query",
		"news?", "--inputs", `{"depth":2}`)
	require.Regexp(t, `^\S{32}: Daily report, next \d{4}-\d\d-\d\d \d\d:\d\d\n$`, out)
	watch := o.json("schedule", "add", canvas, "--every", "10m", "--name", "watch", "--session", "new")
	require.Equal(t, []string{canvas, "10m", "new"},
		[]string{watch.Get("canvas").Str(), watch.Get("every").Str(), watch.Get("session").Str()})
	first := o.json("schedule", "list").Get("items").At(0)
	require.Equal(t, []string{"news?", `{"depth":2}`, "Europe/Berlin"},
		[]string{first.Get("query").Str(), first.Get("inputs").JSON(), first.Get("zone").Str()})

	list := o.good("schedule", "list")
	require.Regexp(t, `(?m)^ID +NAME +CANVAS +WHEN +NEXT +LAST$`, list)
	require.Regexp(t, `(?m)^\S{32} +Daily report +`+canvas+` +30 7 \* \* mon-fri Europe/Berlin +\d{4}-\S+ \S+ +-$`,
		list)
	require.Empty(t, o.good("schedule", "pause", "WATCH"))
	require.Regexp(t, `(?m) watch .* every 10m +paused +-$`, o.good("schedule", "list"))
	require.Equal(t, 3, o.json("schedule", "resume", "watch").Get("next").Len())
	require.Empty(t, o.good("schedule", "remove", "watch"))
	require.Empty(t, o.good("schedule", "remove", first.Get("id").Str()))
	require.Zero(t, o.json("schedule", "list").Get("items").Len())

	o.bad(ExitFailed, "schedule not found", "schedule", "remove", "watch")
	o.bad(ExitFailed, "canvas not found", "schedule", "add", "nothing", "--every", "10m")
	o.bad(ExitFailed, "every 1s is too often", "schedule", "add", canvas, "--every", "1s")
	o.bad(ExitFailed, `minute "61"`, "schedule", "add", canvas, "--cron", "61 * * * *")
	o.bad(ExitUsage, "either --every or --cron", "schedule", "add", canvas)
	o.bad(ExitUsage, "expected one CANVAS", "schedule", "add", "--every", "1h")
	o.bad(ExitUsage, "--inputs", "schedule", "add", canvas, "--every", "1h", "--inputs", "{")
	twin := member(t, o.post("/api/v2/canvases", operatorKey, `{"title":"Daily report","dsl":`+echoing+`}`), "id")
	o.bad(ExitUsage, `2 of them have the name "daily report"; use the id of the canvas: `, "schedule", "add",
		"daily report", "--every", "1h")
	o.good("schedule", "add", twin, "--every", "1h")
}

// How a command finds its host and its key.
func TestRemote(t *testing.T) {
	o := operated(t)
	keyFile := file(t, "api.key", operatorKey+"\n")
	addr := strings.TrimPrefix(o.url, "http://")
	for _, c := range []struct {
		name string
		env  []string
		args []string
		code int
		want string
	}{
		{"flags", nil, []string{"--url", o.url + "/", "--api-key-file", keyFile}, ExitOK, ""},
		{"server by flag", nil, []string{"--addr", addr, "--api-key-file", keyFile}, ExitOK, ""},
		{"server by environment", []string{"EASEL_URL=" + o.url, "EASEL_API_KEY_FILE=" + keyFile}, nil, ExitOK, ""},
		{
			"flags override the environment",
			[]string{"EASEL_URL=http://127.0.0.1:1", "EASEL_API_KEY=wrong"},
			[]string{"--addr", addr, "--api-key-file", keyFile},
			ExitOK, "",
		},
		{
			"no key",
			[]string{"EASEL_URL=" + o.url},
			nil, ExitUsage,
			"no API key: set EASEL_API_KEY or --api-key-file FILE",
		},
		{"an invalid key", []string{"EASEL_URL=" + o.url, "EASEL_API_KEY=wrong"}, nil, ExitFailed, "Unauthorized"},
		{
			"a missing key file", nil,
			[]string{"--url", o.url, "--api-key-file", keyFile + ".none"},
			ExitUsage,
			"API key: open",
		},
		{"no server", nil, []string{"--url", "here", "--api-key-file", keyFile}, ExitUsage, "here is not an address"},
		{
			"an unreachable host", nil,
			[]string{"--url", "http://127.0.0.1:1", "--api-key-file", keyFile},
			ExitFailed,
			"no response from a host at http://127.0.0.1:1",
		},
		{
			"another program at the address",
			nil,
			[]string{"--url", o.url + "/else", "--api-key-file", keyFile},
			ExitFailed, "404",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, _, errs := o.easel(c.env, append([]string{"key", "list"}, c.args...)...)
			require.Equal(t, c.code, code, errs)
			require.Contains(t, errs, c.want)
		})
	}
}

// The key is for the address that was named.
func TestRemoteKeyStaysAtItsOrigin(t *testing.T) {
	asked := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	code, _, errs := operated(t).easel([]string{"EASEL_URL=" + server.URL, "EASEL_API_KEY=k"}, "key", "list")
	require.Equal(t, ExitFailed, code)
	require.Contains(t, errs, "redirect to another origin")
	require.Zero(t, asked)
}

// The settings that commands share, and the errors of invalid ones.
func TestVariables(t *testing.T) {
	for variable, want := range map[string]string{
		"EASEL_RATE=many":           "EASEL_RATE=many: expected a number",
		"EASEL_RATE=-1":             "EASEL_RATE=-1: expected a number of requests of at least 0",
		"EASEL_TOKENS_PER_DAY=-1":   "EASEL_TOKENS_PER_DAY=-1: expected a number from 0 to 1000000000000000",
		"EASEL_TOKENS_PER_DAY=1e9":  "EASEL_TOKENS_PER_DAY=1e9: expected a whole number",
		"EASEL_RATE=NaN":            "EASEL_RATE=NaN: expected a number of requests",
		"EASEL_NATS_REPLICAS=three": "EASEL_NATS_REPLICAS=three: expected a whole number",
		"EASEL_LEASE=10":            "EASEL_LEASE=10: expected a duration such as 10s or 5m",
		"EASEL_ALLOW_PRIVATE=maybe": "EASEL_ALLOW_PRIVATE=maybe: expected true or false",
		"EASEL_SYNC=sometimes":      "EASEL_SYNC=sometimes: expected always, contract or interval",
		"EASEL_LOG=xml":             "EASEL_LOG=xml: expected text or json",
	} {
		var out servertest.Output
		err := withEnv(t, &out, &out, []string{variable}).dispatch(t.Context(),
			[]string{"serve", "--data", t.TempDir()})
		require.ErrorContains(t, err, want)
	}
	_, err := commandIn(t, "serve", "--data", t.TempDir(), "--sync", "sometimes")
	require.ErrorContains(t, err, "--sync sometimes: expected always")

	place := database(t, "sqlite")
	s := serve(t, []string{"EASEL_API_KEY=" + operatorKey}, place...)
	s.post("/api/v2/canvases", operatorKey, `{"title":"one","dsl":`+echoing+`}`)
	require.NoError(t, s.stop())
	folder := t.TempDir()
	archive, canvas, target := filepath.Join(folder, "b.zip"), filepath.Join(folder, "one.json"),
		filepath.Join(folder, "target")
	with := func(env []string, args ...string) error {
		var out servertest.Output
		return withEnv(t, &out, &out, env).dispatch(t.Context(), args)
	}
	here := []string{"EASEL_DATA=" + place[1]}
	require.NoError(t, with(here, "backup", archive))
	require.NoError(t, with(here, "export", "one", "-o", canvas))
	require.ErrorContains(t, with(append(here, "EASEL_REPLACE=true"), "import", canvas), "already",
		"what is destroyed is said on the command line only")
	require.ErrorContains(t, with(append(here, "EASEL_REPLACE=true"), "restore", archive), "not empty")
	require.NoError(t, with([]string{"EASEL_DATA=" + target}, "restore", archive))
	require.FileExists(t, filepath.Join(target, "easel.db"))
	require.NoError(t, os.Remove(archive))
	require.ErrorContains(t, with(append(here, "EASEL_NATS_REPLICAS=x"), "backup", archive),
		"EASEL_NATS_REPLICAS=x: expected a whole number")
	for _, name := range []string{"backup", "restore", "import", "export"} {
		_, page, _ := easel(t, "help", name)
		require.Contains(t, page, "EASEL_DATA, EASEL_POSTGRES")
	}
}

func TestTracesCommands(t *testing.T) {
	o := operated(t)
	canvas := member(t, o.post("/api/v2/canvases", operatorKey, `{"title":"echo","dsl":`+echoing+`}`), "id")
	run := member(t, o.post("/api/v2/canvases/"+canvas+"/runs", operatorKey, `{"query":"hello"}`), "id")
	require.Eventually(t, func() bool {
		return strings.Contains(o.good("traces", "list"), "succeeded")
	}, time.Minute, 10*time.Millisecond)
	require.Regexp(t, `(?m)^`+run+` +`+canvas+` +succeeded +0 +\d{4}-`, o.good("traces", "list"))
	file := filepath.Join(t.TempDir(), "hello.json")
	require.Regexp(t, `hello.json: recorded, events: \d+\n$`, o.good("traces", "case", run, "-o", file))
	require.Contains(t, o.good("test", file), "1 passed, 0 failed")
	require.Regexp(t, "^DAY +CANVAS +BLOCKS +BYTES\n", o.good("traces", "usage"))
	o.bad(ExitFailed, "run not found", "traces", "case", "none", "-o", file)
	o.bad(ExitUsage, "-o FILE is required", "traces", "case", run)
}
