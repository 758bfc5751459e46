package failure_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/host/internal/api"
)

// oddRequests generates invalid requests to all routes, the same ones for the same seed.
type oddRequests struct {
	*rand.Rand
	base   string
	key    string
	routes []api.Route
	ids    map[string][]string // by parameter: ids that exist
}

// oddRequest is a request as a test reports it.
type oddRequest struct {
	method, url string
	header      http.Header
	body        []byte
}

func (r *oddRequest) String() string {
	return fmt.Sprintf("%s %.300s %.400s %.600q", r.method, r.url, fmt.Sprint(r.header), r.body)
}

func one[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// chance returns true in n of 100 cases.
func (o *oddRequests) chance(n int) bool { return o.IntN(100) < n }

// next makes a request: mostly of the expected shape with some invalid parts, so that it passes the
// first check.
func (o *oddRequests) next() *oddRequest {
	route := one(o.Rand, o.routes...)
	r := &oddRequest{method: route.Method, header: http.Header{}}
	if o.chance(10) {
		r.method = one(o.Rand, "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "X")
	}
	r.url = o.base + parameter.ReplaceAllStringFunc(route.Path, o.id) + o.query()
	o.credentials(r.header)
	for o.chance(35) {
		r.header.Set(one(o.Rand, oddHeaders...), o.headerValue())
	}
	if r.method != "GET" && r.method != "HEAD" || o.chance(5) {
		r.body = o.body()
		r.header.Set("Content-Type", "application/json")
		if o.chance(15) {
			r.header.Set("Content-Type", one(o.Rand, oddTypes...))
		}
	}
	return r
}

var parameter = regexp.MustCompile(`\{[a-z]+\}`)

// id fills a parameter of a path.
func (o *oddRequests) id(parameter string) string {
	if known := o.ids[strings.Trim(parameter, "{}")]; len(known) > 0 && o.chance(75) {
		return one(o.Rand, known...)
	}
	if all := o.ids["any"]; o.chance(30) {
		return one(o.Rand, all...)
	}
	return one(o.Rand, "%00", "..", "%2e%2e", "%2F", "a%2Fb", "0", "-1", "null", "%20", "'%20OR%201=1--",
		"%E6%96%87%E4%BB%B6", "%FF%FE", "*", "{id}",
		"%F0%9F%98%80", strings.Repeat("a", 3000), "00000000000000000000000000000000", "a:b@c", "?", "#", "%0a%0d")
}

var oddHeaders = []string{
	"Accept", "Accept-Language", "Last-Event-ID", "Idempotency-Key", "If-Match", "If-None-Match", "Range", "Origin",
	"Cookie", "X-Forwarded-For",
	"Forwarded", "X-Real-Ip", "X-Easel-Page", "X-Hub-Signature-256", "Content-Encoding", "Traceparent",
	"X-Http-Method-Override", "Referer",
}

func (o *oddRequests) headerValue() string {
	return one(
		o.Rand,
		"",
		"1",
		"-1",
		"*",
		"text/event-stream",
		"application/json",
		"null",
		"9~9",
		"1-2",
		"99999999999999999999",
		"bytes=0-",
		"bytes=9-1,2-",
		"https://evil.example",
		"\xff\xfe",
		"\u6587",
		strings.Repeat("x,", 2000),
		"for=_x;proto=;;",
		"00-0-0-0",
		"gzip",
		"sha256=zz",
		"easel_login=x; =; a",
	)
}

var oddTypes = []string{
	"", "text/plain", "application/json; charset=utf-16", "multipart/form-data", "multipart/form-data; boundary=x",
	"application/x-www-form-urlencoded", "a/b/c",
	"application/octet-stream", "application/json;;", strings.Repeat("x", 500),
}

func (o *oddRequests) credentials(h http.Header) {
	switch {
	case o.chance(85):
		h.Set("Authorization", "Bearer "+o.key)
	case o.chance(70):
		h.Set("Authorization", one(o.Rand, "", "Bearer", "Bearer ", "Bearer wrong", "bearer\t"+o.key, "Basic eDp5",
			"Basic !", o.key, "Bearer "+o.key+" x",
			"Bearer "+strings.Repeat("k", 5000), "Bearer \xff"))
	}
}

func (o *oddRequests) query() string {
	q := url.Values{}
	for o.chance(40) {
		q.Add(one(o.Rand, oddNames...), one(o.Rand, "", "0", "-1", "1", "true", "x", "\x00", "99999999999999999999",
			"1e3", "a,b", "'", "%", "\u6587",
			one(o.Rand, o.ids["any"]...), "desc", "create_time", "2026-01-01", "1 2", "[]", "{}"))
	}
	text := q.Encode()
	if o.chance(5) {
		text += one(o.Rand, "&", "=", ";a=b", "&%zz", "&a=%", "?", "&&&=", strings.Repeat("&a", 500))
	}
	if text == "" {
		return ""
	}
	return "?" + text
}

// oddNames are members of bodies and queries, which several routes share.
var oddNames = []string{
	"id", "ids", "title", "name", "dsl", "query", "question", "session", "session_id", "stream", "inputs", "files",
	"messages", "model", "release", "published",
	"scopes", "rate", "expires", "email", "password", "nickname", "canvas", "canvas_id", "canvas_type",
	"canvas_category", "description", "permission", "avatar",
	"component_id", "params", "page", "page_size", "orderby", "desc", "keywords", "user_id", "tenant_id", "from_date",
	"to_date", "url", "base_url", "key", "models",
	"server_type", "variables", "headers", "mcp_ids", "mcpServers", "every", "at", "cron", "zone", "enabled", "value",
	"hosts", "metadata", "tools", "max_tokens",
	"temperature", "input", "return_trace", "message_id", "task_id", "agent_id", "form", "state", "event", "body",
	"tags", "text", "lang", "role", "content", "limit",
	"timeout", "dialect", "version", "plugin", "method", "answers", "node", "events", "running_hint_text",
	"custom_header", "beta", "sid",
}

// body makes a body: a JSON object of known members, or something else.
func (o *oddRequests) body() []byte {
	object := o.object(3)
	switch o.IntN(20) {
	case 0:
		return object[:o.IntN(len(object)+1)]
	case 1:
		return one(o.Rand, nil, []byte("null"), []byte("[]"), []byte(`"x"`), []byte("1"), []byte("{}{}"),
			[]byte("\xef\xbb\xbf{}"), []byte("\xff\xfe{\x00}\x00"),
			[]byte("{"), []byte(`{"a":01}`), []byte("{'a':1}"), []byte("a=1&b=2&dsl=%zz"),
			[]byte("--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nx"),
			[]byte("--x\r\n\r\n\r\n--x--"), []byte("\x1f\x8b\x08"), bytes.Repeat([]byte("["), 100_000),
			bytes.Repeat([]byte(`{"a":`), 10_000))
	case 2:
		return slices.Concat(object, object)
	case 3:
		return bytes.Replace(object, []byte("{"), []byte(`{"id":1,"id":"x","dsl":{},"dsl":[],`), 1)
	}
	return object
}

func (o *oddRequests) object(depth int) []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for i := range 1 + o.IntN(7) {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(one(o.Rand, oddNames...))
		if err != nil {
			panic(err)
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(o.value(depth))
	}
	b.WriteByte('}')
	return b.Bytes()
}

// value returns JSON of any type; half of the values are expected by some route.
func (o *oddRequests) value(depth int) []byte {
	switch o.IntN(12) {
	case 0, 1:
		if depth > 0 {
			return o.object(depth - 1)
		}
	case 2:
		if depth > 0 {
			return slices.Concat([]byte("["), o.value(depth-1), []byte(","), o.value(depth-1), []byte("]"))
		}
	case 3, 4:
		return fmt.Appendf(nil, "%q", one(o.Rand, o.ids["any"]...))
	case 5:
		return []byte(echo)
	case 6:
		return fmt.Appendf(nil, "%q", strings.Repeat("long ", 1+o.IntN(20_000)))
	}
	return []byte(one(
		o.Rand,
		"null",
		"true",
		"false",
		"0",
		"-1",
		"1",
		"1.5",
		"1e400",
		"-9223372036854775809",
		"18446744073709551616",
		`""`,
		`"x"`,
		`"\u0000"`,
		`"\ud800"`,
		`"\uffff"`,
		`"true"`,
		`"1"`,
		`"文件😀"`,
		`"../../x"`,
		`"2026-13-45T99:00:00Z"`,
		`"http://127.0.0.1:1/"`,
		`"user@example.org"`,
		"[]",
		"{}",
		"[[]]",
		"[null]",
		"[{}]",
		`{"a":{"value":1}}`,
		`[{"role":"user","content":"hi"}]`,
		`[{"role":1,"content":{}}]`,
		`["read"]`,
		`{"begin":null}`,
		`{"components":{}}`,
		`{"components":[]}`,
		`{"components":{"begin":{"obj":{"component_name":"Begin","params":[]}}}}`,
		`{"components":{"begin":{"obj":1}}}`,
		`"* * * * *"`,
		`"@every 1s"`,
		`"openai"`,
	))
}
