package api

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/app"
)

// Request is one request while it is answered. It belongs to one goroutine.
type Request struct {
	HTTP   *http.Request
	Writer http.ResponseWriter
	Route  *Route
	Params map[string]string // of the path
	Query  Query
	Body   Body
	Who    app.Principal // the zero value on routes of [NeedNone]

	// Fail answers errors of this request; nil answers them as its route does.
	Fail ErrorForm

	api    *API
	memory reserved
	left   bool // the client is gone
	begun  bool // a part of the answer has been sent
	stream bool // it has one of the event streams of its caller

	follows atomic.Pointer[func(context.Context, app.Principal) error] // see Follow
}

// Handler answers a request. What it returns is written after it.
type Handler func(ctx context.Context, r *Request) (Response, error)

// ErrorForm writes a failure in the form of a face; err is its cause.
type ErrorForm func(r *Request, f *Failure, err error)

// Logger receives what an operator should know.
func (r *Request) Logger() *slog.Logger { return r.api.cfg.Logger }

// Begin marks the answer as begun: an error after it is logged, not answered.
func (r *Request) Begin() { r.begun = true }

// Given returns members of the query or the body by name, and refuses the request when one of them
// is missing or empty.
func (r *Request) Given(names ...string) ([]string, error) {
	values, missing := make([]string, len(names)), []string(nil)
	for i, n := range names {
		if values[i] = r.Query.Get(n); values[i] == "" {
			values[i] = r.Body.Text(n)
		}
		if values[i] == "" {
			missing = append(missing, n)
		}
	}
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	return values, Lacking(missing)
}

// Body is the JSON object or form of a request; an empty object without one. Reading a member of a
// wrong type returns its zero value, and [Body.Valid] an error.
type Body struct {
	engine.Value
	Length int      // bytes of its text
	wrong  *Failure // the first member of a wrong type
}

var emptyBody = engine.Object()

// Text is a member that must be text when it is there; a number counts as one, null as absent.
func (b *Body) Text(name string) string {
	switch v := b.Get(name); v.Kind() {
	case engine.KindNull:
		return ""
	case engine.KindString, engine.KindNumber:
		return v.Text()
	default:
		b.Mismatch(name, "text", v)
		return ""
	}
}

// Flag is a member that must be true or false; texts and numbers are read as Python does.
func (b *Body) Flag(name string, absent bool) bool {
	switch v := b.Get(name); v.Kind() {
	case engine.KindNull:
		return absent
	case engine.KindBool:
		return v.True()
	case engine.KindString:
		return !strings.EqualFold(v.Str(), "false") && v.Str() != ""
	case engine.KindNumber:
		return v.Truthy()
	default:
		b.Mismatch(name, "true or false", v)
		return absent
	}
}

// Object is a member that must be an object.
func (b *Body) Object(name string) engine.Value { return b.ofKind(name, engine.KindObject) }

// List is a member that must be a list.
func (b *Body) List(name string) engine.Value { return b.ofKind(name, engine.KindList) }

func (b *Body) ofKind(name string, kind engine.Kind) engine.Value {
	v := b.Get(name)
	if v.Kind() != kind && !v.IsNull() {
		b.Mismatch(name, KindName(kind), v)
		return engine.Null
	}
	return v
}

// Texts is a member that must be a list of texts.
func (b *Body) Texts(name string) []string {
	var out []string
	for _, v := range b.List(name).Elements() {
		if v.Kind() != engine.KindString {
			b.Mismatch(name, "a list of texts", v)
			return nil
		}
		out = append(out, v.Str())
	}
	return out
}

// Mismatch notes a member of a wrong type.
func (b *Body) Mismatch(name, want string, got engine.Value) {
	if b.wrong == nil {
		b.wrong = Refused(KindBadArgument, "argument %s must be %s, not %s", name, want, KindName(got.Kind()))
		b.wrong.Param = name
	}
}

// KindName is a kind with its article.
func KindName(k engine.Kind) string {
	switch k {
	case engine.KindObject:
		return "an object"
	case engine.KindNull:
		return "null"
	}
	return "a " + k.String()
}

// Valid refuses a body of which a member read so far has a wrong type.
func (b *Body) Valid() error {
	if b.wrong != nil {
		return b.wrong
	}
	return nil
}

// Require refuses a body without the named members.
func (b *Body) Require(names ...string) error {
	var missing []string
	for _, n := range names {
		if b.Get(n).IsNull() {
			missing = append(missing, n)
		}
	}
	return Lacking(missing)
}

// Turn reads the members that the questions of all completions have in common.
func (b *Body) Turn() app.NewTurn {
	return app.NewTurn{
		Inputs: b.Object("inputs"), Files: b.List("files"), User: b.Text("user_id"), Session: b.Text("session_id"),
		Name: b.Text("name"),
	}
}

// Query is the query of a URL.
type Query struct{ url.Values }

// Number is a parameter that must be a number of at least 0.
func (q Query) Number(name string, absent int) (int, error) {
	text := q.Get(name)
	if text == "" {
		return absent, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 1<<30 {
		return 0, Refused(KindBadArgument, "argument %s must be a number, not %.40q", name, text)
	}
	return n, nil
}

// Names are the parts of a parameter between commas, without empty ones.
func (q Query) Names(name string) []string {
	return slices.DeleteFunc(strings.Split(q.Get(name), ","), func(n string) bool { return n == "" })
}

// Asked is a parameter that is true or false, as Python writes it.
func (q Query) Asked(name string, absent bool) bool {
	text := q.Get(name)
	if text == "" {
		return absent
	}
	return !strings.EqualFold(text, "false")
}

// Page reads paging; a size of 0 is everything.
func (q Query) Page(size int, order string, desc bool) (app.Page, error) {
	n, err := q.Number("page", 1)
	if err != nil {
		return app.Page{}, err
	}
	if size, err = q.Number("page_size", size); err != nil {
		return app.Page{}, err
	}
	p := app.Page{Limit: size, Offset: max(n-1, 0) * size, Order: order, Asc: !q.Asked("desc", desc)}
	if by := q.Get("orderby"); by != "" {
		p.Order = by
	}
	return p, nil
}
