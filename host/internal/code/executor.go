package code

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/egress/reach"
	"github.com/easel-canvas/easel/host/internal/egress/redact"
)

// Executor runs scripts at a sandbox of RAGFlow (its executor manager): POST /run. Create it with
// [NewExecutor].
//
// Source: infiniflow/ragflow agent/sandbox/executor_manager (behaviour only).
type Executor struct {
	// Token authenticates requests; "" sends none.
	Token string
	// Time bounds a request; 0 means 60 s. The executor's own limits are shorter.
	Time time.Duration

	address string
	client  *http.Client
}

var _ engine.Code = (*Executor)(nil)

// ErrExecutor means that the executor did not run the script; the message has its reason.
var ErrExecutor = errors.New("code executor")

// maxResponse bounds a response: 10 artifacts of 10 MB in base64, and output.
const maxResponse = 160 << 20

// NewExecutor returns the executor at a base URL such as http://sandbox-executor-manager:9385.
func NewExecutor(base string) (*Executor, error) {
	u, err := url.Parse(base)
	switch {
	case strings.Contains(base, "@"): // what stands before it is not for logs
		return nil, errors.New("code executor: the URL must not have a user; set EASEL_CODE_EXECUTOR_TOKEN")
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("code executor %q: not an http or https URL such as http://sandbox:9385", base)
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("code executor %q: only scheme, host and path are accepted",
			redact.Address(base))
	}
	address := u.String()
	if !strings.HasSuffix(u.Path, "/run") {
		address = u.JoinPath("run").String()
	}
	return &Executor{address: address, client: &http.Client{CheckRedirect: reach.StayAtOrigin}}, nil
}

// executorRequest is the body of POST /run.
type executorRequest struct {
	Code      string       `json:"code_b64"`
	Language  string       `json:"language"`
	Arguments engine.Value `json:"arguments"`
}

// executorResponse is its response.
type executorResponse struct {
	Status    string          `json:"status"`
	Stdout    string          `json:"stdout"`
	Stderr    string          `json:"stderr"`
	ExitCode  int             `json:"exit_code"`
	Detail    string          `json:"detail"`
	Resource  string          `json:"resource_limit_type"`
	Result    *executorResult `json:"result"`
	Artifacts []engine.Value  `json:"artifacts"` // {name, mime_type, size, content_b64}
}

// executorResult is the result of main. Executors before version 0.23 have none and print it.
type executorResult struct {
	Present bool         `json:"present"`
	Value   engine.Value `json:"value"`
}

// RunCode sends a script to the executor. Errors: [ErrExecutor], engine.ErrLimit.
func (e *Executor) RunCode(ctx context.Context, c *engine.CodeCall) (engine.CodeResult, error) {
	language := c.Language
	if language == "javascript" {
		language = "nodejs"
	}
	arguments := c.Arguments
	if arguments.IsNull() {
		arguments = engine.Object()
	}
	body, err := json.Marshal(executorRequest{base64.StdEncoding.EncodeToString([]byte(c.Script)), language, arguments})
	if err != nil {
		return engine.CodeResult{}, err
	}
	limit := e.Time
	if limit <= 0 {
		limit = time.Minute
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r, err := e.post(limited, body)
	switch {
	case ctx.Err() != nil:
		return engine.CodeResult{}, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return engine.CodeResult{}, fmt.Errorf("%w: %w: no response within %s", ErrExecutor, engine.ErrLimit, limit)
	case err != nil:
		return engine.CodeResult{}, fmt.Errorf("%w: %w", ErrExecutor, err)
	}
	return r.result()
}

// post sends a request and decodes the response.
func (e *Executor) post(ctx context.Context, body []byte) (*executorResponse, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if e.Token != "" {
		req.Header.Set("Authorization", "Bearer "+e.Token)
	}
	res, err := e.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxResponse+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("response: %w", err)
	case len(text) > maxResponse:
		return nil, fmt.Errorf("response: %w: it is larger than %d MB", engine.ErrLimit, maxResponse>>20)
	case res.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("status %s: %s", res.Status, reason(text))
	}
	var r executorResponse
	if err := json.Unmarshal(text, &r); err != nil || r.Status == "" {
		return nil, fmt.Errorf("response is not that of an executor: %s", reason(text))
	}
	return &r, nil
}

// reason returns the start of a response that explains an error: its detail or stderr.
func reason(text []byte) string {
	var r struct{ Detail, Stderr any }
	_ = json.Unmarshal(text, &r) // any other text is shown as it is
	for _, v := range []any{r.Detail, r.Stderr} {
		if s, ok := v.(string); ok && s != "" {
			return s
		}
	}
	const most = 200
	return strings.ToValidUTF8(string(text[:min(len(text), most)]), "")
}

// result turns a response into that of the port.
func (r *executorResponse) result() (engine.CodeResult, error) {
	res := engine.CodeResult{Stdout: r.Stdout, Stderr: r.Stderr}
	switch r.Status {
	case "success":
	case "resource_limit_exceeded":
		kind := r.Resource
		if kind == "" {
			kind = "resource"
		}
		reason := strings.TrimSpace(r.Stderr)
		return res, fmt.Errorf("script: %w: %s limit of the executor: %s", engine.ErrLimit, kind, reason)
	case "program_runner_error":
		if r.Detail != "Code is unsafe" { // a refused script is an error of the script
			return res, fmt.Errorf("%w: %s: %s", ErrExecutor, r.Detail, strings.TrimSpace(r.Stderr))
		}
		fallthrough
	default:
		if strings.TrimSpace(res.Stderr) == "" {
			res.Stderr = fmt.Sprintf("%s (exit code %d)\n", r.Status, r.ExitCode)
		}
		res.Stdout = "" // what was printed before an error is not a result
		return res, nil
	}
	if r.Result != nil && r.Result.Present {
		res.Value = r.Result.Value
	}
	res.Artifacts = r.Artifacts
	return res, nil
}
