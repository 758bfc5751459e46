package api

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/limit/memlimit"
)

// BodyClass bounds the body of a route. Every route declares one; TestRoutesDeclareBodies checks
// that.
type BodyClass uint8

// Classes of bodies.
const (
	BodyUndeclared BodyClass = iota // reads nothing, as BodyNone does
	BodyNone                        // is not read
	BodyTiny                        // names, passwords and limits; all that callers without a key may send
	BodySmall                       // settings and lists of ids
	BodyCanvas                      // documents of canvases, inputs of runs, messages to models
	BodyUpload                      // files, which are stored as they arrive
	BodyWebhook                     // as the canvas of the webhook allows
)

// MaxWebhookBody is the largest body that the canvas of a webhook may allow, in bytes.
const MaxWebhookBody = 10 << 20

// Bounds of requests, in bytes where nothing else is said.
const (
	tinyBody     = 16 << 10
	tinyDecoded  = 64 << 10 // a tiny body after it is parsed
	smallBody    = 1 << 20
	smallDecoded = 16 << 20
	formBody     = 1 << 20 // a form where JSON is expected

	maxURL        = 16 << 10
	maxParameters = 1000 // of a query
	maxFields     = 1000 // of a form
)

// budgetWait bounds the wait for memory that other requests hold; it is also the Retry-After of a
// request that got none.
const budgetWait = 2 * time.Second

// limits are the bytes that a body may have, and take after it is parsed; 0 means the budget.
func (b BodyClass) limits(cfg *Config) (body, decoded int64) {
	switch b {
	case BodyTiny:
		return min(tinyBody, cfg.MaxBody), tinyDecoded
	case BodySmall:
		return min(smallBody, cfg.MaxBody), smallDecoded
	case BodyCanvas:
		return cfg.MaxBody, 0
	case BodyUpload:
		return cfg.Services.Files.MaxSize() + 1<<20, 0
	case BodyWebhook:
		return MaxWebhookBody, 0
	}
	return 0, 0
}

// streamed reports whether the handler reads the body itself.
func (b BodyClass) streamed() bool { return b == BodyUpload || b == BodyWebhook }

// reserved is the memory that one request holds.
type reserved struct {
	large, small *memlimit.Account
	decoded      int64 // of JSON that was parsed
}

// Reserve takes n bytes of the budget of requests, or waits a moment for others to release them.
func (r *Request) Reserve(n int64) error { return r.reserveOf(&r.memory.large, r.api.cfg.Memory, n) }

// ReserveBody reserves n bytes for a decoded body. Tiny bodies use a separate budget, so that
// logins are answered while large requests fill the other one.
func (r *Request) ReserveBody(n int64) error {
	if r.Route.Body == BodyTiny {
		return r.reserveOf(&r.memory.small, r.api.cfg.SmallMemory, n)
	}
	return r.Reserve(n)
}

func (r *Request) reserveOf(account **memlimit.Account, budget *memlimit.Budget, n int64) error {
	if *account == nil {
		*account = budget.Open()
	}
	err := (*account).Grow(n)
	if errors.Is(err, memlimit.ErrFull) {
		ctx, done := context.WithTimeout(r.HTTP.Context(), budgetWait)
		defer done()
		err = (*account).Wait(ctx, n)
	}
	switch {
	case errors.Is(err, memlimit.ErrTooLarge):
		return TooLarge("the request takes more memory than this host has for requests: %s; --memory raises it", err)
	case err != nil && r.HTTP.Context().Err() == nil:
		f := stopped(KindUnavailable, "The host has no memory for this request now; try again.")
		f.After = budgetWait
		return f
	}
	return err
}

// Free releases the request's body and its memory, once nothing refers to the body any more:
// streams last for minutes.
func (r *Request) Free() {
	r.Body.Value = emptyBody
	r.memory.large.Close()
	r.memory.small.Close()
	r.memory = reserved{}
}

// Start starts a run, and forgets the body of the request.
func (r *Request) Start(ctx context.Context, j app.Job) (app.Job, error) {
	if r.Body.Length > app.LargeDocument {
		r.detach(&j)
	}
	if j.Principal.Kind == "" {
		j.Principal, j.Reader = r.Who.Started(), r.Who.Reader()
	}
	j, err := r.Runs().Start(ctx, j)
	if err == nil {
		r.Writer.Header().Set(RunHeader, j.ID)
	}
	none := engine.Null
	j.Query, j.Inputs, j.Files, j.Webhook, j.Pins = none, none, none, none, none // the run has them
	r.Free()
	return j, err
}

// detach copies what a run takes from a much larger body, since every string of a parsed text
// refers to all of it.
func (r *Request) detach(j *app.Job) {
	values := []*engine.Value{&j.Query, &j.Inputs, &j.Files, &j.Webhook, &j.Pins}
	all := engine.NewObject(len(values))
	for i, v := range values {
		all.Set(strconv.Itoa(i), *v)
	}
	text := all.Value().JSON()
	if len(text) > r.Body.Length/2 {
		return
	}
	if own, err := engine.ParseJSONText(text); err == nil { // what was written is JSON
		for i, v := range values {
			*v = own.At(i)
		}
	}
}

// TooLarge is a failure with HTTP 413.
func TooLarge(format string, args ...any) *Failure {
	return stopped(KindTooLarge, format, args...)
}

// Parse reads JSON that came with the request, within what the class of its body may take.
func (r *Request) Parse(text string) (engine.Value, error) {
	_, most := r.Route.Body.limits(&r.api.cfg)
	var refused error
	v, err := engine.ParseJSONReserving(text, func(n int64) error {
		r.memory.decoded += n
		if most > 0 && r.memory.decoded > most {
			refused = TooLarge("the request takes more than %d bytes of memory when it is parsed", most)
		} else {
			refused = r.ReserveBody(n)
		}
		return refused
	})
	if refused != nil {
		return engine.Null, refused
	}
	return v, err
}

