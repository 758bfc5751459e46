// Package identity signs people in by OpenID Connect: the authorization code flow with PKCE, state
// and nonce. It checks what a provider sends, and decides nothing about accounts.
//
// A [Provider] is safe for concurrent use. It reads the configuration of its issuer when it is
// first needed, and again each hour; keys for signatures are read whenever one is not known.
package identity

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// Errors of a sign-in. The person can only start again, or ask an administrator.
var (
	// ErrAttempt means that the response belongs to no sign-in of this browser.
	ErrAttempt = errors.New("the response belongs to no sign-in of this browser")
	// ErrRefused means that the provider or the person refused.
	ErrRefused = errors.New("the provider refused the sign-in")
	// ErrToken means that what the provider sent is not valid.
	ErrToken = errors.New("the token of the provider is not valid")
	// ErrOverage means that the token names a place of the groups and not the groups.
	ErrOverage = errors.New("the token does not contain the groups, because there are too many")
	// ErrUnreachable means that the provider did not answer, or not as its configuration describes.
	ErrUnreachable = errors.New("the provider cannot be reached")
)

// Leeway is the difference of clocks that is accepted.
const Leeway = time.Minute

const (
	discoveryLasts = time.Hour
	requestTime    = 15 * time.Second
	largestAnswer  = 1 << 20 // bytes
)

// Provider signs people in at one issuer.
type Provider struct {
	Config
	client *http.Client
	now    func() time.Time

	mu     sync.Mutex
	found  *found
	search *search // that is under way
}

// search is a request for the configuration, for all who wait for it.
type search struct {
	done  chan struct{}
	found *found
	err   error
}

// found is the configuration of an issuer.
type found struct {
	provider *oidc.Provider
	until    time.Time
	EndPoint string   `json:"end_session_endpoint"`
	NamesIss bool     `json:"authorization_response_iss_parameter_supported"`
	Methods  []string `json:"token_endpoint_auth_methods_supported"`
}

// New returns a provider whose requests use a transport; nil means [http.DefaultTransport]. now
// returns the time, nil means time.Now.
func New(cfg Config, transport http.RoundTripper, now func() time.Time) *Provider {
	if transport == nil {
		transport = http.DefaultTransport
	}
	if now == nil {
		now = time.Now
	}
	client := &http.Client{Transport: bounded{transport}, Timeout: requestTime}
	return &Provider{Config: cfg, client: client, now: now}
}

// bounded limits the size of answers.
type bounded struct{ http.RoundTripper }

func (b bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := b.RoundTripper.RoundTrip(req)
	if err == nil {
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(res.Body, largestAnswer), res.Body}
	}
	return res, err
}

