package api

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
)

// call is one request while it is answered. It belongs to one goroutine.
type call struct {
	a      *API
	w      http.ResponseWriter
	r      *http.Request
	route  *route
	params map[string]string
	query  url.Values
	body   engine.Value // the JSON object or form; an empty object when there is none
	length int          // bytes of its text
	memory reserved
	// webhookMost is how many bytes the canvas of a webhook lets its body have.
	webhookMost int64
	webhookText *string // the body of a webhook, once it is read whole
	who         caller
	wrong       *failure // the first body member of a wrong type
	left        bool     // the client is gone
	begun       bool     // a stream has begun
	asOpenAI    bool     // errors have OpenAI's form beside the dialect's
}

// newer says that the request speaks the 0.27 dialect.
func (c *call) newer() bool { return c.route.newer }

func (c *call) ctx() context.Context { return c.r.Context() }

// serve answers one request.
func (a *API) serve(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	a.cors.set(w, r)
	c := &call{a: a, w: w, r: r, body: emptyBody}
	var allow []string
	c.route, c.params, allow = a.routes.find(r)
	if len(allow) > 0 {
		w.Header().Set("Allow", strings.Join(allow, ", "))
	}
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if c.route == nil {
		c.route = &route{}
		c.unrouted(len(allow) > 0)
		a.metrics.count("none", began)
		return
	}
	c.asOpenAI = c.route.openAI
	r.Pattern = c.route.path // for the handler around this one
	defer c.free()
	defer a.metrics.count(c.route.path, began)
	defer func() {
		if p := recover(); p != nil {
			a.cfg.Logger.Error("request panicked", "route", c.route.path, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			if !c.begun {
				c.fail(failed(codeException, "the request broke; the host's log says why"))
			}
		}
	}()
	if err := c.answer(); err != nil {
		c.refuse(err)
	}
}

// answer identifies the caller, then reads the body, and calls the handler.
func (c *call) answer() error {
	if err := c.checkURL(); err != nil {
		return err
	}
	c.query = c.r.URL.Query()
	if err := c.identify(); err != nil {
		return err
	}
	if d := c.route.doc; d != nil {
		if err := checkQuery(d, c.query); err != nil {
			return err
		}
	}
	if !c.route.body.streamed() {
		if err := c.readBody(); err != nil {
			return err
		}
	}
	return c.route.answer(c.a, c)
}

// refuse answers an error, unless a stream has begun.
func (c *call) refuse(err error) {
	f, internal := asFailure(err)
	f = f.plain()
	if internal && !errors.Is(err, context.Canceled) {
		id := rand.Text()
		c.a.cfg.Logger.Error("request failed", "route", c.route.path, "request", id, "err", err)
		f = f.inLog(id)
	}
	if c.begun || c.left {
		return
	}
	if c.who.embeds {
		bareFailure(f, err)
	}
	switch {
	case c.route.llm:
		c.failOpenAI(f, err)
	case c.route.doc != nil:
		c.failV2(f, err)
	case c.asOpenAI:
		c.failAgent(f, err)
	default:
		c.fail(f)
	}
}

// unrouted answers an unknown path, and a known one with another method.
func (c *call) unrouted(known bool) {
	switch path := c.r.URL.Path; {
	case strings.HasPrefix(path, "/api/v2/"):
		s := &status{http.StatusNotFound, "no_route", "there is nothing at " + path}
		if known {
			s = &status{http.StatusMethodNotAllowed, "bad_method", path + " does not take " + c.r.Method}
		}
		c.json(s.http, v2Error{v2Problem{s.code, s.message}})
		return
	case known:
		c.fail(&failure{code: codeException, message: "<MethodNotAllowed '405: Method Not Allowed'>", hasData: true})
		return
	}
	path := c.r.URL.Path
	if rest, ok := strings.CutPrefix(path, newerPrefix+"/"); ok {
		path = "/" + rest // the dialect's prefix is ours
	}
	v := engine.Object("code", codeNotFound, "message", "Not Found: "+path, "data", engine.Null, "error", "Not Found")
	_ = c.send(http.StatusNotFound, v) // never an error
}

// text is a body member that must be text when it is there; a number counts as
// one, null as absent.
func (c *call) text(name string) string {
	switch v := c.body.Get(name); v.Kind() {
	case engine.KindNull:
		return ""
	case engine.KindString, engine.KindNumber:
		return v.Text()
	default:
		c.mismatch(name, "text", v)
		return ""
	}
}

// flag is a body member that must be true or false; texts and numbers are
// read as Python does.
func (c *call) flag(name string, absent bool) bool {
	switch v := c.body.Get(name); v.Kind() {
	case engine.KindNull:
		return absent
	case engine.KindBool:
		return v.True()
	case engine.KindString:
		return !strings.EqualFold(v.Str(), "false") && v.Str() != ""
	case engine.KindNumber:
		return v.Truthy()
	default:
		c.mismatch(name, "true or false", v)
		return absent
	}
}

// object is a body member that must be an object.
func (c *call) object(name string) engine.Value {
	return c.kind(name, engine.KindObject)
}

// list is a body member that must be a list.
func (c *call) list(name string) engine.Value {
	return c.kind(name, engine.KindList)
}

func (c *call) kind(name string, kind engine.Kind) engine.Value {
	v := c.body.Get(name)
	if v.Kind() != kind && !v.IsNull() {
		c.mismatch(name, aKind(kind), v)
		return engine.Null
	}
	return v
}

// texts is a body member that must be a list of texts.
func (c *call) texts(name string) []string {
	var out []string
	for _, v := range c.list(name).Elements() {
		if v.Kind() != engine.KindString {
			c.mismatch(name, "a list of texts", v)
			return nil
		}
		out = append(out, v.Str())
	}
	return out
}

func (c *call) mismatch(name, want string, got engine.Value) {
	if c.wrong == nil {
		c.wrong = refused(codeArgument, "argument %s must be %s, not %s", name, want, aKind(got.Kind()))
		c.wrong.param = name
	}
}

// aKind is a kind with its article.
func aKind(k engine.Kind) string {
	switch k {
	case engine.KindObject:
		return "an object"
	case engine.KindNull:
		return "null"
	}
	return "a " + k.String()
}

// valid says that all members read so far had the right types.
func (c *call) valid() error {
	if c.wrong != nil {
		return c.wrong
	}
	return nil
}

// require refuses a body without the named members.
func (c *call) require(names ...string) error {
	var missing []string
	for _, n := range names {
		if c.body.Get(n).IsNull() {
			missing = append(missing, n)
		}
	}
	return lacking(missing)
}

// given gives members of the query or the body by name, and refuses the
// request when one of them is missing or empty.
func (c *call) given(names ...string) ([]string, error) {
	values, missing := make([]string, len(names)), []string(nil)
	for i, n := range names {
		if values[i] = c.query.Get(n); values[i] == "" {
			values[i] = c.text(n)
		}
		if values[i] == "" {
			missing = append(missing, n)
		}
	}
	if err := c.valid(); err != nil {
		return nil, err
	}
	return values, lacking(missing)
}

// number is a query parameter that must be a number of at least 0.
func (c *call) number(name string, absent int) (int, error) {
	text := c.query.Get(name)
	if text == "" {
		return absent, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 1<<30 {
		return 0, refused(codeArgument, "argument %s must be a number, not %.40q", name, text)
	}
	return n, nil
}

// names are the parts of a query parameter between commas, without empty ones.
func (c *call) names(name string) []string {
	return slices.DeleteFunc(strings.Split(c.query.Get(name), ","), func(n string) bool { return n == "" })
}

// asked is a query parameter that is true or false, as Python writes it.
func (c *call) asked(name string, absent bool) bool {
	text := c.query.Get(name)
	if text == "" {
		return absent
	}
	return !strings.EqualFold(text, "false")
}
