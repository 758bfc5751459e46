package webhook_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// presetHeaders are the headers with which each sender proves a body.
func presetHeaders(preset, secret, body string) []string {
	at, id := fmt.Sprint(time.Now().Unix()), "msg_1"
	hexed := func(text string) string { return hex.EncodeToString(mac(sha256.New, secret, text)) }
	based := func(key, text string) string { return base64.StdEncoding.EncodeToString(mac(sha256.New, key, text)) }
	switch preset {
	case "github", "meta":
		return []string{"X-Hub-Signature-256", "sha256=" + hexed(body)}
	case "gitlab":
		return []string{"X-Gitlab-Token", secret}
	case "stripe":
		return []string{"Stripe-Signature", "t=" + at + ",v1=" + hexed(at+"."+body)}
	case "slack":
		return []string{"X-Slack-Request-Timestamp", at, "X-Slack-Signature", "v0=" + hexed("v0:"+at+":"+body)}
	case "shopify":
		return []string{"X-Shopify-Hmac-Sha256", based(secret, body)}
	}
	key, err := base64.StdEncoding.DecodeString(secret)
	if err != nil {
		return nil
	}
	return []string{
		"webhook-id", id, "webhook-timestamp", at, "webhook-signature", "v1," + based(string(key), id+"."+at+"."+body),
	}
}

// Each preset proves the requests of its sender, and refuses copies of those whose time is signed.
func TestPresetsProveTheirSenders(t *testing.T) {
	s := apitest.New(t)
	listed := s.As("one", "POST", "/api/v2/hook-presets", `{}`, 200).Get("items")
	require.Equal(t, 7, listed.Len())
	for _, preset := range app.WebhookPresets() {
		t.Run(preset.Name, func(t *testing.T) {
			secret := base64.StdEncoding.EncodeToString([]byte("key of " + preset.Name))
			section, member := preset.Security.Get("auth_type").Str(), "secret"
			if section == "token" {
				member = "token_value"
			}
			require.Equal(t, section+"."+member, preset.Key)
			proof := preset.Security.Get(section).With(member, engine.String(secret))
			security := preset.Security.With(section, proof)
			id := s.Canvas("hook "+preset.Name, hookSaying(`"security":`+security.JSON(), "got {begin@raw_body}"))
			path := "/api/v1/webhook/" + id
			send := func(body string, header []string) apitest.Answer {
				return s.Request("POST", path, "", body, header...)
			}
			const body = `{"a":1}`
			header := presetHeaders(preset.Name, secret, body)
			require.NotEmpty(t, header)
			require.Equal(t, 400, send(body, nil).Status)
			if section == "hmac" {
				require.Contains(t, send(body+" ", header).Text, "Invalid signature")
			}
			runs := func() string { return s.Get("/api/v2/runs?canvas=" + id).Body.Get("total").Text() }
			require.Equal(t, "0", runs())
			require.Equal(t, 200, send(body, header).Status)
			again := send(body, header)
			if preset.Once {
				require.Equal(t, 400, again.Status)
				require.Contains(t, again.Text, "has started a run before")
				require.Equal(t, "1", runs())
				return
			}
			require.Equal(t, 200, again.Status)
			require.Equal(t, "2", runs())
		})
	}
}

// The settings of a preset are recognised by their meaning.
func TestPresetsAreRecognised(t *testing.T) {
	const ofStripe = `{"auth_type":"hmac","hmac":{"secret":"x","header":"Stripe-Signature","prefix":"v1=",` +
		`"timestamp_prefix":"t="}}`
	for security, want := range map[string][]string{
		`{}`:                   {},
		`{"auth_type":"none"}`: {},
		ofStripe:               {"stripe"},
		`{"auth_type":"hmac","hmac":{"secret":"x"}}`:                    {"github", "meta"},
		`{"auth_type":"hmac","hmac":{"secret":"x","algorithm":"sha1"}}`: {},
	} {
		v, err := engine.ParseJSONText(security)
		require.NoError(t, err)
		require.Equal(t, want, app.WebhookPresetOf(v), security)
	}
	for _, p := range app.WebhookPresets() {
		require.Contains(t, app.WebhookPresetOf(p.Security.With("rate_limit", engine.Object("limit", 5))), p.Name)
	}
}

// A canvas may accept copies of a request, and refuse copies of one without a time.
func TestOnceIsASetting(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("once", hookSaying(signed(asGitHub+`,"once":true`), "got"))
	send := func() int {
		header := []string{"X-Hub-Signature-256", githubSignature}
		return s.Request("POST", "/api/v1/webhook/"+id, "", githubPayload, header...).Status
	}
	require.Equal(t, 200, send())
	require.Equal(t, 400, send())
}