// discover returns the configuration of the issuer. It is requested once for all who wait for it,
// whether they stay or leave.
func (p *Provider) discover(ctx context.Context) (*found, error) {
	p.mu.Lock()
	if p.found != nil && p.now().Before(p.found.until) {
		defer p.mu.Unlock()
		return p.found, nil
	}
	s := p.search
	if s == nil {
		s = &search{done: make(chan struct{})}
		p.search = s
		go p.run(context.WithoutCancel(ctx), s)
	}
	p.mu.Unlock()
	select {
	case <-s.done:
		return s.found, s.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *Provider) run(ctx context.Context, s *search) {
	s.found, s.err = p.look(ctx)
	p.mu.Lock()
	if s.err == nil {
		p.found = s.found
	}
	p.search = nil
	p.mu.Unlock()
	close(s.done)
}

// look reads the configuration of the issuer. Issuers that differ by a slash at the end are
// accepted, and the spelling of the provider counts, since its tokens have it.
func (p *Provider) look(ctx context.Context) (*found, error) {
	ctx = oidc.ClientContext(ctx, p.client)
	provider, err := oidc.NewProvider(ctx, p.Issuer)
	var other *oidc.IssuerMismatchError
	if errors.As(err, &other) && strings.TrimSuffix(other.Provided, "/") == strings.TrimSuffix(other.Discovered, "/") {
		provider, err = oidc.NewProvider(ctx, other.Discovered)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	f := &found{provider: provider, until: p.now().Add(discoveryLasts)}
	if err := provider.Claims(f); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	return f, nil
}

// oauth returns the client of the authorization code flow. The issuer's preferred way to send the
// secret is used, so that the library does not have to try.
func (p *Provider) oauth(f *found, redirect string) *oauth2.Config {
	endpoint := f.provider.Endpoint()
	endpoint.AuthStyle = oauth2.AuthStyleInHeader
	if len(f.Methods) > 0 && !slices.Contains(f.Methods, "client_secret_basic") || p.Secret == "" {
		endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	scopes := []string{oidc.ScopeOpenID}
	for _, s := range p.Scopes {
		if s != oidc.ScopeOpenID {
			scopes = append(scopes, s)
		}
	}
	return &oauth2.Config{
		ClientID: p.Client, ClientSecret: p.Secret, Endpoint: endpoint, RedirectURL: redirect, Scopes: scopes,
	}
}

// Attempt has the proofs of a browser that comes back from the provider.
type Attempt struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
}

// Begin returns the address at the provider where a sign-in begins. redirect is the address of this
// host to which the provider sends the browser back.
func (p *Provider) Begin(ctx context.Context, redirect string) (address string, a Attempt, err error) {
	f, err := p.discover(ctx)
	if err != nil {
		return "", a, err
	}
	a = Attempt{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier()}
	address = p.oauth(f, redirect).AuthCodeURL(a.State, oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier))
	return address, a, nil
}

// Person is who signed in.
type Person struct {
	Issuer, Subject string
	Email, Name     string // as the provider reports them; may be empty, as is an unverified address
	// Groups are in the claim [Config.GroupsClaim]; nil means that the claim is absent.
	Groups []string
	// Token is the ID token, with which the provider ends its session.
	Token string
}

// Finish checks the response with which a browser comes back, and returns who signed in. Errors:
// [ErrAttempt], [ErrRefused], [ErrToken], [ErrOverage], [ErrUnreachable].
func (p *Provider) Finish(ctx context.Context, redirect string, a Attempt, answer url.Values) (Person, error) {
	f, err := p.discover(ctx)
	if err != nil {
		return Person{}, err
	}
	if err := p.checkAnswer(f, a, answer); err != nil {
		return Person{}, err
	}
	ctx = oidc.ClientContext(ctx, p.client)
	tokens, err := p.oauth(f, redirect).Exchange(ctx, answer.Get("code"), oauth2.VerifierOption(a.Verifier))
	if err != nil {
		var refused *oauth2.RetrieveError
		if errors.As(err, &refused) && refused.ErrorCode != "" {
			return Person{}, fmt.Errorf("%w: %s", ErrRefused, refused.ErrorCode)
		}
		return Person{}, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	raw, ok := tokens.Extra("id_token").(string)
	if !ok {
		return Person{}, fmt.Errorf("%w: the response has no ID token", ErrToken)
	}
	token, err := p.verify(ctx, f, raw, a.Nonce)
	if err != nil {
		return Person{}, err
	}
	out := Person{Issuer: token.Issuer, Subject: token.Subject, Token: raw}
	c := claims{groups: p.GroupsClaim}
	if err := token.Claims(&c.all); err != nil {
		return Person{}, fmt.Errorf("%w: %w", ErrToken, err)
	}
	if err := p.ask(ctx, f, tokens, token.Subject, &c); err != nil {
		return Person{}, err
	}
	out.Email, out.Name = c.address(), c.text("name")
	out.Groups, err = c.list()
	return out, err
}

// checkAnswer checks the parameters of the redirect (RFC 6749, RFC 9207).
func (p *Provider) checkAnswer(f *found, a Attempt, answer url.Values) error {
	if a.State == "" || subtle.ConstantTimeCompare([]byte(answer.Get("state")), []byte(a.State)) != 1 {
		return ErrAttempt
	}
	if iss := answer.Get("iss"); iss != "" && iss != p.issuer(f) || iss == "" && f.NamesIss {
		return fmt.Errorf("%w: the response is of the issuer %.80q, not %q", ErrToken, iss, p.issuer(f))
	}
	if code := answer.Get("error"); code != "" {
		return fmt.Errorf("%w: %.80q", ErrRefused, code)
	}
	if answer.Get("code") == "" {
		return fmt.Errorf("%w: the response has no code", ErrRefused)
	}
	return nil
}

// issuer returns the issuer as its own configuration spells it.
func (p *Provider) issuer(f *found) string {
	var c struct {
		Issuer string `json:"issuer"`
	}
	if err := f.provider.Claims(&c); err != nil || c.Issuer == "" {
		return p.Issuer
	}
	return c.Issuer
}

// verify checks an ID token: signature, issuer, audience, times and nonce. The library accepts only
// the asymmetric algorithms that the issuer announces, so neither none nor HS256.
func (p *Provider) verify(ctx context.Context, f *found, raw, nonce string) (*oidc.IDToken, error) {
	token, err := f.provider.VerifierContext(ctx, &oidc.Config{
		ClientID: p.Client, Now: func() time.Time { return p.now().Add(-Leeway) },
	}).Verify(ctx, raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrToken, err)
	}
	var more struct {
		Party string `json:"azp"`
	}
	if err := token.Claims(&more); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrToken, err)
	}
	switch {
	case token.Subject == "":
		err = errors.New("it has no subject")
	case subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(nonce)) != 1 || nonce == "":
		err = errors.New("it has the nonce of another sign-in")
	case more.Party != "" && more.Party != p.Client || more.Party == "" && len(token.Audience) > 1:
		err = fmt.Errorf("it is for the party %.80q", more.Party)
	case token.IssuedAt.After(p.now().Add(Leeway)):
		err = fmt.Errorf("it is issued %s ahead; compare the clocks", token.IssuedAt.Sub(p.now()).Round(time.Second))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrToken, err)
	}
	return token, nil
}

