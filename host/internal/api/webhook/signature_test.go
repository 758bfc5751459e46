package webhook_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/webhook"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// GitHub's own example of a signed delivery.
const (
	githubSecret    = "It's a Secret to Everybody"
	githubPayload   = "Hello, World!"
	githubSignature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
)

// mac is the code of a text, in bytes.
func mac(of func() hash.Hash, secret, text string) []byte {
	m := hmac.New(of, []byte(secret))
	m.Write([]byte(text))
	return m.Sum(nil)
}

// hookSaying is a canvas that answers with content; options are members of its Begin.
func hookSaying(options, content string) string {
	return sketch.Canvas(`begin Begin {"mode":"Webhook","execution_mode":"Streaming",`+options+`} -> Message:A`,
		`Message:A Message `+engine.Object("content", engine.Strings(content)).JSON())
}

// signed is a security section that checks signatures; settings are members of hmac.
func signed(settings string) string {
	return `"security":{"auth_type":"hmac","hmac":{` + settings + `},"rate_limit":{"limit":1000,"per":"second"}}`
}

const asGitHub = `"secret":"` + githubSecret + `"`

func TestWebhookSignedAsByGitHub(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("hub", hookSaying(signed(asGitHub), "got {begin@raw_body} of {begin@raw_headers.X-Github-Event}"))
	for _, path := range []string{"/api/v1/webhook/" + id, "/0.27/api/v1/agents/" + id + "/webhook"} {
		send := func(body string, header ...string) apitest.Answer {
			return s.Request("POST", path, "", body, append([]string{"X-GitHub-Event", "push"}, header...)...)
		}
		a := send(githubPayload, "X-Hub-Signature-256", githubSignature)
		require.Equal(t, 200, a.Status, a.Text)
		require.Equal(t, "got Hello, World! of push", a.Message())
		for name, wrong := range map[string][]string{
			"another body":         {"Hello, World?", "X-Hub-Signature-256", githubSignature},
			"a longer body":        {githubPayload + "\n", "X-Hub-Signature-256", githubSignature},
			"no body":              {"", "X-Hub-Signature-256", githubSignature},
			"another digit":        {githubPayload, "X-Hub-Signature-256", githubSignature[:70] + "8"},
			"a short signature":    {githubPayload, "X-Hub-Signature-256", githubSignature[:69]},
			"no digits":            {githubPayload, "X-Hub-Signature-256", "sha256="},
			"an empty header":      {githubPayload, "X-Hub-Signature-256", ""},
			"no header":            {githubPayload},
			"another header":       {githubPayload, "X-Signature", githubSignature},
			"another hash":         {githubPayload, "X-Hub-Signature-256", "sha1=" + githubSignature[7:]},
			"another key":          {githubPayload, "X-Hub-Signature-256", "sha256=" + hex.EncodeToString(mac(sha256.New, "", githubPayload))},
			"the key of no secret": {githubPayload, "X-Hub-Signature-256", "sha256=" + hex.EncodeToString(mac(sha256.New, "null", githubPayload))},
			"base64":               {githubPayload, "X-Hub-Signature-256", "sha256=" + base64.StdEncoding.EncodeToString(mac(sha256.New, githubSecret, githubPayload))},
		} {
			a := send(wrong[0], wrong[1:]...)
			require.Equal(t, 400, a.Status, name)
			require.Equal(t, 400, a.Code(), name)
			require.Contains(t, a.Message(), "signature", name)
			require.NotContains(t, a.Text, "757107ea", "an answer must not tell the signature")
		}
	}
}

func TestWebhookSignatureSettings(t *testing.T) {
	s := apitest.New(t)
	const body = `{"b": 1,  "a":"é"}`
	now := fmt.Sprint(time.Now().Unix())
	old := fmt.Sprint(time.Now().Add(-10 * time.Minute).Unix())
	slack := func(at string) string {
		return "v0=" + hex.EncodeToString(mac(sha256.New, "k", "v0:"+at+":"+body))
	}
	const asSlack = `"secret":"k","header":"X-Slack-Signature","prefix":"v0=","timestamp_header":"X-Slack-Request-Timestamp","payload":"v0:{timestamp}:{body}"`
	for _, c := range []struct {
		name, settings string
		header         []string
		want           string // "" is success
	}{
		{"custom header", `"secret":"k","header":"X-Gitea-Signature"`, []string{"X-Gitea-Signature", hex.EncodeToString(mac(sha256.New, "k", body))}, ""},
		{"upper-case digits", `"secret":"k"`, []string{"X-Hub-Signature-256", "sha256=" + strings.ToUpper(hex.EncodeToString(mac(sha256.New, "k", body)))}, ""},
		{"optional prefix is missing", `"secret":"k"`, []string{"X-Hub-Signature-256", hex.EncodeToString(mac(sha256.New, "k", body))}, ""},
		{"required prefix is missing", `"secret":"k","prefix":"sha256="`, []string{"X-Hub-Signature-256", hex.EncodeToString(mac(sha256.New, "k", body))}, `signature header X-Hub-Signature-256 must begin with "sha256="`},
		{"without a prefix", `"secret":"k","prefix":""`, []string{"X-Hub-Signature-256", "sha256=" + hex.EncodeToString(mac(sha256.New, "k", body))}, "is not hex"},
		{"base64", `"secret":"k","header":"X-Shopify-Hmac-Sha256","encoding":"base64"`, []string{"X-Shopify-Hmac-Sha256", base64.StdEncoding.EncodeToString(mac(sha256.New, "k", body))}, ""},
		{"sha512", `"secret":"k","algorithm":"SHA512"`, []string{"X-Hub-Signature-256", "sha512=" + hex.EncodeToString(mac(sha512.New, "k", body))}, ""},
		{"unknown algorithm", `"secret":"k","algorithm":"md5"`, nil, `hmac.algorithm "md5" is not supported (one of sha256, sha512, sha1)`},
		{"unknown encoding", `"secret":"k","encoding":"utf-8"`, nil, `hmac.encoding "utf-8" is not supported (one of hex, base64)`},
		{"missing secret", `"header":"X"`, []string{"X", "a"}, "HMAC secret not configured"},
		{"empty secret", `"secret":""`, []string{"X-Hub-Signature-256", "sha256=" + hex.EncodeToString(mac(sha256.New, "", body))}, "HMAC secret not configured"},
		{"missing settings", ``, nil, "HMAC secret not configured"},
		{"timestamp", asSlack, []string{"X-Slack-Signature", slack(now), "X-Slack-Request-Timestamp", now}, ""},
		{"timestamp that is not signed", asSlack, []string{"X-Slack-Signature", slack(old), "X-Slack-Request-Timestamp", now}, "signature"},
		{"old timestamp", asSlack, []string{"X-Slack-Signature", slack(old), "X-Slack-Request-Timestamp", old}, "more than 300 seconds"},
		{"old timestamp within the tolerance", asSlack + `,"tolerance":3600`, []string{"X-Slack-Signature", slack(old), "X-Slack-Request-Timestamp", old}, ""},
		{"missing timestamp", asSlack, []string{"X-Slack-Signature", slack(now)}, "timestamp header X-Slack-Request-Timestamp"},
		{"timestamp that is not a number", asSlack, []string{"X-Slack-Signature", slack("now"), "X-Slack-Request-Timestamp", "now"}, "timestamp header X-Slack-Request-Timestamp"},
		{
			"a timestamp beside an unsigned payload", `"secret":"k","timestamp_header":"T"`,
			[]string{"T", now, "X-Hub-Signature-256", "sha256=" + hex.EncodeToString(mac(sha256.New, "k", now+"."+body))},
			"",
		},
		{"payload template without the body", `"secret":"k","payload":"x"`, nil, "hmac.payload must contain {body}"},
		{"payload template without the timestamp", `"secret":"k","timestamp_header":"T","payload":"{body}"`, nil, "hmac.payload must contain {timestamp}"},
		{"payload template with a timestamp that is not configured", `"secret":"k","payload":"{timestamp}{body}"`, nil, "hmac.timestamp_header"},
		{"tolerance without a value", `"secret":"k","timestamp_header":"T","tolerance":0`, nil, "hmac.tolerance"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.T = t
			id := s.Canvas(c.name, apitest.Hook(signed(c.settings)))
			a := s.Request("POST", "/api/v1/webhook/"+id, "", body, c.header...)
			if c.want == "" {
				require.Equal(t, 200, a.Status, a.Text)
				return
			}
			require.Equal(t, 400, a.Status, a.Text)
			require.Contains(t, strings.ToLower(a.Message()), strings.ToLower(c.want))
		})
	}
}

