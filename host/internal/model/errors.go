package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/egress/redact"
)

var (
	// ErrSilent means that the server sent no data for too long; raise timeout_seconds or retry.
	ErrSilent = errors.New("the server is silent")
	// ErrBroken means that the response ended early; retry.
	ErrBroken = errors.New("the answer broke off")
	// ErrEmpty means that the response has neither text nor tool calls.
	ErrEmpty = errors.New("the answer is empty")
	// ErrTooLarge means that the response exceeds the size limit.
	ErrTooLarge = errors.New("the answer is too large")
)

// Error is the failure of a model call, with its provider and model.
type Error struct {
	Provider string
	Model    string // "" if the call was not about one model
	Status   int    // HTTP status; 0 without a response
	Err      error
	final    bool // a later call fails as well
	// elsewhere means that another model may answer.
	elsewhere bool
}

func (e *Error) Error() string {
	status := ""
	if e.Status != 0 {
		status = strings.TrimSpace(fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status))) + ": "
	}
	if e.Model == "" {
		return fmt.Sprintf("provider %s: %s%v", e.Provider, status, e.Err)
	}
	return fmt.Sprintf("model %q of %s: %s%v", e.Model, e.Provider, status, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether the same call may succeed later.
func (e *Error) Retryable() bool {
	return !e.final && (retryStatus(e.Status) || errors.Is(e.Err, ErrSilent) || errors.Is(e.Err, ErrBroken))
}

// Is reports that a call of an account without quota is not worth another try.
func (e *Error) Is(target error) bool { return e.final && target == engine.ErrNoRetry }

// wrap returns the error of a call. It shortens what the server sent and removes the key from it.
func (p *provider) wrap(model string, err error) error {
	e := &Error{Provider: p.config.Label(), Model: model, Err: err, elsewhere: unreachable(err)}
	var r *refusal
	if errors.As(err, &r) {
		e.Status, e.final, e.elsewhere = r.status, r.quota(), r.elsewhere()
		e.Err = errors.New(p.clean(r.text))
	}
	return e
}

// broken marks connection failures as [ErrBroken], except for canceled calls.
func broken(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, ErrTooLarge) {
		return err
	}
	if err == io.EOF {
		return ErrBroken
	}
	return fmt.Errorf("%w: %w", ErrBroken, err)
}

// mark is the prefix by which some drivers report errors inside text; the drivers here never do.
const mark = "**ERROR**"

func (p *provider) clean(text string) string {
	text = oneLine(strings.ReplaceAll(p.masked(text), mark, ""))
	if r := []rune(text); len(r) > 500 {
		text = string(r[:500]) + "..."
	}
	if text == "" {
		return "the server gave no reason"
	}
	return text
}

// masked returns a text without the key and the values of headers of the provider.
func (p *provider) masked(text string) string {
	text = masked(text, p.config.Key)
	if _, secrets, found := strings.Cut(p.config.Key, ":"); found && p.config.API == Bedrock {
		for secret := range strings.SplitSeq(secrets, ":") { // servers quote what they signed
			text = masked(text, strings.TrimSpace(secret))
		}
	}
	for _, v := range p.config.Headers { // whatever their names are
		for _, secret := range redact.Credentials(v) {
			text = masked(text, secret)
		}
	}
	return text
}

// masked returns a text without a secret. One inside a longer word is not replaced: keys of local
// servers are words such as "key" or "x".
func masked(text, secret string) string {
	if secret == "" {
		return text
	}
	var b strings.Builder
	for {
		i := strings.Index(text, secret)
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(secret):])
		b.WriteString(text[:i])
		if len(secret) >= redact.MinSecret || !inWord(before) && !inWord(after) {
			b.WriteString("***")
		} else {
			b.WriteString(secret)
		}
		text = text[i+len(secret):]
	}
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }
