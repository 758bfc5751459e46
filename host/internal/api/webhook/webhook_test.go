package webhook_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"mime/multipart"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

const open = `"security":{"auth_type":"none","allow_anonymous":true,"rate_limit":{"limit":1000,"per":"second"}}`

func TestWebhookChecks(t *testing.T) {
	s := apitest.New(t)
	token := func(claims jwt.MapClaims, secret string, method jwt.SigningMethod) string {
		var key any = []byte(secret)
		if method == jwt.SigningMethodNone {
			key = jwt.UnsafeAllowNoneSignatureType
		}
		text, err := jwt.NewWithClaims(method, claims).SignedString(key)
		require.NoError(t, err)
		return "Bearer " + text
	}
	const byJWT = `"security":{"auth_type":"jwt","jwt":{"secret":"s3cret","issuer":"me","audience":"you","required_claims":"role"}}`
	valid := jwt.MapClaims{"iss": "me", "aud": "you", "role": "x", "exp": time.Now().Add(time.Hour).Unix()}
	without := func(name string, value any) jwt.MapClaims {
		out := jwt.MapClaims{}
		for k, v := range valid {
			out[k] = v
		}
		if delete(out, name); value != nil {
			out[name] = value
		}
		return out
	}
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("u:p"))
	tests := []struct {
		name, options string
		header        []string
		body          string
		want          string // "" is success
	}{
		{"no security", `"methods":["POST"]`, nil, "", ""},
		{"empty security", `"security":{}`, nil, "", ""},
		{"no object as security", `"security":"none"`, nil, "", "Webhook security must be an object"},
		{"anonymous access is not the default", `"security":{"auth_type":"none"}`, nil, "", "Anonymous webhook access requires allow_anonymous to be true"},
		{"anonymous access allowed", open, nil, "{}", ""},
		{
			"anonymous access allowed by a string",
			`"security":{"auth_type":"none","allow_anonymous":"true"}`, nil, "{}", "",
		},
		{"method", `"methods":["PUT"],` + open, nil, "", "HTTP method 'POST' not allowed for this webhook."},
		{"unknown authentication type", `"security":{"auth_type":"magic"}`, nil, "", "Unsupported auth_type: magic"},
		{"size without a unit", `"security":{"max_body_size":"5"}`, nil, "", "Invalid max_body_size format"},
		{"size above the maximum", `"security":{"max_body_size":"11mb"}`, nil, "", "max_body_size exceeds maximum allowed size (10MB)"},
		{"body above the size", `"security":{"max_body_size":"1KB","auth_type":"none","allow_anonymous":true}`, nil, `"` + strings.Repeat("x", 2000) + `"`, "Request body too large: 2002 > 1024"},
		{"address in a range", `"security":{"ip_whitelist":["127.0.0.0/8","::1"],"auth_type":"none","allow_anonymous":true}`, nil, "{}", ""},
		{"address as a string", `"security":{"ip_whitelist":"127.0.0.0/8","auth_type":"none","allow_anonymous":true}`, nil, "{}", ""},
		{"other address, as a string", `"security":{"ip_whitelist":"10.0.0.1","auth_type":"none","allow_anonymous":true}`, nil, "{}", "is not allowed by whitelist"},
		{"invalid address", `"security":{"ip_whitelist":{"a":1},"auth_type":"none","allow_anonymous":true}`, nil, "{}", "is not allowed by whitelist"},
		{
			"method as a string",
			`"methods":"PUT",` + open, nil, "{}", "HTTP method 'POST' not allowed for this webhook.",
		},
		{"missing field, fields as a string", `"schema":{"body":{"properties":{"a":{"type":"string"}},"required":"a"}},` + open, nil, "{}", "body missing required field: a"},
		{"other address", `"security":{"ip_whitelist":["10.0.0.1"]}`, []string{"X-Forwarded-For", "10.0.0.1"}, "", "is not allowed by whitelist"},
		{"rate of zero", `"security":{"rate_limit":{"limit":0}}`, nil, "", "rate_limit.limit must be > 0"},
		{"rate with an unknown unit", `"security":{"rate_limit":{"limit":1,"per":"week"}}`, nil, "", "Invalid rate_limit.per: week"},
		{"token", `"security":{"auth_type":"token","token":{"token_header":"X-T","token_value":"v"}}`, []string{"X-T", "v"}, "{}", ""},
		{"wrong token", `"security":{"auth_type":"token","token":{"token_header":"X-T","token_value":"v"}}`, []string{"X-T", "w"}, "{}", "Invalid token authentication"},
		{"token not set", `"security":{"auth_type":"token","token":{"token_header":"X-T"}}`, nil, "{}", "Invalid token authentication"},
		{"basic", `"security":{"auth_type":"basic","basic_auth":{"username":"u","password":"p"}}`, []string{"Authorization", basic}, "{}", ""},
		{"wrong basic credentials", `"security":{"auth_type":"basic","basic_auth":{"username":"u","password":"q"}}`, []string{"Authorization", basic}, "{}", "Invalid Basic Auth credentials"},
		{"jwt", byJWT, []string{"Authorization", token(valid, "s3cret", jwt.SigningMethodHS256)}, "{}", ""},
		{"jwt without a secret", `"security":{"auth_type":"jwt","jwt":{}}`, nil, "", "JWT secret not configured"},
		{"jwt missing", byJWT, nil, "", "Missing Bearer token"},
		{"jwt empty", byJWT, []string{"Authorization", "Bearer "}, "", "Bearer token"},
		{"jwt with algorithm none", byJWT, []string{"Authorization", token(valid, "", jwt.SigningMethodNone)}, "", "Invalid JWT"},
		{"jwt with another algorithm", byJWT, []string{"Authorization", token(valid, "s3cret", jwt.SigningMethodHS512)}, "", "Invalid JWT"},
		{"jwt with another secret", byJWT, []string{"Authorization", token(valid, "other", jwt.SigningMethodHS256)}, "", "Invalid JWT"},
		{"jwt with algorithm set to none", `"security":{"auth_type":"jwt","jwt":{"secret":"s","algorithm":"none"}}`, []string{"Authorization", token(valid, "", jwt.SigningMethodNone)}, "", "Invalid JWT"},
		{"jwt expired", byJWT, []string{"Authorization", token(without("exp", time.Now().Add(-time.Hour).Unix()), "s3cret", jwt.SigningMethodHS256)}, "", "Invalid JWT"},
		{"jwt from another issuer", byJWT, []string{"Authorization", token(without("iss", "x"), "s3cret", jwt.SigningMethodHS256)}, "", "Invalid JWT"},
		{"jwt for another audience", byJWT, []string{"Authorization", token(without("aud", "x"), "s3cret", jwt.SigningMethodHS256)}, "", "Invalid JWT"},
		{"jwt without a required claim", byJWT, []string{"Authorization", token(without("role", nil), "s3cret", jwt.SigningMethodHS256)}, "", "Missing JWT claim: role"},
		{"jwt with a reserved claim required", `"security":{"auth_type":"jwt","jwt":{"secret":"s","required_claims":["exp"]}}`, []string{"Authorization", token(valid, "s", jwt.SigningMethodHS256)}, "", "Reserved JWT claim cannot be required: exp"},
		{"jwt for one of several audiences", `"security":{"auth_type":"jwt","jwt":{"secret":"s3cret","audience":["you","them"]}}`, []string{"Authorization", token(valid, "s3cret", jwt.SigningMethodHS256)}, "{}", ""},
		{
			"jwt for an audience without a name",
			`"security":{"auth_type":"jwt","jwt":{"secret":"s3cret","audience":[7,""]}}`,
			[]string{"Authorization", token(valid, "s3cret", jwt.SigningMethodHS256)},
			"", "JWT audience names nothing",
		},
		{"jwt for none of several audiences", `"security":{"auth_type":"jwt","jwt":{"secret":"s3cret","audience":["us","them"]}}`, []string{"Authorization", token(valid, "s3cret", jwt.SigningMethodHS256)}, "{}", "Invalid JWT"},
		{"jwt algorithm in lower case", `"security":{"auth_type":"jwt","jwt":{"secret":"s3cret","algorithm":"hs256"}}`, []string{"Authorization", token(valid, "s3cret", jwt.SigningMethodHS256)}, "{}", ""},
		{"one of several content types", `"content_types":["application/xml","application/json"],` + open, nil, "{}", ""},
		{"none of several content types", `"content_types":["application/xml","text/plain"],` + open, nil, "{}", "Invalid Content-Type"},
		{"spaces around text", `"schema":{"body":{"properties":{"a":{"type":"number"},"b":{"type":"boolean"},"c":{"type":"object"}}}},` + open, nil, `{"a":" 7 ","b":" TRUE ","c":" {} "}`, ""},
		{"text of another content type", `"schema":{"body":{"properties":{"a":{"type":"object"}}}},` + open, nil, `{"a":"[1]"}`, "body.a auto-cast failed"},
		{"null", `"schema":{"body":{"properties":{"a":{"type":"string"}}}},` + open, nil, `{"a":null}`, "body.a type mismatch: expected string, got NoneType"},
		{"body that is a list", `"schema":{"body":{"properties":{"a":{"type":"string"}},"required":["a"]}},` + open, nil, `[1]`, "body missing required field: a"},
		{"content type", `"content_types":"application/xml",` + open, nil, "{}", "Invalid Content-Type"},
		{"status", `"response":{"status":500},` + open, nil, "{}", "Invalid response status code: 500"},
		{
			"status that is not a number",
			`"response":{"status":"abc"},` + open, nil, "{}", "Invalid response status code: abc",
		},
		{"missing field", `"schema":{"body":{"properties":{"a":{"type":"string"}},"required":["a"]}},` + open, nil, "{}", "body missing required field: a"},
		{"wrong type", `"schema":{"body":{"properties":{"a":{"type":"string"}}}},` + open, nil, `{"a":7}`, "body.a type mismatch: expected string, got int"},
		{"text that is not a number", `"schema":{"query":{"properties":{"a":{"type":"number"}}}},` + open, nil, `{}`, "query.a auto-cast failed"},
		{"list with elements of the wrong type", `"schema":{"body":{"properties":{"a":{"type":"array<number>"}}}},` + open, nil, `{"a":[1,"x"]}`, "body.a type mismatch"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s.T = t
			id := s.Canvas(test.name, apitest.Hook(test.options))
			for _, path := range []string{"/api/v1/webhook/" + id, "/0.27/api/v1/agents/" + id + "/webhook"} {
				a := s.Request("POST", path+"?a=x", "", test.body, test.header...)
				if test.want == "" {
					require.Equal(t, 200, a.Status, a.Text)
					continue
				}
				require.Equal(t, 400, a.Status, a.Text)
				require.Equal(t, 400, a.Code())
				require.Contains(t, a.Message(), test.want)
			}
		})
	}
	s.T = t
	pipeline := s.Good(s.Post("/v1/canvas/set", `{"title":"flow","canvas_category":"dataflow_canvas","dsl":`+apitest.Hook(open)+`}`)).Data().Get("id").Str()
	require.Equal(t, "Dataflow can not be triggered by webhook.", s.Request("POST", "/api/v1/webhook/"+pipeline, "", "{}").Message())
	require.Equal(t, "Canvas not found.", s.Request("POST", "/api/v1/webhook/"+apitest.Nowhere, "", "").Message())
	require.Equal(t, "Webhook not configured for this agent.", s.Request("POST", "/api/v1/webhook/"+s.Canvas("plain", apitest.Echo), "", "").Message())
}

