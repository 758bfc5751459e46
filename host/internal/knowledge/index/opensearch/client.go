package opensearch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
)

// client sends requests to a server.
type client struct {
	base     string
	user     *url.Userinfo
	requests *http.Client
}

func newClient(u *url.URL, requests *http.Client) client {
	if requests == nil {
		requests = http.DefaultClient
	}
	return client{u.Scheme + "://" + u.Host, u.User, requests}
}

// statusError is an answer that is not a success.
type statusError struct {
	status int
	body   string // its beginning
}

func (e *statusError) Error() string {
	return fmt.Sprintf("server returned %d %s: %s", e.status, http.StatusText(e.status), e.body)
}

// Is makes the answer of a server without disk space an [index.ErrFull].
func (e *statusError) Is(target error) bool {
	return target == index.ErrFull && strings.Contains(e.body, "read-only-allow-delete")
}

func isStatus(err error, status int) bool {
	var answer *statusError
	return errors.As(err, &answer) && answer.status == status
}

const (
	largestAnswer = 1 << 30 // bytes
	shownAnswer   = 500     // bytes in an error
	tries         = 5
)

// do sends a body as JSON, or unchanged if it is a slice of bytes with lines of JSON, and reads the
// answer into out unless that is nil. A request to a busy server is retried with increasing delays.
func (c *client) do(ctx context.Context, method, path string, body, out any) error {
	contentType := "application/json"
	data, lines := body.([]byte)
	if lines {
		contentType = "application/x-ndjson"
	} else if body != nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			return err
		}
	}
	for try := 1; ; try++ {
		err := c.once(ctx, method, path, contentType, data, out)
		busy := isStatus(err, http.StatusTooManyRequests) || isStatus(err, http.StatusServiceUnavailable)
		if !busy || try == tries || errors.Is(err, index.ErrFull) {
			return err
		}
		select {
		case <-time.After(time.Duration(try) * 200 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (c *client) once(ctx context.Context, method, path, contentType string, body []byte, out any) error {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if body != nil {
		req.Header.Set("Content-Type", contentType)
	}
	if c.user != nil {
		password, _ := c.user.Password()
		req.SetBasicAuth(c.user.Username(), password)
	}
	res, err := c.requests.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close() // it was only read
	data, err := io.ReadAll(io.LimitReader(res.Body, largestAnswer+1))
	switch {
	case err != nil:
		return err
	case len(data) > largestAnswer:
		return fmt.Errorf("%s %s: answer has more than %d bytes", method, path, largestAnswer)
	case res.StatusCode >= 300:
		return fmt.Errorf("%s %s: %w", method, path,
			&statusError{res.StatusCode, string(data[:min(len(data), shownAnswer)])})
	case out == nil:
		return nil
	}
	if err := json.Unmarshal(data, out); err != nil {
		return fmt.Errorf("%s %s: answer is not the expected JSON: %w", method, path, err)
	}
	return nil
}

// bulk collects changes of rows and sends them together.
type bulk struct {
	client *client
	ctx    context.Context
	index  string
	lines  bytes.Buffer
}

// largestBulk is the size from which changes are sent, in bytes.
const largestBulk = 4 << 20

// add adds a change: index, update or delete, with its source unless that is nil.
func (b *bulk) add(action, id string, source any) error {
	for _, line := range []any{object{action: object{"_index": b.index, "_id": id}}, source} {
		if line == nil {
			continue
		}
		data, err := json.Marshal(line)
		if err != nil {
			return err
		}
		b.lines.Write(data)
		b.lines.WriteByte('\n')
	}
	if b.lines.Len() < largestBulk {
		return nil
	}
	return b.send()
}

// send sends the changes.
func (b *bulk) send() error {
	if b.lines.Len() == 0 {
		return nil
	}
	var answer struct {
		Errors bool
		Items  []map[string]struct {
			ID     string `json:"_id"`
			Status int
			Error  json.RawMessage
		}
	}
	err := b.client.do(b.ctx, http.MethodPost, "/_bulk", b.lines.Bytes(), &answer)
	b.lines.Reset()
	if err != nil || !answer.Errors {
		return err
	}
	for _, item := range answer.Items {
		for action, r := range item {
			if r.Status >= 300 && !(action == "delete" && r.Status == http.StatusNotFound) {
				text := string(r.Error[:min(len(r.Error), shownAnswer)])
				return fmt.Errorf("%s row %q: %w", action, r.ID, &statusError{r.Status, text})
			}
		}
	}
	return nil
}
