package model

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// chatPath is the path of chat completions below the base URL.
const chatPath = "/chat/completions"

// maxNegotiations bounds how often a request is changed and sent again.
const maxNegotiations = 6

// send sends a chat request until the server accepts its parameters. A response with a success
// status is returned unread.
func (p *provider) send(ctx context.Context, a *response) (*http.Response, error) {
	build := func(l *Lesson) engine.Value { return p.body(a.model, a.request, l) }
	return p.negotiated(ctx, a.exchange, a.model, chatPath, build, a.request.Warned)
}

// negotiated sends a request, without the parameters that the server has refused before or refuses
// now. What is learned is passed to warned, which may be nil. It is remembered when the server
// accepts the request, unless it is about a value: a refusal may quote texts of a canvas.
func (p *provider) negotiated(
	ctx context.Context, x *exchange, model, path string, build func(*Lesson) engine.Value, warned func(string),
) (*http.Response, error) {
	learned := p.lesson(model)
	lasting, changed := learned, false
	own, _ := p.config.entry(model)
	learned.Drop = append(append([]string{}, learned.Drop...), own.Drop...)
	for try := 0; ; try++ {
		body := build(&learned)
		res, refused, err := p.reach(ctx, x, model, path, body, warned)
		if err == nil && refused == nil && changed {
			p.learn(model, func(l *Lesson) {
				l.Drop, l.Rename, l.Samples = lasting.Drop, lasting.Rename, lasting.Samples
			})
		}
		if err != nil || refused == nil {
			return res, err
		}
		change := learned.negotiate(body, refused)
		if change == "" && refused.status == http.StatusBadRequest && guessedReasoning.MatchString(model) &&
			!learned.Samples && strings.Contains(refused.text, "max_completion_tokens") {
			learned.Samples, change = true, "sampling parameters are sent"
		}
		if change == "" || try == maxNegotiations {
			return nil, refused
		}
		if !refused.aboutValue() {
			lasting.negotiate(body, refused)
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
	ctx context.Context, x *exchange, model, path string, body engine.Value, warned func(string),
) (*http.Response, *refusal, error) {
	data := body.AppendJSON(nil)
	base := p.base(model)
	res, refused, err := p.once(ctx, x, base+path, data)
	if versioned.MatchString(base) || err != nil || refused != nil && !noRoute(refused) {
		return res, refused, err
	}
	if refused == nil {
		if refused = notAnswer(res); refused == nil {
			return res, nil, nil
		}
	}
	second, secondRefused, err := p.once(ctx, x, base+"/v1"+path, data)
	switch {
	case err != nil || secondRefused != nil && noRoute(secondRefused):
		refused.text += "; check base_url, " + base + "/v1 was tried as well"
		return nil, refused, nil
	case secondRefused != nil:
		return nil, secondRefused, nil
	}
	p.learn(model, func(l *Lesson) { l.BaseURL = base + "/v1" })
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
	return plainBase(p.config.BaseURL)
}

// plainBase returns a base URL without the path of an endpoint at its end.
func plainBase(address string) string {
	address = strings.TrimRight(address, "/")
	for _, path := range [...]string{chatPath, "/embeddings", "/audio/speech", "/responses", "/models"} {
		address = strings.TrimRight(strings.TrimSuffix(address, path), "/")
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
	if !page && (!bytes.HasPrefix(text, []byte("{")) || bytes.Contains(text, []byte(`"choices"`))) {
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

// once sends a request to an address. An error response is returned as a refusal.
func (p *provider) once(ctx context.Context, x *exchange, address string, data []byte) (*http.Response,
	*refusal, error,
) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(data))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if p.config.Key != "" {
		req.Header.Set("Authorization", "Bearer "+p.config.Key)
	}
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