func TestWebhookAnswers(t *testing.T) {
	s := apitest.New(t)
	a := s.Request("POST", "/api/v1/webhook/"+s.Canvas("w1", apitest.Hook(`"execution_mode":"Streaming","schema":{"body":{"properties":{"x":{"type":"number"},"y":{"type":"array"}}}},`+open)), "", `{"x":"7","z":1}`)
	require.Equal(t, 200, a.Status)
	require.Equal(t, `{"message": "got {\"x\": 7, \"y\": []}", "success": true, "code": 200}`, a.Text)
	a = s.Request("POST", "/api/v1/webhook/"+s.Canvas("w2", apitest.Hook(`"response":{"status":201,"body_template":"{\"a\":1}"},`+open)), "", `{}`)
	require.Equal(t, 201, a.Status)
	require.Equal(t, `{"a": 1}`, a.Text)
	a = s.Request("POST", "/api/v1/webhook/"+s.Canvas("w3", apitest.Hook(`"response":{"status":202,"body_template":"thanks"},`+open)), "", `{}`)
	require.Equal(t, 202, a.Status)
	require.Equal(t, "thanks", a.Text)
	a = s.Request("POST", "/api/v1/webhook/"+s.Canvas("w4", apitest.Hook(`"execution_mode":"Streaming","schema":{"body":{"properties":{"f":{"type":"string"}}}},`+open)), "", "f=a+b", "Content-Type", "application/x-www-form-urlencoded")
	require.Equal(t, `got {"f": "a b"}`, a.Message())

	var body strings.Builder
	w := multipart.NewWriter(&body)
	for range 11 {
		part, err := w.CreateFormFile("doc", "a.txt")
		require.NoError(t, err)
		_, _ = part.Write([]byte("tea"))
	}
	require.NoError(t, w.Close())
	a = s.Request("POST", "/api/v1/webhook/"+s.Canvas("w5", apitest.Hook(`"execution_mode":"Streaming","schema":{"body":{"properties":{"doc":{"type":"file"}}}},`+open)), "", body.String(), "Content-Type", w.FormDataContentType())
	require.Equal(t, 200, a.Status)
	require.Equal(t, 10, strings.Count(a.Message(), "tea"))
}

