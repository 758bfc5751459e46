package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/memlimit"
	"github.com/easel-canvas/easel/host/internal/runs"
)

// bodyClass bounds the body of a route. Every route declares one; TestRoutesDeclareBodies checks
// that.
type bodyClass uint8

const (
	bodyUndeclared bodyClass = iota // reads nothing, as bodyNone does
	bodyNone                        // is not read
	bodyTiny                        // names, passwords and limits; all that callers without a key may send
	bodySmall                       // settings and lists of ids
	bodyCanvas                      // documents of canvases, inputs of runs, messages to models
	bodyUpload                      // files, which are stored as they arrive
	bodyWebhook                     // as the canvas of the webhook allows
)

// Bounds of requests, in bytes where nothing else is said.
const (
	tinyBody     = 16 << 10
	tinyDecoded  = 64 << 10 // a tiny body after it is parsed
	smallBody    = 1 << 20
	smallDecoded = 16 << 20
	formBody     = 1 << 20 // a form where JSON is expected

	longestURL     = 16 << 10
	mostParameters = 1000 // of a query
	mostFields     = 1000 // of a form
)

// budgetWait is how long a request waits for memory that other requests hold, and when it may try
// again after that.
const budgetWait = 2 * time.Second

// limits are the bytes that a body may have, and take after it is parsed; 0 means the budget.
func (b bodyClass) limits(cfg *Config) (body, decoded int64) {
	switch b {
	case bodyTiny:
		return min(tinyBody, cfg.MaxBody), tinyDecoded
	case bodySmall:
		return min(smallBody, cfg.MaxBody), smallDecoded
	case bodyCanvas:
		return cfg.MaxBody, 0
	case bodyUpload:
		return cfg.MaxUpload + 1<<20, 0
	case bodyWebhook:
		return mostWebhookBody, 0
	}
	return 0, 0
}

// streamed reports whether the handler reads the body itself.
func (b bodyClass) streamed() bool { return b == bodyUpload || b == bodyWebhook }

// reserved is what one request holds of the budgets of requests.
type reserved struct {
	large, small *memlimit.Account
	decoded      int64 // of JSON that was parsed
}

// reserve takes n bytes of the budget of requests, or waits a moment for others to release them.
func (c *call) reserve(n int64) error { return c.reserveOf(&c.memory.large, c.a.cfg.Memory, n) }

// reserveBody is reserve for what a body becomes. Tiny bodies have a budget of their own, so that
// logins are answered while large requests fill the other one.
func (c *call) reserveBody(n int64) error {
	if c.route.body == bodyTiny {
		return c.reserveOf(&c.memory.small, c.a.cfg.SmallMemory, n)
	}
	return c.reserve(n)
}

func (c *call) reserveOf(account **memlimit.Account, budget *memlimit.Budget, n int64) error {
	if *account == nil {
		*account = budget.Open()
	}
	err := (*account).Grow(n)
	if errors.Is(err, memlimit.ErrFull) {
		ctx, done := context.WithTimeout(c.ctx(), budgetWait)
		defer done()
		err = (*account).Wait(ctx, n)
	}
	switch {
	case errors.Is(err, memlimit.ErrTooLarge):
		return tooLarge("the request takes more memory than this host has for requests: %s; --memory raises it", err)
	case err != nil && c.ctx().Err() == nil:
		return &failure{
			code: codeServer, message: "The host has no memory for this request now; try again.",
			status: http.StatusServiceUnavailable, after: budgetWait,
		}
	}
	return err
}

// largeStored is the size from which stored documents are counted, in bytes.
const largeStored = 64 << 10

// reserveStored reserves what it takes to read a stored document and to answer with it.
func (c *call) reserveStored(doc []byte) error {
	if len(doc) < largeStored {
		return nil
	}
	return c.reserve(engine.JSONSize(string(doc)) + 2*int64(len(doc)))
}

// free gives back what the request holds, once nothing refers to its body any more: streams last
// for minutes.
func (c *call) free() {
	c.body = emptyBody
	c.memory.large.Close()
	c.memory.small.Close()
	c.memory = reserved{}
}

