package app

import (
	"encoding/json"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// WebhookPreset is a sender of webhooks and how its requests are proved.
type WebhookPreset struct {
	Name  string `json:"name" jsonschema:"github, gitlab, stripe, slack, shopify, meta or standard-webhooks"`
	Title string `json:"title"`
	// Security is the security section of Begin without its key.
	Security engine.Value `json:"security" jsonschema:"security section of Begin without its key"`
	// Key is where in Security the sender's key belongs.
	Key string `json:"key" jsonschema:"path of the key in security, such as hmac.secret"`
	// Once means that an exact copy of a request starts no second run, since its time is signed.
	Once bool `json:"once" jsonschema:"an exact copy of a request starts no second run, because its time is signed"`
}

// webhookPresets are the senders whose signatures are known. A canvas stores the settings and not
// the name, so that it runs where a sender has changed its preset.
var webhookPresets = []struct{ name, title, security, key string }{
	{"github", "GitHub", `{"auth_type":"hmac","hmac":{"header":"X-Hub-Signature-256","algorithm":"sha256",` +
		`"prefix":"sha256="}}`, "hmac.secret"},
	// GitLab sends its key itself.
	{"gitlab", "GitLab", `{"auth_type":"token","token":{"token_header":"X-Gitlab-Token"}}`, "token.token_value"},
	{"stripe", "Stripe", `{"auth_type":"hmac","hmac":{"header":"Stripe-Signature","prefix":"v1=",` +
		`"timestamp_prefix":"t=","payload":"{timestamp}.{body}"}}`, "hmac.secret"},
	{"slack", "Slack", `{"auth_type":"hmac","hmac":{"header":"X-Slack-Signature","prefix":"v0=",` +
		`"timestamp_header":"X-Slack-Request-Timestamp","payload":"v0:{timestamp}:{body}"}}`, "hmac.secret"},
	{"shopify", "Shopify", `{"auth_type":"hmac","hmac":{"header":"X-Shopify-Hmac-Sha256","encoding":"base64",` +
		`"prefix":""}}`, "hmac.secret"},
	{"meta", "Meta", `{"auth_type":"hmac","hmac":{"header":"X-Hub-Signature-256","algorithm":"sha256",` +
		`"prefix":"sha256="}}`, "hmac.secret"},
	{"standard-webhooks", "Standard Webhooks", `{"auth_type":"hmac","hmac":{"header":"webhook-signature",` +
		`"prefix":"v1,","encoding":"base64","secret_encoding":"base64","timestamp_header":"webhook-timestamp",` +
		`"payload":"{header:webhook-id}.{timestamp}.{body}"}}`, "hmac.secret"},
}

// WebhookPresets returns the known senders.
func WebhookPresets() []WebhookPreset {
	list := make([]WebhookPreset, len(webhookPresets))
	for i, p := range webhookPresets {
		security, err := engine.ParseJSONText(p.security)
		if err != nil {
			panic(err) // a test reads all of them
		}
		signed := security.Get("hmac")
		once := !signed.Get("timestamp_header").IsNull() || !signed.Get("timestamp_prefix").IsNull()
		list[i] = WebhookPreset{Name: p.name, Title: p.title, Security: security, Key: p.key, Once: once}
	}
	return list
}

// signatureDefaults are the settings of a signature that may be left out.
var signatureDefaults = map[string]string{
	"header": "X-Hub-Signature-256", "algorithm": "sha256", "encoding": "hex", "secret_encoding": "text",
	"timestamp_header": "", "timestamp_prefix": "",
}

// SignatureSetting returns a setting of security.hmac as a text, or its default.
func SignatureSetting(hmac engine.Value, name string) string {
	if v := hmac.Get(name); !v.IsNull() && (name != "payload" || v.Text() != "") {
		return v.Text()
	}
	switch name {
	case "prefix":
		return strings.ToLower(SignatureSetting(hmac, "algorithm")) + "="
	case "payload":
		if SignatureSetting(hmac, "timestamp_header")+SignatureSetting(hmac, "timestamp_prefix") != "" {
			return "{timestamp}.{body}"
		}
		return "{body}"
	}
	return signatureDefaults[name]
}

// WebhookPresetOf returns the names of the presets whose settings a security section has, whatever
// its key and limits are; Meta signs as GitHub does. It is empty for settings of another sender.
func WebhookPresetOf(security engine.Value) []string {
	names := []string{}
	own := proofOf(security)
	for _, p := range WebhookPresets() {
		if own != "" && own == proofOf(p.Security) {
			names = append(names, p.Name)
		}
	}
	return names
}

// proofOf returns the settings of a security section that decide how a sender is recognised, in a
// form that is equal for equal meanings.
func proofOf(security engine.Value) string {
	kind := security.Get("auth_type").Text()
	section := security.Get(kind)
	proof := map[string]string{}
	switch kind {
	case "token":
		proof["token_header"] = section.Get("token_header").Text()
	case "hmac":
		for name := range signatureDefaults {
			proof[name] = SignatureSetting(section, name)
		}
		proof["prefix"], proof["payload"] = SignatureSetting(section, "prefix"), SignatureSetting(section, "payload")
	default:
		return ""
	}
	text, err := json.Marshal(proof) // keys are sorted
	if err != nil {
		return ""
	}
	return string(text)
}
