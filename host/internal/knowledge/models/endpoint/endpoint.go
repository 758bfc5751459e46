// Package endpoint sends requests to servers of models, again when they are busy, and reads their
// JSON answers.
package endpoint

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/easel-canvas/easel/host/internal/egress/reach"
	"github.com/easel-canvas/easel/host/internal/egress/redact"
	"github.com/easel-canvas/easel/host/internal/egress/retry"
)

// Endpoint is a server. It is safe for concurrent use.
type Endpoint struct {
	URL string
	Key string // sent as a bearer token; "" sends none
	// Client sends the requests; nil means http.DefaultClient. A host passes one that checks
	// addresses. Redirects to another origin are not followed, whatever it does with them.
	Client *http.Client
	// Retries bounds how often a request is sent again; 0 means 4, a negative value none.
	Retries int
	// MaxAnswer bounds an answer in bytes; 0 means 256 MiB.
	MaxAnswer int64
}

// Name returns the address for errors, which users read, without credentials.
func (e *Endpoint) Name() string { return redact.Address(e.URL) }

const (
	// largestAnswer is where reading stops unless MaxAnswer is set, in bytes.
	largestAnswer = 256 << 20
	// shownAnswer bounds the part of a server's answer in an error, in bytes.
	shownAnswer = 500
)

// StatusError is an answer that is not a success.
type StatusError struct {
	Status int
	Body   string // its beginning
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("server returned %d %s: %s", e.Status, http.StatusText(e.Status), e.Body)
}

// Post sends in as JSON and reads the answer into out. Answers 408, 429 and 5xx and failed
// connections are retried with increasing delays, or as the server's Retry-After requests.
func (e *Endpoint) Post(ctx context.Context, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("%s: %w", e.Name(), redact.Error(err))
	}
	return e.Send(ctx, "application/json", body, out)
}

// Send is [Endpoint.Post] with a body of another type.
func (e *Endpoint) Send(ctx context.Context, contentType string, body []byte, out any) error {
	retries := e.Retries
	if retries == 0 {
		retries = 4
	}
	for try := 0; ; try++ {
		wait, err := e.once(ctx, contentType, body, out, try)
		if err == nil {
			return nil
		}
		if wait < 0 || try >= retries || ctx.Err() != nil {
			return fmt.Errorf("%s: %w", e.Name(), redact.Error(err))
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return fmt.Errorf("%s: %w; last answer: %w", e.Name(), context.Cause(ctx), err)
		}
	}
}

// never is the wait before a request that is not sent again.
const never = -1

// once sends the request. After an error it returns the delay before the next try.
func (e *Endpoint) once(
	ctx context.Context, contentType string, body []byte, out any, try int,
) (wait time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL, bytes.NewReader(body))
	if err != nil {
		return never, err
	}
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("Accept", "application/json")
	if e.Key != "" {
		req.Header.Set("Authorization", "Bearer "+e.Key)
	}
	res, err := e.client().Do(req)
	if errors.Is(err, reach.ErrRedirect) {
		return never, err
	}
	if err != nil {
		return retry.Backoff(try), err
	}
	defer res.Body.Close() // it was only read
	largest := cmp.Or(e.MaxAnswer, largestAnswer)
	data, err := io.ReadAll(io.LimitReader(res.Body, largest+1))
	switch {
	case err != nil:
		return retry.Backoff(try), err
	case int64(len(data)) > largest:
		return never, fmt.Errorf("the answer has more than %d bytes", largest)
	case res.StatusCode == http.StatusOK:
		if err := json.Unmarshal(data, out); err != nil {
			return never, fmt.Errorf("the answer is not the expected JSON: %w", err)
		}
		return 0, nil
	}
	failure := &StatusError{res.StatusCode, string(data[:min(len(data), shownAnswer)])}
	if !again(res.StatusCode) {
		return never, failure
	}
	wait, ok := retry.After(res.Header, try)
	if !ok {
		return never, failure
	}
	return wait, failure
}

// client returns one that keeps the key and the body of a request at the origin of the server.
func (e *Endpoint) client() *http.Client {
	client := *cmp.Or(e.Client, http.DefaultClient)
	client.CheckRedirect = reach.StayAtOrigin
	return &client
}

func again(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || status >= 500
}
