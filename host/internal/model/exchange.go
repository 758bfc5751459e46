package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/easel-canvas/easel/host/internal/reach"
	"github.com/easel-canvas/easel/host/internal/web"
)

const (
	// largestAnswer is where reading stops, in bytes.
	largestAnswer = 32 << 20
	// longestWait is the longest pause between two tries; a server that asks for more is not asked
	// again.
	longestWait = time.Minute
)

// exchange sends one request, again if the server is busy, and watches over the body. It belongs to
// one call.
type exchange struct {
	client  *http.Client
	retries int
	sleep   func(context.Context, time.Duration) error
	body    *body
}

// Do sends the request. Answers 429 and 5xx and connections that fail are tried again, later each
// time.
func (e *exchange) Do(req *http.Request) (*http.Response, error) {
	for try := 0; ; try++ {
		res, err := e.client.Do(req.Clone(req.Context()))
		wait, again := time.Duration(0), false
		switch {
		case errors.Is(err, web.ErrAddress), errors.Is(err, reach.ErrRedirect): // it will not be allowed later either
		case err != nil && req.Context().Err() == nil:
			wait, again = backoff(try), true
		case err == nil && retryStatus(res.StatusCode):
			wait, again = retryAfter(res.Header.Get("Retry-After"), try)
		}
		if !again || try >= e.retries {
			return e.guard(res, err)
		}
		if res != nil {
			_, _ = io.CopyN(io.Discard, res.Body, 4<<10) // lets the connection be used again, if it can
			_ = res.Body.Close()
		}
		if err := e.sleep(req.Context(), wait); err != nil {
			return nil, err
		}
		if err := rewind(req); err != nil {
			return nil, err
		}
	}
}

func (e *exchange) guard(res *http.Response, err error) (*http.Response, error) {
	if err != nil {
		return nil, err
	}
	e.body = &body{ReadCloser: res.Body, left: largestAnswer}
	res.Body = e.body
	return res, nil
}

func rewind(req *http.Request) error {
	if req.GetBody == nil {
		return fmt.Errorf("request cannot be sent twice")
	}
	fresh, err := req.GetBody()
	req.Body = fresh
	return err
}

func retryStatus(status int) bool { return status == http.StatusTooManyRequests || status >= 500 }

// backoff is 1, 2, 4, ... seconds, up to half of it taken off by chance so that many callers do not
// come at once.
func backoff(try int) time.Duration {
	d := min(time.Second<<min(try, 10), longestWait)
	return d - rand.N(d/2)
}

// retryAfter reads the header, in seconds or as a date. again is false when the server wants more
// than longestWait.
func retryAfter(header string, try int) (wait time.Duration, again bool) {
	if s, err := strconv.ParseFloat(header, 64); err == nil && s >= 0 {
		wait = time.Duration(min(s, 1e6) * float64(time.Second))
	} else if at, err := http.ParseTime(header); err == nil {
		wait = max(0, time.Until(at))
	} else {
		return backoff(try), true
	}
	return wait, wait <= longestWait
}

// body is an answer's body with a limit. It remembers the end of what was read, because the
// stream's reader hides whether the closing mark came.
type body struct {
	io.ReadCloser
	left int64
	tail []byte
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, ErrTooLarge
	}
	b.tail = append(b.tail, p[:n]...)
	b.tail = b.tail[max(0, len(b.tail)-64):]
	return n, err
}

// done reports whether the mark that ends every stream was read.
func (b *body) done() bool { return b != nil && bytes.Contains(b.tail, []byte("[DONE]")) }
