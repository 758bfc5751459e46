// Package distribution downloads and publishes plugin files: from web addresses, from registries of
// the OCI distribution specification as ORAS-style artifacts, and by index files that list plugins.
//
// Everything that arrives is bounded in size and compared with its digest where one is known. A
// server on the public internet cannot lead a request to a private address, by a redirect or by
// naming a token service. The package judges no signature: that is done when a file is installed.
package distribution

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/easel-canvas/easel/host/internal/egress/reach"
	"github.com/easel-canvas/easel/host/internal/egress/redact"
)

// Bounds of downloads, in bytes.
const (
	MaxFile     = 16 << 20
	maxIndex    = 8 << 20
	maxManifest = 1 << 20
	maxTokens   = 1 << 20
	maxTags     = 4 << 20
	maxHops     = 5
)

// ErrPrivate is returned if a public server leads a request to a private address.
var ErrPrivate = errors.New("a public server leads to a private address")

// Client downloads and publishes. The zero value works; it is used for one operation, because what
// it has reached decides where it may be led.
type Client struct {
	// PlainHTTP allows http to hosts other than this machine.
	PlainHTTP bool
	// Credentials returns user and password for a registry; nil, or an empty user, is anonymous.
	Credentials func(registry string) (user, password string, err error)

	once   sync.Once
	client *http.Client
	tokens map[string]string // authorization by registry and scope

	mu     sync.Mutex
	public bool // a public address was reached
}

// IsLocation reports whether text is an address that [Client.Download] takes, rather than a file.
func IsLocation(text string) bool {
	scheme, _, ok := strings.Cut(text, "://")
	return ok && (scheme == "https" || scheme == "http" || scheme == ociScheme)
}

// Download reads a plugin file from an https or oci address.
func (c *Client) Download(ctx context.Context, location string) ([]byte, error) {
	if strings.HasPrefix(location, ociScheme+"://") {
		return c.pull(ctx, location)
	}
	return c.read(ctx, location, MaxFile)
}

// read downloads at most most bytes from a web address.
func (c *Client) read(ctx context.Context, address string, most int64) ([]byte, error) {
	u, err := c.address(address)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	res, err := c.do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("download %s: server returned %s", redact.Address(u.String()), res.Status)
	}
	return bounded(res.Body, most, redact.Address(u.String()))
}

// address checks a web address that a person gave.
func (c *Client) address(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, fmt.Errorf("address %q: want https://HOST/PATH", redact.Address(text))
	}
	if err := c.checkScheme(u); err != nil {
		return nil, err
	}
	return u, nil
}

func (c *Client) checkScheme(u *url.URL) error {
	if u.Scheme == "https" || u.Scheme == "http" && (c.PlainHTTP || isLocal(u.Hostname())) {
		return nil
	}
	return fmt.Errorf("address %s: want https; --plain-http allows http", redact.Address(u.String()))
}

func isLocal(host string) bool {
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}

// do sends a request. Redirects keep credentials on their origin only.
func (c *Client) do(req *http.Request) (*http.Response, error) {
	c.once.Do(func() {
		dialer := &net.Dialer{Timeout: 10 * time.Second, Control: c.control}
		c.client = &http.Client{
			Timeout: 2 * time.Minute,
			Transport: &http.Transport{
				Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, DisableKeepAlives: true,
				ResponseHeaderTimeout: 30 * time.Second, TLSHandshakeTimeout: 10 * time.Second,
			},
			CheckRedirect: func(next *http.Request, past []*http.Request) error {
				if len(past) > maxHops {
					return fmt.Errorf("more than %d redirects", maxHops)
				}
				if !reach.SameOrigin(next.URL, past[0].URL) {
					next.Header.Del("Authorization")
				}
				return c.checkScheme(next.URL)
			},
		}
	})
	return c.client.Do(req)
}

// control refuses private addresses once a public one was reached.
func (c *Client) control(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if reach.Public(at.Addr().Unmap()) {
		c.public = true
		return nil
	}
	if c.public {
		return fmt.Errorf("%w: %s", ErrPrivate, address)
	}
	return nil
}

// bounded reads at most most bytes.
func bounded(r io.Reader, most int64, what string) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, fmt.Errorf("download %s: %w", what, err)
	}
	if int64(len(b)) > most {
		return nil, fmt.Errorf("download %s: more than %d bytes", what, most)
	}
	return b, nil
}

// digestOf returns the digest of bytes in the form of the specification.
func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}
