// Package identitytest is an OpenID provider whose every answer a test can change. Real ones are in
// host/clients; this one sends what they never do.
package identitytest

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"
)

// Provider is a running provider with the client "easel" and the secret "hush".
type Provider struct {
	t      testing.TB
	URL    string
	Issuer string // as announced and in tokens; without a change that of the server

	mu       sync.Mutex
	key      *rsa.PrivateKey
	kid      string
	codes    map[string]grant
	Claims   jwt.MapClaims           // of the ID token, over the usual ones; nil values remove
	UserInfo map[string]any          // nil: no such endpoint
	Sign     func(*jwt.Token) string // nil signs with the key
	Metadata map[string]any          // of the configuration, over the usual ones
	Reuse    bool                    // codes can be used again, which no provider should
	hangs    chan struct{}           // receives each request for the configuration, which gets no answer
	ended    chan struct{}           // closed when the test ends
}

type grant struct{ nonce, challenge, redirect string }

// New serves a provider until the test ends.
func New(t testing.TB) *Provider {
	p := &Provider{t: t, codes: map[string]grant{}, ended: make(chan struct{})}
	p.Rotate()
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", p.metadata)
	mux.HandleFunc("/keys", p.keys)
	mux.HandleFunc("/token", p.token)
	mux.HandleFunc("/userinfo", func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, p.UserInfo) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(p.ended) })
	p.URL, p.Issuer = server.URL, server.URL
	return p
}

// Rotate replaces the key.
func (p *Provider) Rotate() {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(p.t, err)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.key, p.kid = key, rand.Text()
}

func reply(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v) // the client is a test
}

// Hang stops answering requests for the configuration, and returns a channel that receives them.
func (p *Provider) Hang() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hangs = make(chan struct{}, 1000)
	return p.hangs
}

func (p *Provider) metadata(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	hangs := p.hangs
	p.mu.Unlock()
	if hangs != nil {
		hangs <- struct{}{}
		select {
		case <-r.Context().Done():
		case <-p.ended:
		}
		return
	}
	m := map[string]any{
		"issuer": p.Issuer, "authorization_endpoint": p.URL + "/auth", "token_endpoint": p.URL + "/token",
		"jwks_uri": p.URL + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"},
		"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
	}
	if p.UserInfo != nil {
		m["userinfo_endpoint"] = p.URL + "/userinfo"
	}
	for k, v := range p.Metadata {
		m[k] = v
	}
	reply(w, 200, m)
}

func (p *Provider) keys(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := base64.RawURLEncoding
	reply(w, 200, map[string]any{"keys": []any{map[string]any{
		"kty": "RSA", "alg": "RS256", "use": "sig", "kid": p.kid, "n": b.EncodeToString(p.key.N.Bytes()),
		"e": b.EncodeToString(big.NewInt(int64(p.key.E)).Bytes()),
	}}})
}

// Authorize answers an authorization request as if the person had signed in, and returns the
// parameters with which the browser goes back.
func (p *Provider) Authorize(address string) url.Values {
	u, err := url.Parse(address)
	require.NoError(p.t, err)
	q := u.Query()
	require.Equal(p.t, "S256", q.Get("code_challenge_method"))
	require.Equal(p.t, "easel", q.Get("client_id"))
	code := rand.Text()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.codes[code] = grant{q.Get("nonce"), q.Get("code_challenge"), q.Get("redirect_uri")}
	return url.Values{"state": {q.Get("state")}, "code": {code}}
}

func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	code := r.FormValue("code")
	g, ok := p.codes[code]
	if !p.Reuse {
		delete(p.codes, code)
	}
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	id, secret, _ := r.BasicAuth()
	ok = ok && base64.RawURLEncoding.EncodeToString(sum[:]) == g.challenge
	if !ok || r.FormValue("redirect_uri") != g.redirect || id != "easel" || secret != "hush" {
		reply(w, 400, map[string]any{"error": "invalid_grant"})
		return
	}
	now := time.Now()
	claims := jwt.MapClaims{
		"iss": p.Issuer, "aud": "easel", "sub": "ann", "nonce": g.nonce, "iat": now.Unix(),
		"exp":   now.Add(time.Hour).Unix(),
		"email": "ann@corp.example", "name": "Ann",
	}
	for k, v := range p.Claims {
		if claims[k] = v; v == nil {
			delete(claims, k)
		}
	}
	token := jwt.NewWithClaims(jwt.SigningMethodRS256, claims)
	token.Header["kid"] = p.kid
	var text string
	if p.Sign != nil {
		text = p.Sign(token)
	} else {
		var err error
		text, err = token.SignedString(p.key)
		require.NoError(p.t, err)
	}
	reply(w, 200, map[string]any{
		"access_token": "access", "token_type": "Bearer", "expires_in": 3600, "id_token": text,
	})
}

// Public returns the text of the public key, which a token signed with HS256 is sometimes forged
// with.
func (p *Provider) Public() []byte { return p.key.N.Bytes() }
