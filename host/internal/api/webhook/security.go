package webhook

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// security checks size, address and proof, and then takes a turn of the rate: strangers who
// prove nothing must not use it up. A canvas without a security section accepts every request, of
// which validation warns.
func (in *incoming) security(canvas string, s engine.Value) error {
	if !s.IsNull() && s.Kind() != engine.KindObject {
		return badWebhook("Webhook security must be an object with auth_type and its settings")
	}
	if err := in.size(s.Get("max_body_size")); err != nil {
		return err
	}
	if err := in.address(s.Get("ip_whitelist")); err != nil {
		return err
	}
	rate, err := readRate(s.Get("rate_limit"))
	if err != nil {
		return err
	}
	if err := proveAnd(in, s, func() error { return in.proof(canvas, s) }); err != nil {
		return err
	}
	if in.f.hooks.Take(canvas, rate) > 0 {
		return tooManyHooks()
	}
	return nil
}

// webhookKeys are the members of a security section that hold the key of an auth_type.
var webhookKeys = map[string][2]string{
	"token": {"token", "token_value"}, "basic": {"basic_auth", "password"},
	"jwt": {"jwt", "secret"}, "hmac": {"hmac", "secret"},
}

// openKeys replaces {{secret:NAME}} in the key of a security section by the value of the secret.
func (in *incoming) openKeys(ctx context.Context, c app.Canvas, s engine.Value) (engine.Value, error) {
	var failed error
	open := func(name string) string {
		value, err := in.f.services.Secrets.OpenOf(ctx, c, name)
		if errors.Is(err, app.ErrNotFound) {
			err = badWebhook("Webhook security names the secret %q, which is not stored", name)
		}
		failed = cmp.Or(failed, err)
		return string(value)
	}
	at := webhookKeys[s.Get("auth_type").Text()]
	section := s.Get(at[0])
	if key := section.Get(at[1]); key.Kind() == engine.KindString {
		s = s.With(at[0], section.With(at[1], engine.String(engine.MapSecrets(key.Str(), open))))
	}
	return s, failed
}

// proof authenticates the sender of a request.
func (in *incoming) proof(canvas string, s engine.Value) error {
	if s.Len() == 0 {
		return nil
	}
	switch kind := s.Get("auth_type").Text(); kind {
	case "", "none":
		if allow := s.Get("allow_anonymous"); !allow.True() && !strings.EqualFold(allow.Text(), "true") {
			return badWebhook("Anonymous webhook access requires allow_anonymous to be true")
		}
		return nil
	case "token":
		return in.guess(canvas, func() error { return in.token(s.Get("token")) })
	case "basic":
		return in.guess(canvas, func() error { return in.basic(s.Get("basic_auth")) })
	case "jwt":
		return in.jwt(s.Get("jwt"))
	case "hmac":
		return in.checkSignature(s.Get("hmac"))
	default:
		return badWebhook("Unsupported auth_type: %s", kind)
	}
}

// webhookGuesses are the wrong tokens and passwords of one network at one webhook. Signatures need
// no such limit, which senders that share an address could use up for one another.
var webhookGuesses = api.Limit{PerSecond: 1, Burst: 60}

// guess limits failed attempts of a check.
func (in *incoming) guess(canvas string, check func() error) error {
	name := canvas + " " + api.NetworkOf(in.Client())
	if in.f.guesses.Take(name, webhookGuesses) > 0 {
		return tooManyHooks()
	}
	err := check()
	if err == nil {
		in.f.guesses.Return(name)
	}
	return err
}

func tooManyHooks() error {
	return badWebhook("Rate limit error: Too many requests (rate limit exceeded)")
}

// parseSize reads "<int>kb" or "<int>mb".
func parseSize(text string) (int64, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	unit := int64(1 << 10)
	number, kb := strings.CutSuffix(text, "kb")
	if !kb {
		var mb bool
		if number, mb = strings.CutSuffix(text, "mb"); !mb {
			return 0, badWebhook("Invalid max_body_size format")
		}
		unit = 1 << 20
	}
	n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 32)
	if err != nil || n < 0 {
		return 0, badWebhook("Invalid max_body_size format")
	}
	if n*unit > api.MaxWebhookBody {
		return 0, badWebhook("max_body_size exceeds maximum allowed size (10MB)")
	}
	return n * unit, nil
}

// size bounds the body, regardless of its Content-Length.
func (in *incoming) size(v engine.Value) error {
	most := int64(api.MaxWebhookBody)
	if v.Truthy() {
		var err error
		if most, err = parseSize(v.Text()); err != nil {
			return err
		}
	}
	if n := in.HTTP.ContentLength; n > most {
		in.Writer.Header().Set("Connection", "close")
		return badWebhook("Request body too large: %d > %d", n, most)
	}
	in.most = most
	return in.CheckBody(most)
}

// address looks at where the request comes from.
func (in *incoming) address(list engine.Value) error {
	if !list.Truthy() {
		return nil
	}
	client := in.Client()
	for _, text := range texts(list) {
		text = strings.TrimSpace(text)
		if prefix, err := netip.ParsePrefix(text); err == nil && prefix.Contains(client) {
			return nil
		}
		if one, err := netip.ParseAddr(text); err == nil && one.Unmap() == client && client.IsValid() {
			return nil
		}
	}
	return badWebhook("IP %s is not allowed by whitelist", client)
}

// readRate reads the rate limit of a canvas, which counts on this host.
func readRate(v engine.Value) (api.Limit, error) {
	most, per := int64(60), "minute"
	if n, ok := v.Get("limit").Int(); ok {
		most = n
	} else if t := v.Get("limit"); !t.IsNull() {
		n, err := strconv.ParseInt(t.Text(), 10, 32)
		if err != nil {
			return api.Limit{}, badWebhook("Rate limit error: rate_limit.limit must be a number")
		}
		most = n
	}
	if p := v.Get("per").Text(); p != "" {
		per = p
	}
	if most <= 0 {
		return api.Limit{}, badWebhook("rate_limit.limit must be > 0")
	}
	most = min(most, 1<<30)
	window, ok := map[string]time.Duration{"second": time.Second, "minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour}[per]
	if !ok {
		return api.Limit{}, badWebhook("Invalid rate_limit.per: %s", per)
	}
	return api.Limit{PerSecond: float64(most) / window.Seconds(), Burst: float64(most)}, nil
}

// same compares in constant time; an unset secret is like nothing.
func same(given, want string) bool {
	return want != "" && subtle.ConstantTimeCompare([]byte(given), []byte(want)) == 1
}

func (in *incoming) token(v engine.Value) error {
	header, want := v.Get("token_header").Text(), v.Get("token_value").Text()
	if header == "" || !same(in.HTTP.Header.Get(header), want) {
		return badWebhook("Invalid token authentication")
	}
	return nil
}

func (in *incoming) basic(v engine.Value) error {
	user, password, ok := in.HTTP.BasicAuth()
	good := same(user, v.Get("username").Text())
	good = same(password, v.Get("password").Text()) && good
	if !ok || !good {
		return badWebhook("Invalid Basic Auth credentials")
	}
	return nil
}

// jwtMethods are the algorithms whose proofs can be checked: by a shared secret,
// or by a public key in PEM; none is none of them.
var jwtMethods = []string{
	"HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
}

// jwtKey reads the key of an algorithm. A public key is never taken for a
// shared secret: everybody knows it.
func jwtKey(algorithm, secret string) (any, error) {
	switch algorithm[:2] {
	case "RS", "PS":
		return jwt.ParseRSAPublicKeyFromPEM([]byte(secret))
	case "ES":
		return jwt.ParseECPublicKeyFromPEM([]byte(secret))
	case "Ed":
		return jwt.ParseEdPublicKeyFromPEM([]byte(secret))
	}
	if strings.HasPrefix(strings.TrimSpace(secret), "-----BEGIN ") {
		return nil, errors.New("a public key cannot be the shared secret of " + algorithm)
	}
	return []byte(secret), nil
}

// reservedClaims are checked by their own rules.
var reservedClaims = []string{"exp", "sub", "aud", "iss", "nbf", "iat"}

func (in *incoming) jwt(v engine.Value) error {
	secret := v.Get("secret").Text()
	if secret == "" {
		return badWebhook("JWT secret not configured")
	}
	header := in.HTTP.Header.Get("Authorization")
	text, bearer := strings.CutPrefix(header, "Bearer ")
	if !bearer {
		return badWebhook("Missing Bearer token")
	}
	if text = strings.TrimSpace(text); text == "" {
		return badWebhook("Empty Bearer token")
	}
	algorithm := "HS256"
	if named := v.Get("algorithm").Text(); named != "" {
		i := slices.IndexFunc(jwtMethods, func(m string) bool { return strings.EqualFold(m, named) })
		if i < 0 {
			return badWebhook("Invalid JWT: the algorithm %s is not supported; %s are", named, strings.Join(jwtMethods, ", "))
		}
		algorithm = jwtMethods[i]
	}
	key, err := jwtKey(algorithm, secret)
	if err != nil {
		return badWebhook("Invalid JWT: the key of this webhook cannot be used: %s", err)
	}
	options := []jwt.ParserOption{jwt.WithValidMethods([]string{algorithm}), jwt.WithIssuedAt()}
	audiences := texts(v.Get("audience"))
	switch {
	case len(audiences) > 0:
		options = append(options, jwt.WithAudience(audiences...))
	case v.Get("audience").Truthy():
		return badWebhook("JWT audience names nothing")
	}
	if iss := v.Get("issuer").Text(); iss != "" {
		options = append(options, jwt.WithIssuer(iss))
	}
	claims := jwt.MapClaims{}
	if _, err := jwt.ParseWithClaims(text, claims, func(*jwt.Token) (any, error) { return key, nil }, options...); err != nil {
		return badWebhook("Invalid JWT: %s", err)
	}
	return requiredClaims(v.Get("required_claims"), claims)
}

// texts is one text, or those of a list, without empty ones.
func texts(v engine.Value) []string {
	if v.Kind() != engine.KindList {
		v = engine.List(v)
	}
	var out []string
	for _, x := range v.Elements() {
		if x.Kind() == engine.KindString && strings.TrimSpace(x.Str()) != "" {
			out = append(out, x.Str())
		}
	}
	return out
}

func requiredClaims(v engine.Value, claims jwt.MapClaims) error {
	names := texts(v)
	for _, n := range names {
		if slices.Contains(reservedClaims, n) {
			return badWebhook("Reserved JWT claim cannot be required: %s", n)
		}
	}
	for _, n := range names {
		if _, ok := claims[n]; !ok {
			return badWebhook("Missing JWT claim: %s", n)
		}
	}
	return nil
}