// A signature covers the bytes as they arrived, of any content type.
func TestWebhookSignatureIsOverRawBytes(t *testing.T) {
	s := apitest.New(t)
	schema := `"schema":{"body":{"properties":{"a":{"type":"string"},"doc":{"type":"file"}}}},`
	id := s.Canvas("raw", hookSaying(schema+signed(asGitHub), "{begin@body} | {begin@raw_encoding} | {begin@raw_body}"))
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	require.NoError(t, w.WriteField("a", "1"))
	part, err := w.CreateFormFile("doc", "a.txt")
	require.NoError(t, err)
	_, _ = part.Write([]byte("tea"))
	require.NoError(t, w.Close())
	for _, c := range []struct{ kind, body, want string }{
		{"application/json", " {\"a\" : \"x\",\n\"b\":1.0} ", "{\"a\": \"x\", \"doc\": []} | utf-8 |  {\"a\" : \"x\",\n\"b\":1.0} "},
		{"application/x-www-form-urlencoded", "b=2&a=x%20y", `{"a": "x y", "doc": []} | utf-8 | b=2&a=x%20y`},
		{"application/octet-stream", "\xff\x00\xfe", `{"a": "", "doc": []} | base64 | /wD+`},
		{w.FormDataContentType(), form.String(), "tea\"]} |  |"},
	} {
		signature := "sha256=" + hex.EncodeToString(mac(sha256.New, githubSecret, c.body))
		a := s.Request("POST", "/api/v1/webhook/"+id, "", c.body, "Content-Type", c.kind, "X-Hub-Signature-256", signature)
		require.Equal(t, 200, a.Status, a.Text)
		require.Contains(t, a.Message()+" ", c.want, c.kind)
		a = s.Request("POST", "/api/v1/webhook/"+id, "", c.body+" ", "Content-Type", c.kind, "X-Hub-Signature-256", signature)
		require.Equal(t, 400, a.Status, c.kind)
	}
}

// The proof of a request is for the host; the canvas gets the other headers.
func TestWebhookHeadersReachTheCanvasWithoutProofs(t *testing.T) {
	s := apitest.New(t)
	const byToken = `"schema":{"headers":{"properties":{"x-event":{"type":"string"}}}},
		"security":{"auth_type":"token","token":{"token_header":"X-Token","token_value":"SECRET"}}`
	id := s.Canvas("h", hookSaying(byToken, "{begin@headers} {begin@raw_headers}"))
	a := s.Request("POST", "/api/v1/webhook/"+id, "", "{}", "X-Token", "SECRET", "X-Event", "push", "Authorization", "SECRET", "Cookie", "a=SECRET")
	require.Equal(t, 200, a.Status, a.Text)
	require.Contains(t, a.Message(), `{"x-event": "push"}`)
	require.Contains(t, a.Message(), `"X-Event": "push"`)
	runs := s.Get("/api/v2/runs?canvas=" + id).Body.Get("items")
	records := s.Get("/api/v2/runs/" + runs.At(0).Get("id").Str() + "/events").Text
	require.Contains(t, records, "X-Event")
	require.NotContains(t, a.Text+records, "SECRET")
}

