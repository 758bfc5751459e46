package engine_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// vault knows one secret.
type vault struct{}

func (vault) Secret(context.Context, string) (string, error) { return "abcd-1234", nil }

// TestErrorsHideSecrets lets a component quote the request it made, in its error.
func TestErrorsHideSecrets(t *testing.T) {
	reg := toys(t)
	require.NoError(t, reg.Add(engine.Spec{Name: "Leak", New: func() engine.Component {
		return worker(func(ctx context.Context, call *engine.Call) error {
			url, err := call.Reveal(ctx, "https://host/?key={{secret:KEY}}")
			require.NoError(t, err)
			require.Equal(t, "https://host/?key=abcd-1234", url)
			return fmt.Errorf("GET %s: %w", url, engine.ErrRef)
		})
	}}))
	c, err := engine.Load(reg, sketch(`begin Begin -> f`, `f Leak {}`))
	require.NoError(t, err)
	opt := engine.Options{Ports: engine.Ports{Secrets: vault{}}}
	requireHidden := func(err error) {
		t.Helper()
		require.ErrorIs(t, err, engine.ErrRef)
		require.ErrorContains(t, err, "GET https://host/?key={{secret:KEY}}")
		require.NotContains(t, err.Error(), "abcd")
	}
	var failed error
	for e, err := range c.Run(t.Context(), c.State(), engine.Input{}, opt) {
		if err != nil {
			failed = err
			break
		}
		require.NotContains(t, string(e.JSON), "abcd")
	}
	requireHidden(failed)
	out, err := c.Debug(t.Context(), c.State(), "f", engine.Null, opt)
	requireHidden(err)
	require.NotContains(t, out.JSON(), "abcd")
}
