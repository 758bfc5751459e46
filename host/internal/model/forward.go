package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/limit"
)

// maxRefusal bounds the body of an error response that is passed on, in bytes.
const maxRefusal = 64 << 10

// Forward sends a chat completion as the client wrote it, with the key of the provider that its
// model resolves to, and returns the provider's response: a stream if the client requested one.
// Only the model name is changed. An error response of the provider is returned as a response too,
// with the key removed. The caller closes the body, and has asked [Models.Relays] before.
//
// Errors: [ErrUnknownModel], and as [Error] any other failure to get a response, such
// as [ErrSilent].
func (m *Models) Forward(ctx context.Context, body engine.Value) (res *http.Response, err error) {
	p, name, err := m.resolve(body.Get("model").Text(), KindChat)
	if err != nil {
		return nil, err
	}
	data := body.With("model", engine.String(name)).AppendJSON(nil)
	p, turn, err := m.enter(ctx, p, name, int64(len(data)/bytesPerToken), nil)
	if err != nil {
		return nil, err
	}
	defer func() {
		if res == nil { // also after a panic; else the body ends the turn
			turn.Leave(0)
		}
	}()
	return p.forward(ctx, name, data)
}

// bytesPerToken estimates the tokens of a request.
const bytesPerToken = 4

func (p *provider) forward(ctx context.Context, model string, body []byte) (*http.Response, error) {
	inner, cancel := context.WithCancelCause(ctx)
	f := &forwarded{idle: time.AfterFunc(p.timeout, func() { cancel(ErrSilent) }), timeout: p.timeout}
	f.end = func() {
		f.idle.Stop()
		cancel(nil)
		p.turn.Leave(limit.AsEstimated)
	}
	f.classify = func(err error) error { return p.classify(ctx, inner, model, err) }
	res, err := p.post(inner, model, body)
	if err != nil {
		err = f.classify(err)
		f.end()
		return nil, err
	}
	if res.StatusCode >= 400 {
		err = p.cleanRefusal(res)
	}
	if err != nil {
		f.end()
		return nil, p.wrap(model, err)
	}
	f.ReadCloser = res.Body
	res.Body = f
	return res, nil
}

func (p *provider) post(ctx context.Context, model string, body []byte) (*http.Response, error) {
	address := p.endpoint(p.base(model), target{model: model, path: chatPath})
	req, err := p.newRequest(ctx, http.MethodPost, address, body)
	if err != nil {
		return nil, err
	}
	return p.newExchange().Do(req)
}

// cleanRefusal removes the key from an error response.
func (p *provider) cleanRefusal(res *http.Response) error {
	text, err := io.ReadAll(io.LimitReader(res.Body, maxRefusal))
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	res.Body = io.NopCloser(strings.NewReader(p.masked(string(text))))
	return nil
}

// forwarded is the body of a forwarded response. Reading fails once the server is silent for too
// long.
type forwarded struct {
	io.ReadCloser
	idle     *time.Timer
	timeout  time.Duration
	classify func(error) error
	end      func()
	once     sync.Once
}

func (f *forwarded) Read(p []byte) (int, error) {
	n, err := f.ReadCloser.Read(p)
	f.idle.Reset(f.timeout)
	if err != nil && err != io.EOF {
		err = f.classify(err)
	}
	return n, err
}

func (f *forwarded) Close() error {
	err := f.ReadCloser.Close()
	f.once.Do(f.end)
	return err
}