// Requests without a valid proof do not count against the rate limit.
func TestWebhookProofComesBeforeItsRate(t *testing.T) {
	loopback, err := api.ParseProxies([]string{"127.0.0.0/8"})
	require.NoError(t, err)
	s := apitest.New(t, func(c *apitest.Config) { c.TrustedProxies = loopback })
	const rate = `"rate_limit":{"limit":2,"per":"hour"}`
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("u:p"))
	for name, c := range map[string]struct {
		security string
		proof    []string
	}{
		"token": {`"auth_type":"token","token":{"token_header":"X-T","token_value":"v"},`, []string{"X-T", "v"}},
		"basic": {`"auth_type":"basic","basic_auth":{"username":"u","password":"p"},`, []string{"Authorization", basic}},
		"hmac":  {`"auth_type":"hmac","hmac":{` + asGitHub + `},`, []string{"X-Hub-Signature-256", githubSignature}},
		"jwt":   {`"auth_type":"jwt","jwt":{"secret":"s"},`, []string{"Authorization", "Bearer " + signedToken(t, "s")}},
		"range": {`"ip_whitelist":["203.0.113.9"],"auth_type":"none","allow_anonymous":true,`, []string{"X-Forwarded-For", "203.0.113.9"}},
	} {
		path := "/api/v1/webhook/" + s.Canvas(name, apitest.Hook(`"security":{`+c.security+rate+`}`))
		for range 5 {
			require.Equal(t, 400, s.Request("POST", path, "", githubPayload).Status, name)
		}
		for range 2 {
			require.Equal(t, 200, s.Request("POST", path, "", githubPayload, c.proof...).Status, name)
		}
		a := s.Request("POST", path, "", githubPayload, c.proof...)
		require.Equal(t, "Rate limit error: Too many requests (rate limit exceeded)", a.Message(), name)
	}
}

// Tokens and passwords can be weak, so wrong ones are bounded by address.
func TestWebhookGuessesAreBounded(t *testing.T) {
	s := apitest.New(t)
	path := "/api/v1/webhook/" + s.Canvas("w", apitest.Hook(`"security":{"auth_type":"token","token":{"token_header":"X-T","token_value":"v"}}`))
	other := "/api/v1/webhook/" + s.Canvas("o", apitest.Hook(`"security":{"auth_type":"token","token":{"token_header":"X-T","token_value":"v"}}`))
	wrong := 0
	for range 100 {
		if s.Request("POST", path, "", "{}", "X-T", "guess").Message() == "Invalid token authentication" {
			wrong++
		}
	}
	require.InDelta(t, 60, wrong, 10)
	require.Equal(t, 200, s.Request("POST", other, "", "{}", "X-T", "v").Status, "of one webhook")
}

// The keys of webhooks may be secrets of the tenant, which the canvas only names.
func TestWebhookKeysMayBeSecrets(t *testing.T) {
	s := apitest.New(t)
	require.NoError(t, s.Store.Secrets.Put(t.Context(), "one", "HOOK", []byte(githubSecret), nil))
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("u:"+githubSecret))
	for name, c := range map[string]struct {
		security string
		proof    []string
	}{
		"token": {`"auth_type":"token","token":{"token_header":"X-T","token_value":"Key {{secret:HOOK}}"}`, []string{"X-T", "Key " + githubSecret}},
		"basic": {`"auth_type":"basic","basic_auth":{"username":"u","password":"{{secret:HOOK}}"}`, []string{"Authorization", basic}},
		"jwt":   {`"auth_type":"jwt","jwt":{"secret":"{{secret:HOOK}}"}`, []string{"Authorization", "Bearer " + signedToken(t, githubSecret)}},
		"hmac":  {`"auth_type":"hmac","hmac":{"secret":"{{secret:HOOK}}"}`, []string{"X-Hub-Signature-256", githubSignature}},
	} {
		path := "/api/v1/webhook/" + s.Canvas(name, apitest.Hook(`"security":{`+c.security+`}`))
		a := s.Request("POST", path, "", githubPayload, c.proof...)
		require.Equal(t, 200, a.Status, "%s: %s", name, a.Text)
	}
	for _, stranger := range []string{"{{secret:HOOK}}", "Key {{secret:HOOK}}", ""} {
		path := "/api/v1/webhook/" + s.Canvas("as text "+stranger, apitest.Hook(`"security":{"auth_type":"token","token":{"token_header":"X-T","token_value":"{{secret:HOOK}}"}}`))
		require.Equal(t, 400, s.Request("POST", path, "", githubPayload, "X-T", stranger).Status)
	}
	path := "/api/v1/webhook/" + s.Canvas("gone", apitest.Hook(signed(`"secret":"{{secret:GONE}}"`)))
	a := s.Request("POST", path, "", githubPayload, "X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac(sha256.New, "", githubPayload)))
	require.Equal(t, 400, a.Status)
	require.Contains(t, a.Message(), `secret "GONE"`)
}