// TestWebhookPublicKeys proves requests by keys of which the webhook knows the
// public half.
func TestWebhookPublicKeys(t *testing.T) {
	s := apitest.New(t)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	ecKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	_, edKey, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	public := func(key crypto.Signer) string {
		der, err := x509.MarshalPKIXPublicKey(key.Public())
		require.NoError(t, err)
		return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	}
	made := 0
	send := func(algorithm, secret string, method jwt.SigningMethod, key any) apitest.Answer {
		security := engine.Object("auth_type", "jwt", "jwt", engine.Object("secret", secret, "algorithm", algorithm))
		made++
		id := s.Canvas(strconv.Itoa(made), apitest.Hook(`"security":`+security.JSON()))
		text, err := jwt.NewWithClaims(method, jwt.MapClaims{"role": "x"}).SignedString(key)
		require.NoError(t, err)
		return s.Request("POST", "/api/v1/webhook/"+id, "", "{}", "Authorization", "Bearer "+text)
	}
	for _, c := range []struct {
		method jwt.SigningMethod
		key    crypto.Signer
	}{{jwt.SigningMethodRS256, rsaKey}, {jwt.SigningMethodPS384, rsaKey}, {jwt.SigningMethodES256, ecKey}, {jwt.SigningMethodEdDSA, edKey}} {
		require.Equal(t, 200, send(c.method.Alg(), public(c.key), c.method, c.key).Status, c.method.Alg())
	}
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	require.Contains(t, send("RS256", public(other), jwt.SigningMethodRS256, rsaKey).Message(), "Invalid JWT")
	require.Contains(t, send("RS384", "no key", jwt.SigningMethodRS384, rsaKey).Message(), "the key of this webhook cannot be used")
	// A signature made with the public key must not be accepted.
	pub := public(rsaKey)
	require.Contains(t, send("RS512", pub, jwt.SigningMethodHS512, []byte(pub)).Message(), "Invalid JWT")
	require.Contains(t, send("HS256", pub, jwt.SigningMethodHS256, []byte(pub)).Message(), "a public key cannot be the shared secret")
}

