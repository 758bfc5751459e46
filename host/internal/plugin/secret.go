package plugin

import (
	"encoding/base64"
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/egress/hostmatch"
	"github.com/easel-canvas/easel/plugins/contract"
)

// placeholder stands for a secret in a request when it carries the mark of the call; in a query it
// may be escaped. Any other is plain text.
var placeholder = regexp.MustCompile(`(?:\{\{|%7[Bb]%7[Bb])secret(?::|%3[Aa])([A-Za-z0-9_.-]{1,64})(?::|%3[Aa])([A-Za-z0-9]{1,64})(?:\}\}|%7[Dd]%7[Dd])`)

// encoded is a part of a header value that is sent in base64, as Basic authorization wants it; it
// needs a placeholder that counts.
var encoded = regexp.MustCompile(`\{\{base64:((?:[^{}]|\{\{secret:[A-Za-z0-9_.:-]{1,130}\}\})*)\}\}`)

// masked replaces a secret in a response.
const masked = "***"

// filler puts secrets into a request to one host, after the host was checked.
type filler struct {
	t    *trip
	host string // with port
	port string // the usual one of the scheme; "" on this machine, where every port is
	// plain is set for requests without encryption that leave this machine.
	plain bool
	err   *contract.Error
}

func newFiller(t *trip, u *url.URL) *filler {
	f := &filler{t: t, host: hostmatch.Of(u), port: "443"}
	switch {
	case isLocal(u.Hostname()):
		f.port = ""
	case u.Scheme == "http":
		f.port, f.plain = "80", true
	}
	return f
}

// isLocal reports whether a host is this machine by its address; a name can lead anywhere.
func isLocal(host string) bool {
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}

// header replaces the placeholders in a header value, and then the parts to be written in base64.
func (f *filler) header(s string) string {
	plain := func(v string) string { return v }
	s = encoded.ReplaceAllStringFunc(s, func(found string) string {
		inner := encoded.FindStringSubmatch(found)[1]
		text := f.replace(inner, plain)
		if text == inner {
			return found
		}
		f.t.used.add(text)
		return base64.StdEncoding.EncodeToString([]byte(text))
	})
	return f.replace(s, plain)
}

// query replaces the placeholders in the query of a URL.
func (f *filler) query(s string) string { return f.replace(s, url.QueryEscape) }

// body replaces the placeholders in a body, escaped for its content type.
func (f *filler) body(b []byte, headers map[string]string) []byte {
	if mark := f.t.mark; mark == "" || !strings.Contains(string(b), mark) {
		return b
	}
	contentType := ""
	for name, value := range headers {
		if strings.EqualFold(name, "Content-Type") {
			contentType = value
		}
	}
	escape := func(v string) string { return engine.EscapeSecret(contentType, v) }
	return []byte(f.replace(string(b), escape))
}

func (f *filler) replace(s string, escape func(string) string) string {
	mark := f.t.mark
	if mark == "" || !strings.Contains(s, mark) {
		return s
	}
	return placeholder.ReplaceAllStringFunc(s, func(found string) string {
		parts := placeholder.FindStringSubmatch(found)
		if parts[2] != mark {
			return found
		}
		value, err := f.value(parts[1])
		if err != nil {
			f.err = err
			return ""
		}
		f.t.used.add(value)
		return escape(value)
	})
}

// value looks a secret up, when the grant and its owner bind it to the host.
func (f *filler) value(name string) (string, *contract.Error) {
	p, ok := f.t.grant.Secrets[name]
	if !ok {
		return "", contract.Errorf(contract.Denied, "http.fetch: secret %s is not granted", name)
	}
	if !contract.AnyCoversSecret(p.Hosts, f.host, f.port) {
		return "", contract.Errorf(contract.Denied, "http.fetch: secret %s is not bound to host %s", name, f.host)
	}
	if f.plain && !p.Plain {
		return "", contract.Errorf(contract.Denied,
			"http.fetch: secret %s goes to host %s over https only; \"plain\": true in the manifest asks for http", name, f.host)
	}
	if f.t.secrets == nil {
		return "", contract.Errorf(contract.Unsupported, "http.fetch: this host keeps no secrets")
	}
	secret, found, err := f.t.secrets.Secret(f.t.ctx, name)
	if err != nil {
		return "", contract.Errorf(contract.Upstream, "http.fetch: secret %s could not be read", name)
	}
	if !found || secret.Value == "" {
		return "", contract.Errorf(contract.Unauthorized, "http.fetch: secret %s is not configured", name)
	}
	if len(secret.Hosts) > 0 && !hostmatch.Any(secret.Hosts, f.host) {
		return "", contract.Errorf(contract.Denied, "http.fetch: secret %s is bound to %s, not to host %s", name,
			strings.Join(secret.Hosts, ", "), f.host)
	}
	return secret.Value, nil
}
