package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/easel-canvas/easel/host/internal/egress/reach"
	"github.com/easel-canvas/easel/host/internal/egress/retry"
	"github.com/easel-canvas/easel/host/internal/egress/web"
	"github.com/easel-canvas/easel/host/internal/limit"
)

// maxResponseBytes bounds the body of a response.
const maxResponseBytes = 32 << 20

// exchange sends one request, retries it while the server is busy, and limits the response body. It
// belongs to one call.
type exchange struct {
	client  *http.Client
	retries int
	sleep   func(context.Context, time.Duration) error
	turn    *limit.Turn         // nil without a limiter
	queued  func(time.Duration) // takes how long the call waited for a pause to end; may be nil
	held    atomic.Bool         // the caller is not ready for more data
	cancel  context.CancelCauseFunc
}

// Do sends the request. It retries status 429, 5xx and connection failures with increasing delays.
func (e *exchange) Do(req *http.Request) (*http.Response, error) {
	for try := 0; ; try++ {
		res, err := e.client.Do(req.Clone(req.Context()))
		wait, again := time.Duration(0), false
		switch {
		case errors.Is(err, web.ErrAddress), errors.Is(err, reach.ErrRedirect): // not retryable
		case err != nil && req.Context().Err() == nil:
			wait, again = retry.Backoff(try), true
		case err == nil && retryStatus(res.StatusCode):
			if again = !final(res); again {
				wait, again = retry.After(res.Header, try)
				e.pause(res, wait)
			}
		}
		if !again || try >= e.retries {
			return e.guard(res, err)
		}
		if res != nil {
			_, _ = io.CopyN(io.Discard, res.Body, 4<<10) // allows connection reuse, best effort
			_ = res.Body.Close()
		}
		if err := e.wait(req.Context(), wait); err != nil {
			return nil, err
		}
		if err := rewind(req); err != nil {
			return nil, err
		}
	}
}

// pause keeps all calls of the model waiting if the server is busy and asked for that.
func (e *exchange) pause(res *http.Response, d time.Duration) {
	busy := res.StatusCode == http.StatusTooManyRequests || res.StatusCode == http.StatusServiceUnavailable
	if busy && res.Header.Get("Retry-After") != "" {
		e.turn.Pause(d)
	}
}

// wait waits before the next attempt, for a pause of the model to end as well.
func (e *exchange) wait(ctx context.Context, d time.Duration) error {
	if paused := e.turn.Paused(); paused > 0 {
		d = max(d, paused)
		defer e.queued(d)
	}
	if err := e.sleep(ctx, d); err != nil {
		return err
	}
	e.turn.Retry()
	return nil
}

func (e *exchange) guard(res *http.Response, err error) (*http.Response, error) {
	if err != nil {
		return nil, err
	}
	res.Body = &body{ReadCloser: res.Body, left: maxResponseBytes}
	return res, nil
}

// final reports whether a response refuses the call because the account has no quota left, or for
// what is in the request, which no wait mends. The body can be read again.
func final(res *http.Response) bool {
	text, err := io.ReadAll(io.LimitReader(res.Body, maxRefusal))
	res.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(text), res.Body), res.Body}
	r := refusalOf(res.StatusCode, text)
	return err == nil && (r.quota() || r.invalid())
}

func rewind(req *http.Request) error {
	if req.GetBody == nil {
		return fmt.Errorf("request cannot be sent twice")
	}
	fresh, err := req.GetBody()
	req.Body = fresh
	return err
}

// statusFlex is Groq's for requests that its spare capacity does not serve now.
const statusFlex = 498

func retryStatus(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests, statusFlex:
		return true
	}
	return status >= 500
}

// body limits the size of a response body.
type body struct {
	io.ReadCloser
	left int64
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, ErrTooLarge
	}
	return n, err
}