func TestWebhookRate(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("w", apitest.Hook(`"security":{"auth_type":"none","allow_anonymous":true,"rate_limit":{"limit":2,"per":"hour"}}`))
	for i := range 3 {
		a := s.Request("POST", "/api/v1/webhook/"+id, "", "{}")
		if i < 2 {
			require.Equal(t, 200, a.Status)
			continue
		}
		require.Equal(t, "Rate limit error: Too many requests (rate limit exceeded)", a.Message())
	}
}

func TestWebhookTrace(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("w", apitest.Hook(open))
	trace := "/api/v1/webhook_trace/" + id
	a := s.Good(s.Get(trace))
	since := a.Data().Get("next_since_ts").Text()
	require.True(t, a.Data().Get("webhook_id").IsNull())
	require.Equal(t, 401, s.Request("POST", "/api/v1/webhook_test/"+id, "", "{}").Status)
	require.Equal(t, 200, s.Post("/api/v1/webhook_test/"+id, "{}").Status)
	a = s.Good(s.Get(trace + "?since_ts=" + since))
	run := a.Data().Get("webhook_id").Str()
	require.NotEmpty(t, run)
	since = a.Data().Get("next_since_ts").Text()
	var kinds []string
	require.Eventually(t, func() bool {
		a = s.Good(s.Get(trace + "?since_ts=" + since + "&webhook_id=" + run))
		for _, e := range a.Data().Get("events").Elements() {
			kinds = append(kinds, e.Get("event").Str())
		}
		since = a.Data().Get("next_since_ts").Text()
		return a.Data().Get("finished").True()
	}, 2*time.Minute, 5*time.Millisecond)
	require.Equal(t, "workflow_started", kinds[0])
	require.Equal(t, "workflow_finished finished", strings.Join(kinds[len(kinds)-2:], " "))
	require.True(t, s.Good(s.Get(trace+"?since_ts=1&webhook_id=unknown")).Data().Get("finished").True())

	// A test that is refused is no run to wait for.
	refused := s.Canvas("refused", apitest.Hook(`"security":{"auth_type":"none"}`))
	require.Equal(t, 400, s.Post("/api/v1/webhook_test/"+refused, "{}").Status)
	require.True(t, s.Good(s.Get("/api/v1/webhook_trace/"+refused+"?since_ts=0")).Data().Get("webhook_id").IsNull())
}

// signedToken is a JWT with a secret.
func signedToken(t *testing.T, secret string) string {
	text, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"role": "x"}).SignedString([]byte(secret))
	require.NoError(t, err)
	return text
}
