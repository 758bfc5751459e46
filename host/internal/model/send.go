package model

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
)

// chatPath is the path of chat completions below the base URL.
const chatPath = "/chat/completions"

// maxNegotiations bounds how often a request is changed and sent again.
const maxNegotiations = 6

// send sends a chat request until the server accepts its parameters. A response with a success
// status is returned unread.
func (p *provider) send(ctx context.Context, a *response) (*http.Response, error) {
	w := p.config.dialect()
	var left []string
	build := func(l *Lesson) (body, params engine.Value) {
		c := &call{provider: p, model: a.model, request: a.request, learned: l, more: a.more}
		body = w.request(c)
		if params = body; len(c.sent) > 0 {
			params = c.params()
		}
		left = c.unsent(params)
		return body, params
	}
	to := target{model: a.model, path: chatPath, stream: a.request.Stream}
	res, err := p.negotiated(ctx, a.exchange, to, build, a.request.Warned)
	if err == nil {
		p.warnUnsent(a.model, left, a.request.Warned)
	}
	return res, err
}

// lengthLimits are the names of the limit of an answer in requests and in lessons.
var lengthLimits = []string{"max_tokens", "max_completion_tokens", "max_output_tokens", requiredLimit}

// unsent returns the settings of a call that its request has no place for, by the API or by the
// name of the model. It leaves out those that the server refused, which were reported then.
func (c *call) unsent(params engine.Value) (names []string) {
	for name := range c.request.Config.Value().Fields() {
		others := []string{name}
		switch name {
		case "max_tokens":
			others = lengthLimits
		case "stop":
			if len(c.ends()) == 0 {
				continue
			}
		}
		sent := func(name string) bool {
			_, ok := params.Lookup(name)
			return ok || c.learned.drops(name)
		}
		if !slices.ContainsFunc(others, sent) && (name != "top_p" || !c.learned.drops(pair)) {
			names = append(names, name)
		}
	}
	return names
}

// warnUnsent passes settings that were not sent to warned, once for each model.
func (p *provider) warnUnsent(model string, names []string, warned func(string)) {
	known := p.lesson(model).Unsent
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(known, name) })
	if len(names) == 0 || warned == nil {
		return
	}
	p.learn(model, func(l *Lesson) { l.Unsent = append(slices.Clone(known), names...) })
	api := cmp.Or(p.config.API, OpenAI)
	warned(fmt.Sprintf("model %s of %s: %s is not sent, because api %s has no place for it with this model", model,
		p.config.Label(), strings.Join(names, ", "), api))
}

// target is the receiver of a request.
type target struct {
	model, path string
	stream      bool   // the answer is requested as a stream
	content     string // type of the body; "" is JSON
}

// building returns the body of a request by what was learned of its model, and its parameters by
// their names in [Lesson.Drop].
type building func(*Lesson) (body, params engine.Value)

// negotiated sends a request, without the parameters that the server has refused before or refuses
// now. What is learned is passed to warned, which may be nil. It is remembered when the server
// accepts the request, unless it is about a value: a refusal may quote texts of a canvas.
func (p *provider) negotiated(
	ctx context.Context, x *exchange, to target, build building, warned func(string),
) (*http.Response, error) {
	model := to.model
	learned := p.lesson(model)
	lasting, changed := learned, false
	own, _ := p.config.entry(model)
	learned.Drop = append(append([]string{}, learned.Drop...), own.Drop...)
	for try := 0; ; try++ {
		body, params := build(&learned)
		res, refused, err := p.reach(ctx, x, to, body.AppendJSON(nil), warned)
		if err == nil && refused == nil && changed {
			p.learn(model, func(l *Lesson) {
				l.Drop, l.Rename, l.Samples = lasting.Drop, lasting.Rename, lasting.Samples
				l.MaxTokens = lasting.MaxTokens
			})
		}
		if err != nil || refused == nil {
			return res, err
		}
		change := learned.negotiate(params, refused)
		if change == "" && refused.status == http.StatusBadRequest && guessedReasoning.MatchString(model) &&
			!learned.Samples && strings.Contains(refused.text, "max_completion_tokens") {
			learned.Samples, change = true, "sampling parameters are sent"
		}
		if change == "" || try == maxNegotiations {
			return nil, refused
		}
		if !refused.aboutValue() {
			lasting.negotiate(params, refused)
			lasting.Samples, changed = learned.Samples, true
		}
		if warned != nil {
			warned(p.clean("model " + model + " of " + p.config.Label() + ": " + change + ", because the server " +
				"refused it: " + refused.text))
		}
	}
}

// versioned is the end of a base URL that has a version.
var versioned = regexp.MustCompile(`/v\d+[a-z0-9]*(/openai)?$`)