// startRun starts a run, and forgets the body of the request.
func (c *call) startRun(j runs.Job) (runs.Job, error) {
	if c.length > largeStored {
		c.detach(&j)
	}
	j, err := c.a.cfg.Runs.Start(c.ctx(), j)
	if err == nil {
		c.w.Header().Set(runHeader, j.ID)
	}
	none := engine.Null
	j.Query, j.Inputs, j.Files, j.Webhook, j.Pins = none, none, none, none, none // the run has them
	c.free()
	return j, err
}

// detach copies what a run takes from a much larger body, since every string of a parsed text
// refers to all of it.
func (c *call) detach(j *runs.Job) {
	values := []*engine.Value{&j.Query, &j.Inputs, &j.Files, &j.Webhook, &j.Pins}
	all := engine.NewObject(len(values))
	for i, v := range values {
		all.Set(strconv.Itoa(i), *v)
	}
	text := all.Value().JSON()
	if len(text) > c.length/2 {
		return
	}
	if own, err := engine.ParseJSONText(text); err == nil { // what was written is JSON
		for i, v := range values {
			*v = own.At(i)
		}
	}
}

var emptyBody = engine.Object()

// tooLarge is a failure with HTTP 413.
func tooLarge(format string, args ...any) *failure {
	return &failure{code: codeBad, message: fmt.Sprintf(format, args...), status: http.StatusRequestEntityTooLarge}
}

// parse reads JSON that came with the request, within what the class of its body may take.
func (c *call) parse(text string) (engine.Value, error) {
	_, most := c.route.body.limits(&c.a.cfg)
	var refused error
	v, err := engine.ParseJSONReserving(text, func(n int64) error {
		c.memory.decoded += n
		if most > 0 && c.memory.decoded > most {
			refused = tooLarge("the request takes more than %d bytes of memory when it is parsed", most)
		} else {
			refused = c.reserveBody(n)
		}
		return refused
	})
	if refused != nil {
		return engine.Null, refused
	}
	return v, err
}

// checkBody refuses a body that cannot be read, before any of it is.
func (c *call) checkBody(most int64) error {
	if n := contentLength(c.r); n > most {
		c.w.Header().Set("Connection", "close")
		return &http.MaxBytesError{Limit: most}
	}
	switch encoding := c.r.Header.Get("Content-Encoding"); {
	case encoding == "", strings.EqualFold(encoding, "identity"):
		return nil
	default:
		c.w.Header().Set("Connection", "close")
		return &failure{
			code: codeBad, message: fmt.Sprintf("Content-Encoding %.40q: bodies are read without compression only", encoding),
			status: http.StatusUnsupportedMediaType,
		}
	}
}

// checkURL refuses queries that only an attack has.
func (c *call) checkURL() error {
	if len(c.r.RequestURI) > longestURL {
		return &failure{code: codeBad, message: fmt.Sprintf("the URL is longer than %d bytes", longestURL), status: http.StatusRequestURITooLong}
	}
	if strings.Count(c.r.URL.RawQuery, "&") >= mostParameters {
		return &failure{code: codeBad, message: fmt.Sprintf("the query has more than %d parameters", mostParameters), status: http.StatusBadRequest}
	}
	return nil
}

// readBody reads JSON, or a form. An empty body is an empty object, whatever
// its Content-Type says.
func (c *call) readBody() error {
	most, _ := c.route.body.limits(&c.a.cfg)
	if most == 0 || c.r.Body == nil || c.r.Method == http.MethodGet || c.r.Method == http.MethodHead {
		return nil
	}
	if err := c.checkBody(most); err != nil {
		return err
	}
	kind, params, _ := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if kind == "multipart/form-data" {
		return c.readForm(params["boundary"], most)
	}
	text, err := c.readText(most)
	if err != nil || strings.TrimSpace(text) == "" {
		return err
	}
	if kind == "application/x-www-form-urlencoded" && text[0] != '{' {
		values, err := c.parseForm(text)
		if err != nil {
			return err
		}
		c.body = firstValues(values)
		return nil
	}
	v, err := c.parse(text)
	var f *failure
	if errors.As(err, &f) {
		return err
	}
	if err != nil {
		return failed(codeException, "<BadRequest '400: Bad Request'> the body is not JSON: %s", err)
	}
	if v.Kind() != engine.KindObject {
		return failed(codeException, "<BadRequest '400: Bad Request'> the body is %s; an object is needed", aKind(v.Kind()))
	}
	c.body, c.length = v, len(text)
	return nil
}