// signedRequest is a request with a signature in its headers.
type signedRequest struct {
	header http.Header
	body   string
}

// proves checks a request as checkSignature does, at a time.
func (r signedRequest) proves(t *testing.T, settings string, at int64) error {
	t.Helper()
	v, err := engine.ParseJSON([]byte(settings))
	require.NoError(t, err)
	require.NoError(t, webhook.ReadSignature(v))
	time.Sleep(time.Until(time.Unix(at, 0)))
	return webhook.CheckSignature(v, r.header, r.body)
}

// with is the request with other headers.
func (r signedRequest) with(pairs ...string) signedRequest {
	r.header = r.header.Clone()
	for i := 0; i < len(pairs); i += 2 {
		r.header.Set(pairs[i], pairs[i+1])
	}
	return r
}

// The examples that senders publish, each with the time it was made at.
func TestPublishedSignatures(t *testing.T) {
	for name, c := range map[string]struct {
		settings string
		at       int64
		headers  []string
		body     string
	}{
		"Standard Webhooks": {
			`{"secret":"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw","secret_encoding":"base64","header":"webhook-signature",
			  "prefix":"v1,","encoding":"base64","timestamp_header":"webhook-timestamp",
			  "payload":"{header:webhook-id}.{timestamp}.{body}"}`,
			1614265330,
			[]string{
				"webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp", "1614265330",
				"webhook-signature", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
			},
			`{"test": 2432232314}`,
		},
		"Slack": {
			`{"secret":"8f742231b10e8888abcd99yyyzzz85a5","header":"X-Slack-Signature","prefix":"v0=",
			  "timestamp_header":"X-Slack-Request-Timestamp","payload":"v0:{timestamp}:{body}"}`,
			1531420618,
			[]string{
				"X-Slack-Request-Timestamp", "1531420618",
				"X-Slack-Signature", "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
			},
			"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V" +
				"&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=" +
				"&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554" +
				"%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c",
		},
		"GitHub": {
			`{"secret":"` + githubSecret + `"}`, 1700000000, []string{"X-Hub-Signature-256", githubSignature}, githubPayload,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := signedRequest{http.Header{}, c.body}.with(c.headers...)
				require.NoError(t, r.proves(t, c.settings, c.at))
				other := r
				other.body += " "
				require.ErrorContains(t, other.proves(t, c.settings, c.at), "Invalid signature")
				for i := 0; i < len(c.headers); i += 2 {
					require.Error(t, r.with(c.headers[i], c.headers[i+1]+"1").proves(t, c.settings, c.at), c.headers[i])
				}
			})
		})
	}
}

const asStripe = `{"secret":"new","header":"Stripe-Signature","prefix":"v1=","timestamp_prefix":"t="}`

// stripe is a header as Stripe makes it, with a signature for each key.
func stripe(at int64, body string, keys ...string) string {
	parts := []string{fmt.Sprint("t=", at)}
	for _, key := range keys {
		parts = append(parts, "v1="+hex.EncodeToString(mac(sha256.New, key, fmt.Sprint(at, ".", body))))
	}
	return strings.Join(append(parts, "v0="+strings.Repeat("6f", 32)), ",")
}

