package component

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// TestWhatPublishingNeedsIsReported: forms have fields, and webhooks accept some requests but not
// all.
func TestWhatPublishingNeedsIsReported(t *testing.T) {
	reg, err := engine.NewRegistry(Builtin()...)
	require.NoError(t, err)
	for node, want := range map[string][]string{
		`UserFillUp {"inputs":{}}`:                     {engine.CodeEmptyForm},
		`UserFillUp {}`:                                {engine.CodeEmptyForm},
		`UserFillUp {"inputs":{"a":{"type":"line"}}}`:  nil,
		`DocGenerator {"output_format":"pdf"}`:         {engine.CodeBadParam},
		`DocGenerator {"content":"{sys.query}"}`:       nil,
		`Message {"content":["{sys.query}, welcome"]}`: nil,
	} {
		dsl := sketch.Chain(`begin Begin {}`, "X:A "+node, `Message:M Message {"content":["x"]}`)
		require.Equal(t, want, codesOf(reg, dsl), node)
	}
	for security, want := range map[string][]string{
		`{"auth_type":"none"}`:                                {engine.CodeClosedWebhook},
		`{"allow_anonymous":false}`:                           {engine.CodeClosedWebhook},
		`{"auth_type":"none","allow_anonymous":true}`:         {engine.CodeOpenWebhook},
		`{"auth_type":"none","allow_anonymous":"true"}`:       {engine.CodeOpenWebhook},
		`{"auth_type":"hmac","hmac":{"secret":"x"}}`:          nil,
		`{"auth_type":"token","token":{"token_value":"abc"}}`: nil,
	} {
		begin := `begin Begin {"mode":"Webhook","security":` + security + `}`
		dsl := sketch.Chain(begin, `Message:M Message {"content":["x"]}`)
		require.Equal(t, want, codesOf(reg, dsl), security)
	}
}

// codesOf returns the codes that validate reports, apart from those of every component that acts
// outside the engine.
func codesOf(reg *engine.Registry, dsl string) []string {
	var codes []string
	for _, d := range engine.Validate(reg, []byte(dsl)) {
		if d.Code != engine.CodeNeedsHost {
			codes = append(codes, d.Code)
		}
	}
	return codes
}