// CheckBody refuses a body that cannot be read, before any of it is.
func (r *Request) CheckBody(most int64) error {
	if n := r.HTTP.ContentLength; n > most {
		r.Writer.Header().Set("Connection", "close")
		return &http.MaxBytesError{Limit: most}
	}
	switch encoding := r.HTTP.Header.Get("Content-Encoding"); {
	case encoding == "", strings.EqualFold(encoding, "identity"):
		return nil
	default:
		r.Writer.Header().Set("Connection", "close")
		return stopped(KindEncoding, "Content-Encoding %.40q: bodies are read without compression only", encoding)
	}
}

// checkURL refuses queries that only an attack has.
func checkURL(r *http.Request) error {
	if len(r.RequestURI) > maxURL {
		return stopped(KindLongURL, "the URL is longer than %d bytes", maxURL)
	}
	if strings.Count(r.URL.RawQuery, "&") >= maxParameters {
		return stopped(KindRefused, "the query has more than %d parameters", maxParameters)
	}
	return nil
}

// MaxBody returns the size limit of the body, in bytes.
func (r *Request) MaxBody() int64 {
	most, _ := r.Route.Body.limits(&r.api.cfg)
	return most
}

// readBody reads JSON or a form. An empty body is an empty object, regardless of its Content-Type.
func (r *Request) readBody() error {
	most := r.MaxBody()
	if most == 0 || r.HTTP.Body == nil || r.HTTP.Method == http.MethodGet || r.HTTP.Method == http.MethodHead {
		return nil
	}
	if err := r.CheckBody(most); err != nil {
		return err
	}
	kind, params, _ := mime.ParseMediaType(r.HTTP.Header.Get("Content-Type"))
	if kind == "multipart/form-data" {
		return r.readForm(params["boundary"], most)
	}
	text, err := r.ReadText(most)
	if err != nil || strings.TrimSpace(text) == "" {
		return err
	}
	if kind == "application/x-www-form-urlencoded" && text[0] != '{' {
		values, err := r.ParseForm(text)
		if err != nil {
			return err
		}
		r.Body.Value = FirstValues(values)
		return nil
	}
	v, err := r.Parse(text)
	var f *Failure
	if errors.As(err, &f) {
		return err
	}
	if err != nil {
		return Failed(KindBadRequest, "<BadRequest '400: Bad Request'> the body is not JSON: %s", err)
	}
	if v.Kind() != engine.KindObject {
		return Failed(
			KindBadRequest, "<BadRequest '400: Bad Request'> the body is %s; expected an object", KindName(v.Kind()),
		)
	}
	r.Body.Value, r.Body.Length = v, len(text)
	return nil
}

// buffers are the read buffers of bodies.
var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// ReadText reads the body within a size and a time. Memory is reserved as it arrives, not as it is
// declared, so that a client cannot hold with a header what it does not send.
func (r *Request) ReadText(most int64) (string, error) {
	r.LimitBodyTime()
	in := http.MaxBytesReader(r.Writer, r.HTTP.Body, most)
	buffer, _ := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buffer)
	text, room := new(strings.Builder), 0
	for {
		n, err := in.Read(buffer[:])
		if need := text.Len() + n; need > room {
			before := room
			room = r.room(room, need, most)
			if err := r.ReserveText(int64(room)); err != nil {
				r.Writer.Header().Set("Connection", "close")
				return "", err
			}
			larger := new(strings.Builder)
			larger.Grow(room)
			larger.WriteString(text.String())
			text = larger
			r.releaseText(int64(before))
		}
		text.Write(buffer[:n])
		if err == io.EOF {
			r.EndBodyTime()
			return text.String(), nil
		}
		if err != nil {
			return "", r.BodyFailure(err)
		}
	}
}

// room is the next size of the buffer of a body: the declared one once a good part of it has
// arrived.
func (r *Request) room(now, need int, most int64) int {
	next := max(need, 2*now)
	if n := r.HTTP.ContentLength; n >= int64(need) && n < int64(next) {
		return int(n)
	}
	return int(min(int64(next), most))
}

// ReserveText is reserve for the text of a body. That of a tiny one is not counted: a client that
// sends it slowly would otherwise hold the memory of others' logins.
func (r *Request) ReserveText(n int64) error {
	if r.Route.Body == BodyTiny {
		return nil
	}
	return r.Reserve(n)
}

func (r *Request) releaseText(n int64) {
	if r.Route.Body != BodyTiny {
		r.memory.large.Shrink(n)
	}
}

// BodyFailure is why a body did not arrive. What is left of it is not waited for.
func (r *Request) BodyFailure(err error) error {
	r.Writer.Header().Set("Connection", "close")
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return err
	}
	return stopped(KindTimeout, "the body did not arrive in time or broke off")
}

// LimitBodyTime bounds how long the body may take to arrive, until [Request.EndBodyTime].
func (r *Request) LimitBodyTime() {
	d := r.api.cfg.BodyTime
	if r.Route.Body == BodyUpload {
		d *= 10
	}
	r.setReadDeadline(time.Now().Add(d))
}

// EndBodyTime removes the bound of [Request.LimitBodyTime].
func (r *Request) EndBodyTime() { r.setReadDeadline(time.Time{}) }

// setReadDeadline leaves connections without deadlines (tests) as they are.
func (r *Request) setReadDeadline(at time.Time) {
	_ = http.NewResponseController(r.Writer).SetReadDeadline(at)
}
