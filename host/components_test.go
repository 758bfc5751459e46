package host

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/host/internal/cli/place"
	"github.com/easel-canvas/easel/host/internal/cli/place/placetest"
	"github.com/easel-canvas/easel/host/internal/runs"
)

// Every component that is listed as running on a server is run with the ports of one. A service may
// be unavailable; the requirements on the server are met.
func TestComponentsRunOnAServer(t *testing.T) {
	h, _ := open(t, Config{Dir: t.TempDir(), AllowPrivate: true})
	server, err := place.Named("server")
	require.NoError(t, err)
	registry, err := engine.NewRegistry(component.Builtin()...)
	require.NoError(t, err)
	ran := 0
	for _, s := range registry.Specs() {
		t.Run(s.Name, func(t *testing.T) {
			ports := h.newPorts().of(&runs.Job{ID: "run " + s.Name, Tenant: firstTenantID})
			canvas, err := engine.Load(registry, placetest.Canvas(s))
			require.NoError(t, err)
			var text strings.Builder
			in := engine.Input{Query: engine.String("coats"), UserID: "u"}
			options := engine.Options{Ports: ports, TenantID: firstTenantID, Internal: true}
			for e, err := range canvas.Run(t.Context(), canvas.State(), in, options) {
				if err != nil {
					text.WriteString(err.Error())
					break
				}
				if e.Type == engine.EventNodeFinished {
					text.WriteString(e.Data().Get("error").Text() + e.Data().Get("outputs").Get("_ERROR").Text())
				}
			}
			if status := server.Status(s); status.State == place.Runs {
				ran++
				require.False(t, placetest.Lacks(text.String()), text.String())
				return
			}
			// Without a retriever a search finds nothing.
			require.True(t, placetest.Lacks(text.String()) || ports.Retriever == nil, "it ran")
		})
	}
	require.Greater(t, ran, 40)
}