// reach sends a request. If the base URL has no version and the server does not know the path, it
// tries the one with /v1, remembers which one works and names it.
func (p *provider) reach(
	ctx context.Context, x *exchange, to target, data []byte, warned func(string),
) (*http.Response, *refusal, error) {
	base := p.base(to.model)
	res, refused, err := p.once(ctx, x, p.endpoint(base, to), to.content, data)
	if !p.config.API.guesses() || versioned.MatchString(base) || err != nil || refused != nil && !noRoute(refused) {
		return res, refused, err
	}
	if refused == nil {
		if refused = notAnswer(res); refused == nil {
			return res, nil, nil
		}
	}
	second, secondRefused, err := p.once(ctx, x, p.endpoint(base+"/v1", to), to.content, data)
	switch {
	case err != nil || secondRefused != nil && noRoute(secondRefused):
		refused.text += "; check base_url, " + base + "/v1 was tried as well"
		return nil, refused, nil
	case secondRefused != nil:
		return nil, secondRefused, nil
	}
	p.learn(to.model, func(l *Lesson) { l.BaseURL = base + "/v1" })
	if warned != nil {
		warned("provider " + p.config.Label() + ": the base URL that works is " + base + "/v1, not " + base)
	}
	return second, nil, nil
}

// base returns the base URL for a model.
func (p *provider) base(model string) string {
	if l := p.lesson(model); l.BaseURL != "" {
		return l.BaseURL
	}
	if !p.config.API.guesses() {
		return p.config.BaseURL
	}
	return plainBase(p.config.BaseURL)
}

// endpoint returns the address of a request below a base URL.
func (p *provider) endpoint(base string, to target) string {
	if to.path == rerankPath {
		return p.rerankAddress(base)
	}
	return p.config.dialect().address(base, to.path, to.model, to.stream)
}

// plainBase returns a base URL without the path of an endpoint at its end.
func plainBase(address string) string {
	return trimmed(address, chatPath, "/embeddings", rerankPath, "/audio/speech", transcriptionPath,
		"/responses", "/models")
}

// trimmed returns an address without some ends, each at most once and in their order.
func trimmed(address string, ends ...string) string {
	address = strings.TrimRight(address, "/")
	for _, end := range ends {
		address = strings.TrimRight(strings.TrimSuffix(address, end), "/")
	}
	return address
}

// noRoute reports whether a server may not know the path of a request.
func noRoute(r *refusal) bool {
	return r.status == http.StatusNotFound || r.status == http.StatusMethodNotAllowed
}

// sniffBytes are read of a response to find out whether it is an error.
const sniffBytes = 512

// notAnswer returns the failure in a response with a success status, a web page or an error; nil if
// the response may be an answer. The body can be read from its start.
func notAnswer(res *http.Response) *refusal {
	from := bufio.NewReaderSize(res.Body, maxRefusal)
	res.Body = struct {
		io.Reader
		io.Closer
	}{from, res.Body}
	start, _ := from.Peek(1) // the reader of the body meets the error again
	if len(start) == 0 {
		return nil
	}
	start, _ = from.Peek(min(from.Buffered(), sniffBytes))
	text := bytes.TrimSpace(start)
	page := bytes.HasPrefix(text, []byte("<"))
	if !page && (!bytes.HasPrefix(text, []byte("{")) || bytes.Contains(text, []byte(`"choices"`)) ||
		bytes.Contains(text, []byte(`"output"`))) {
		return nil
	}
	whole, err := from.Peek(maxRefusal)
	if err == nil {
		return nil // too long for an error
	}
	if page {
		return refusalOf(0, whole)
	}
	v, err := engine.ParseJSON(whole)
	if err != nil {
		return nil
	}
	return (&document{value: v}).reported()
}

// once sends a request to an address.
func (p *provider) once(ctx context.Context, x *exchange, address, content string, data []byte) (*http.Response,
	*refusal, error,
) {
	req, err := p.newRequest(ctx, http.MethodPost, address, data)
	if err != nil {
		return nil, nil, err
	}
	if content != "" {
		req.Header.Set("Content-Type", content)
	}
	return answered(x, req)
}

// answered sends a request. An error response is returned as a refusal.
func answered(x *exchange, req *http.Request) (*http.Response, *refusal, error) {
	res, err := x.Do(req)
	if err != nil || res.StatusCode < http.StatusBadRequest {
		return res, nil, err
	}
	defer res.Body.Close() //nolint:errcheck // the response is an error already
	text, err := io.ReadAll(io.LimitReader(res.Body, maxRefusal))
	if err != nil && len(text) == 0 {
		return nil, nil, err
	}
	return nil, refusalOf(res.StatusCode, text), nil
}

// newRequest returns a request with the key and the headers of the provider.
func (p *provider) newRequest(ctx context.Context, method, address string, data []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	for part := range strings.SplitSeq(req.URL.Path, "/") {
		if part == "." || part == ".." { // of a model's name, which a canvas may choose
			return nil, fmt.Errorf("the path of the address has the part %q: rename the model or change base_url", part)
		}
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	p.config.dialect().authorize(req.Header, p.config.Key)
	for name, v := range p.config.Headers {
		req.Header.Set(name, v)
	}
	if signed, ok := p.config.dialect().(signing); ok {
		signed.sign(req, data, p.config.Key, time.Now())
	}
	return req, nil
}
