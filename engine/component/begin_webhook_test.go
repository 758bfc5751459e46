package component

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

func TestOpenWebhooksAreReported(t *testing.T) {
	reg, err := engine.NewRegistry(Builtin()...)
	require.NoError(t, err)
	for params, open := range map[string]bool{
		`{"mode":"Webhook"}`: true, `{"mode":"Webhook","security":{}}`: true,
		`{"mode":"Webhook","security":{"auth_type":"none","allow_anonymous":true}}`: true,
		`{"mode":"Webhook","security":{"auth_type":"none"}}`:                        false, // refuses all
		`{"mode":"Webhook","security":{"auth_type":"hmac","hmac":{"secret":"x"}}}`:  false,
		`{"mode":"conversational"}`:                                                 false,
	} {
		dsl := sketch.Chain("begin Begin "+params, `Message:M Message {"content":["x"]}`)
		found := engine.Validate(reg, []byte(dsl))
		count := 0
		for _, d := range found {
			if d.Code == engine.CodeOpenWebhook {
				require.Equal(t, engine.SeverityWarning, d.Severity)
				count++
			}
		}
		require.Equal(t, open, count == 1, params)
	}
}
