package plugin

import (
	"context"

	"github.com/easel-canvas/easel/plugins/contract"
)

// Relayed is a request of a plugin that runs elsewhere, such as in the preview
// of a page. Placeholders of secrets that count carry SecretMark.
type Relayed struct {
	Method  string
	URL     string
	Headers map[string]string
	Body    []byte
	// SecretMark is the mark of the call that makes the request; empty allows no secret.
	SecretMark string
}

// Response is the response to a relayed request, with secrets masked.
type Response struct {
	Status  int
	Headers map[string]string
	Body    []byte
}

// Relay sends a request in the name of a plugin that does not run here. It is held against the
// grant, filled with secrets, redirected and masked as http.fetch does for a plugin that runs; a
// response has at most 10 MB. most cuts the grant of the plugin further; nil does not.
func (m *Module) Relay(ctx context.Context, most *contract.Permissions, secrets Secrets, r Relayed) (*Response, error) {
	granted := m.granted
	if most != nil {
		granted = granted.Cut(*most)
	}
	if granted.HTTP == nil {
		return nil, contract.Errorf(contract.Denied, "http.fetch is not granted")
	}
	ctx, stop := context.WithTimeout(ctx, fetchFor)
	defer stop()
	t := newTrip(ctx, stop, m.host.fetcher, fetchRequest{
		URL: r.URL, Method: r.Method, Headers: r.Headers,
		body: r.Body,
	})
	t.grant, t.secrets, t.mark = &granted, secrets, r.SecretMark
	out, e := t.follow()
	if e != nil {
		e.Message = string(t.used.mask([]byte(e.Message)))
		return nil, e.Unmarked(r.SecretMark)
	}
	return &Response{Status: out.Status, Headers: out.Headers, Body: out.body}, nil
}