// parseForm reads an urlencoded form.
func (c *call) parseForm(text string) (url.Values, error) {
	switch {
	case len(text) > formBody:
		return nil, &http.MaxBytesError{Limit: formBody}
	case strings.Count(text, "&") >= mostFields:
		return nil, tooLarge("the form has more than %d fields", mostFields)
	}
	if err := c.reserveBody(int64(len(text))); err != nil {
		return nil, err
	}
	values, err := url.ParseQuery(text)
	if err != nil {
		return nil, failed(codeException, "the form cannot be read: %s", err)
	}
	return values, nil
}

// firstValues is a form as an object of its fields' first values.
func firstValues(values url.Values) engine.Value {
	b := engine.NewObject(len(values))
	for k, v := range values {
		b.Set(k, engine.String(v[0]))
	}
	return b.Value()
}

// readForm reads the fields of a multipart form; files among them are passed over.
func (c *call) readForm(boundary string, most int64) error {
	c.bodyDeadline(c.a.cfg.BodyTime)
	form := c.multipart(boundary, min(most, formBody))
	b := engine.NewObject(8)
	for {
		part, err := form.next()
		if err == io.EOF {
			break
		}
		if err == nil && part.FileName() != "" {
			continue
		}
		text := ""
		if err == nil {
			text, err = form.text(part)
		}
		if err != nil {
			return c.formFailure(form, err)
		}
		if name := part.FormName(); !b.Has(name) {
			b.Set(name, engine.String(text))
		}
	}
	c.bodyDeadline(0)
	c.body = b.Value()
	return nil
}

// formFailure is what is wrong with a form: how it arrives, or itself.
func (c *call) formFailure(form *formReader, err error) error {
	if form.broken != nil {
		return c.bodyFailure(form.broken)
	}
	var f *failure
	if errors.As(err, &f) {
		return err
	}
	return failed(codeException, "the form cannot be read: %s", err)
}

// buffers are what bodies are read with.
var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// readText reads the body within a size and a time. Memory is reserved as it arrives, not as it is
// declared, so that a client cannot hold with a header what it does not send.
func (c *call) readText(most int64) (string, error) {
	c.bodyDeadline(c.a.cfg.BodyTime)
	in := http.MaxBytesReader(c.w, c.r.Body, most)
	buffer, _ := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buffer)
	text, room := new(strings.Builder), 0
	for {
		n, err := in.Read(buffer[:])
		if need := text.Len() + n; need > room {
			before := room
			room = c.room(room, need, most)
			if err := c.reserveText(int64(room)); err != nil {
				c.w.Header().Set("Connection", "close")
				return "", err
			}
			larger := new(strings.Builder)
			larger.Grow(room)
			larger.WriteString(text.String())
			text = larger
			c.releaseText(int64(before))
		}
		text.Write(buffer[:n])
		if err == io.EOF {
			c.bodyDeadline(0)
			return text.String(), nil
		}
		if err != nil {
			return "", c.bodyFailure(err)
		}
	}
}

// room is the next size of the buffer of a body: the declared one once a good part of it has
// arrived.
func (c *call) room(now, need int, most int64) int {
	next := max(need, 2*now)
	if n := contentLength(c.r); n >= int64(need) && n < int64(next) {
		return int(n)
	}
	return int(min(int64(next), most))
}

// reserveText is reserve for the text of a body. That of a tiny one is not counted: a client that
// sends it slowly would otherwise hold the memory of others' logins.
func (c *call) reserveText(n int64) error {
	if c.route.body == bodyTiny {
		return nil
	}
	return c.reserve(n)
}

func (c *call) releaseText(n int64) {
	if c.route.body != bodyTiny {
		c.memory.large.Shrink(n)
	}
}

// bodyFailure is why a body did not arrive. What is left of it is not waited for.
func (c *call) bodyFailure(err error) error {
	c.w.Header().Set("Connection", "close")
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return err
	}
	return &failure{code: codeBad, message: "the body did not arrive in time or broke off", status: http.StatusRequestTimeout}
}

// bodyDeadline bounds reading; 0 takes the bound away. Connections without
// deadlines (tests) are left alone.
func (c *call) bodyDeadline(d time.Duration) {
	var at time.Time
	if d > 0 {
		at = time.Now().Add(d)
	}
	_ = http.NewResponseController(c.w).SetReadDeadline(at) // a connection without deadlines stays as it is
}
