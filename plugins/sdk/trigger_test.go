package sdk

import (
	"strings"
	"testing"
)

// TestTriggerIsWritten runs a trigger like a host: the request of a webhook is in the arguments,
// and items and response are outputs.
func TestTriggerIsWritten(t *testing.T) {
	before := registered
	t.Cleanup(func() { registered = before })
	about := Manifest{Name: "hook", Version: "1.0.0", Trigger: "webhook"}
	Register(about, func(_ *Call, _ None, in Hook) (Items, error) {
		if in.Request.Headers["x-signature"] != "good" {
			return Items{}, Fail(Unauthorized, "the signature does not fit")
		}
		size := len(in.Request.Bytes())
		item := Item{ID: "e1", Query: "new", Inputs: map[string]any{"bytes": size}}
		return Items{Items: []Item{item}, Response: &HookReply{Status: 202, Body: "ok"}}, nil
	})
	manifest, err := describe()
	if err != nil || !strings.Contains(string(manifest), `"trigger":"webhook"`) {
		t.Fatalf("manifest %s, error %v", manifest, err)
	}
	send := func(request string) (string, error) {
		out, err := invoke(nil, []byte(`{"abi":1,"call":{},"params":{},"arguments":{"request":`+request+`}}`))
		return string(out), err
	}
	for _, body := range []string{`"body_base64":"/wA="`, `"body":"ab"`} {
		out, err := send(`{"method":"POST","url":"/h","query":{},"headers":{"x-signature":"good"},` + body + `}`)
		const want = `{"outputs":{"items":[{"id":"e1","query":"new","inputs":{"bytes":2}}],` +
			`"response":{"status":202,"body":"ok"}}}`
		if err != nil || out != want {
			t.Errorf("%s: %s, error %v", body, out, err)
		}
	}
	if _, err := send(`{"method":"POST","headers":{}}`); err == nil || !strings.Contains(err.Error(), "does not fit") {
		t.Errorf("a wrong signature: %v", err)
	}
}