// While a sender changes its key, a request has a signature for each; one that fits is enough.
func TestOneOfSeveralSignaturesIsEnough(t *testing.T) {
	const body, at = `{"id":"evt_1"}`, 1700000000
	request := func(header string) signedRequest {
		return signedRequest{http.Header{"Stripe-Signature": {header}}, body}
	}
	synctest.Test(t, func(t *testing.T) {
		for name, header := range map[string]string{
			"one":                stripe(at, body, "new"),
			"the new one first":  stripe(at, body, "new", "old"),
			"the new one last":   stripe(at, body, "old", "older", "new"),
			"beside what is not": strings.Replace(stripe(at, body, "new"), ",", ",v1=x,v1=,", 1),
			"with blanks":        strings.ReplaceAll(stripe(at, body, "old", "new"), ",", ", "),
		} {
			require.NoError(t, request(header).proves(t, asStripe, at), name)
		}
		several := request(stripe(at, body, "old"))
		several.header.Add("Stripe-Signature", strings.Split(stripe(at, body, "new"), ",")[1])
		require.NoError(t, several.proves(t, asStripe, at), "in a header each")

		right := strings.Split(stripe(at, body, "new"), ",")[1]
		for name, header := range map[string]string{
			"of other keys":        stripe(at, body, "old", "older"),
			"of another body":      stripe(at, body+" ", "old", "new"),
			"of another scheme":    strings.ReplaceAll(stripe(at, body, "new"), "v1=", "v0="),
			"of another time":      fmt.Sprint("t=", at+1, ",", right),
			"with two times":       fmt.Sprint("t=", at, ",t=", at+1, ",", right),
			"without a time":       right,
			"with an old time":     stripe(at-301, body, "new"),
			"with an unsaid time":  "t=," + right,
			"half a signature":     fmt.Sprint("t=", at, ",", right[:40]),
			"a signature in parts": fmt.Sprint("t=", at, ",", right[:40], ",v1=", right[40:]),
			"no signature":         fmt.Sprint("t=", at),
			"nothing":              "",
		} {
			err := request(header).proves(t, asStripe, at)
			require.Error(t, err, name)
			require.NotContains(t, err.Error(), right[3:20], name)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		const settings = `{"secret":"k","header":"webhook-signature","prefix":"v1,","encoding":"base64"}`
		sign := func(key string) string {
			return "v1," + base64.StdEncoding.EncodeToString(mac(sha256.New, key, body))
		}
		for header, want := range map[string]bool{
			sign("old") + " " + sign("k"): true, "v1a,AAAA " + sign("k"): true,
			sign("old") + " " + sign("older"): false, sign("old") + "," + sign("k"): false,
		} {
			r := signedRequest{http.Header{"Webhook-Signature": {header}}, body}
			require.Equal(t, want, r.proves(t, settings, at) == nil, header)
		}
	})
}

// What is put into the signed text is not read for placeholders again.
func TestSignedPlaceholdersAreReadOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const settings = `{"secret":"k","header":"S","payload":"{header:X-Id}:{body}"}`
		sign := func(text string) string { return hex.EncodeToString(mac(sha256.New, "k", text)) }
		r := signedRequest{http.Header{"X-Id": {"{body}"}, "S": {sign("{body}:text")}}, "text"}
		require.NoError(t, r.proves(t, settings, 1700000000))
		r.header.Set("S", sign("text:text"))
		require.Error(t, r.proves(t, settings, 1700000000))
	})
}

func TestSignatureSettingsOfSeveral(t *testing.T) {
	for settings, want := range map[string]string{
		`{"secret":"k","timestamp_header":"T","timestamp_prefix":"t="}`: "exclude each other",
		`{"secret":"k","timestamp_prefix":"t=","payload":"{body}"}`:     "hmac.payload must contain {timestamp}",
		`{"secret":"k","secret_encoding":"hex"}`:                        `"hex" is not supported (one of text, base64)`,
		`{"secret":"whsec_***","secret_encoding":"base64"}`:             "hmac.secret is not base64",
		`{"secret":"whsec_","secret_encoding":"base64"}`:                "hmac.secret is not base64",
	} {
		v, err := engine.ParseJSON([]byte(settings))
		require.NoError(t, err)
		err = webhook.ReadSignature(v)
		require.ErrorContains(t, err, want, settings)
		require.NotContains(t, err.Error(), "***")
	}
}