// ask adds the claims of the userinfo endpoint, when the token lacks some: many providers send only
// the subject in it.
func (p *Provider) ask(ctx context.Context, f *found, tokens *oauth2.Token, subject string, c *claims) error {
	if f.provider.UserInfoEndpoint() == "" || c.text("email") != "" && (p.GroupsClaim == "" || c.has()) {
		return nil
	}
	info, err := f.provider.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	var all map[string]any
	if err := info.Claims(&all); err != nil {
		return fmt.Errorf("%w: %w", ErrToken, err)
	}
	if info.Subject != subject {
		return fmt.Errorf("%w: userinfo is of another subject", ErrToken)
	}
	for name, v := range all {
		if _, ok := c.all[name]; !ok {
			c.all[name] = v
		}
	}
	return nil
}

// claims describe a person.
type claims struct {
	all    map[string]any
	groups string // the name of the claim with the groups; "" for none
}

func (c *claims) text(name string) string {
	s, _ := c.all[name].(string)
	return s
}

// address returns the e-mail address unless the provider reports that it is not verified: anybody
// could have entered it there. Some providers send the mark as text.
func (c *claims) address() string {
	switch c.all["email_verified"] {
	case false, "false":
		return ""
	}
	return c.text("email")
}

// elsewhere reports whether the groups are at a place that the token names, as Entra does beyond
// 200 groups.
func (c *claims) elsewhere() bool {
	names, _ := c.all["_claim_names"].(map[string]any)
	_, ok := names[c.groups]
	return ok
}

func (c *claims) has() bool {
	_, ok := c.all[c.groups]
	return ok || c.elsewhere()
}

// list returns the groups; nil means that the claim is absent.
func (c *claims) list() ([]string, error) {
	if c.groups == "" {
		return nil, nil
	}
	v, ok := c.all[c.groups]
	switch v := v.(type) {
	case string:
		return []string{v}, nil
	case []any:
		out := make([]string, 0, len(v))
		for _, g := range v {
			s, ok := g.(string)
			if !ok {
				return nil, fmt.Errorf("%w: the claim %s has a group that is not text", ErrToken, c.groups)
			}
			out = append(out, s)
		}
		return out, nil
	}
	switch {
	case ok:
		return nil, fmt.Errorf("%w: the claim %s is not a list of groups", ErrToken, c.groups)
	case c.elsewhere():
		return nil, ErrOverage
	}
	return nil, nil
}

// EndAddress returns where the browser ends the session at the provider and comes back to an
// address of this host; "" if the provider has no such place.
func (p *Provider) EndAddress(ctx context.Context, token, back string) string {
	f, err := p.discover(ctx)
	if err != nil || f.EndPoint == "" {
		return "" // the login here has ended in any case
	}
	u, err := url.Parse(f.EndPoint)
	if err != nil || u.Scheme != "https" && !loopback(u) {
		return ""
	}
	q := u.Query()
	q.Set("client_id", p.Client)
	q.Set("post_logout_redirect_uri", back)
	if token != "" {
		q.Set("id_token_hint", token)
	}
	u.RawQuery = q.Encode()
	return u.String()
}
