package v2

import (
	"context"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// webhooks describe the senders of webhooks that are known.
type webhooks struct{ *app.Services }

func (w webhooks) operations() []operation {
	return []operation{
		handle(operation{
			method: "POST", path: "/api/v2/hook-presets", body: api.BodySmall, scope: app.ScopeRead,
			name: "webhookPresets",
			about: "The senders of webhooks whose proof is known, with the security section to store in Begin, and " +
				"which of them a section belongs to.",
		}, w.presets),
	}
}

type presetsOf struct {
	Body struct {
		Security engine.Value `json:"security,omitzero" jsonschema:"security section of a Begin node"`
	}
}

type presetsView struct {
	Items []app.WebhookPreset `json:"items"`
	Names []string            `json:"names" jsonschema:"presets with these settings; Meta signs as GitHub does"`
}

func (w webhooks) presets(_ context.Context, in presetsOf) (presetsView, error) {
	return presetsView{app.WebhookPresets(), app.WebhookPresetOf(in.Body.Security)}, nil
}
