package webhook_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// A test call is proved with the stored key, which neither the response nor the canvas contains.
func TestCallsAreSignedForTheOwner(t *testing.T) {
	s := apitest.New(t)
	const key = "a2V5IG9mIHRoZSBzaG9w" // also base64
	s.As("one", "PUT", "/api/v2/secrets/HOOK", `{"value":"`+key+`"}`, 204)
	cases := map[string]string{
		`{"auth_type":"basic","basic_auth":{"username":"u","password":"{{secret:HOOK}}"}}`: "Authorization",
		`{"auth_type":"jwt","jwt":{"secret":"{{secret:HOOK}}","algorithm":"hs512","issuer":"shop","audience":["a","b"],
			"required_claims":"order"}}`: "Authorization",
		`{"auth_type":"jwt","jwt":{"secret":"{{secret:HOOK}}"}}`:                                       "Authorization",
		`{"auth_type":"hmac","hmac":{"secret":"{{secret:HOOK}}","algorithm":"sha512","header":"X-S"}}`: "X-S",
		`{"auth_type":"none","allow_anonymous":true}`:                                                  "",
	}
	for _, preset := range app.WebhookPresets() {
		kind, member := preset.Security.Get("auth_type").Str(), "secret"
		if kind == "token" {
			member = "token_value"
		}
		section := preset.Security.Get(kind).With(member, engine.String("{{secret:HOOK}}"))
		cases[preset.Security.With(kind, section).JSON()] = preset.Name
	}
	signed := map[string]string{
		"github": "X-Hub-Signature-256", "meta": "X-Hub-Signature-256", "gitlab": "X-Gitlab-Token",
		"stripe": "Stripe-Signature", "slack": "X-Slack-Request-Timestamp, X-Slack-Signature",
		"shopify":           "X-Shopify-Hmac-Sha256",
		"standard-webhooks": "Webhook-Id, Webhook-Signature, Webhook-Timestamp",
	}
	for security, header := range cases {
		if names, preset := signed[header]; preset {
			header = names
		}
		dsl := hookSaying(`"security":`+security, "{begin@raw_body} {begin@raw_headers}")
		id := s.Canvas("hook "+strconv.Itoa(len(security)), dsl)
		path := "/api/v1/agents/" + id + "/webhook/test"
		got := s.Request("POST", path, "one", `{"a":1}`, "X-Easel-Sign", "true")
		require.Equal(t, 200, got.Status, got.Text+security)
		require.Equal(t, header, got.Header.Get("X-Easel-Signed"), security)
		require.Contains(t, got.Text, `"a\":1`)
		require.NotContains(t, got.Text, "Easel-Sign")
		if header != "" {
			require.Equal(t, 400, s.Request("POST", path, "one", `{"a":1}`).Status, "not signed")
		}
		require.NotContains(t, got.Text, key)
		require.NotEqual(t, 200, s.Request("POST", path, "", `{}`, "X-Easel-Sign", "true").Status, "not the owner")
		open := s.Request("POST", "/api/v1/webhook/"+id, "one", `{}`, "X-Easel-Sign", "true")
		require.Equal(t, header != "", open.Status == 400, "requests from outside are never signed: "+security)
	}
	// An editor must not get a secret by reading the header that carries it.
	for _, header := range []string{"X-Foo", "Content-Type", "User-Agent", "Authorization"} {
		leak := `"security":{"auth_type":"token",
			"token":{"token_header":"` + header + `","token_value":"{{secret:HOOK}}"}},
			"schema":{"headers":{"properties":{"` + header + `":{"type":"string"}}}}`
		id := s.Canvas("hook "+header, hookSaying(leak, "{begin@headers} {begin@raw_headers} {begin@request}"))
		got := s.Request("POST", "/api/v1/agents/"+id+"/webhook/test", "one", `{"a":1}`, "X-Easel-Sign", "true")
		require.Equal(t, 200, got.Status, got.Text)
		runs := s.As("one", "GET", "/api/v2/runs?canvas="+id, "", 200).Get("items")
		events := s.Request("GET", "/api/v2/runs/"+runs.At(0).Get("id").Str()+"/events", "one", "")
		require.Contains(t, events.Text, "node_finished")
		require.NotContains(t, got.Text+events.Text, key, header)
	}
	// A guess of a key is not confirmed: the check of guesses does not count signed calls.
	guessed := s.Canvas("hook guess", hookSaying(
		`"security":{"auth_type":"token","token":{"token_header":"X-Key","token_value":"{{secret:HOOK}}"}}`, "x"))
	for _, guess := range []string{"wrong", key} {
		got := s.Request("POST", "/api/v1/webhook_test/"+guessed, "one", `{}`, "X-Easel-Sign", "true", "X-Key", guess)
		require.Equal(t, "X-Key", got.Header.Get("X-Easel-Signed"))
	}
	const public = `"security":{"auth_type":"jwt","jwt":{"secret":"x","algorithm":"RS256"}}`
	id := s.Canvas("hook rsa", hookSaying(public, "x"))
	refused := s.Request("POST", "/api/v1/webhook_test/"+id, "one", `{}`, "X-Easel-Sign", "true")
	require.Contains(t, refused.Text, "only the sender has the private key")
}
