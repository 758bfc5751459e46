package engine_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func TestCloneOfARegistryKnowsItsHost(t *testing.T) {
	reg, err := engine.NewRegistry(engine.Spec{Name: "A"})
	require.NoError(t, err)
	reg.Host = true
	reg.Missing = func(string) error { return errors.New("no python") }
	own := reg.Clone()
	require.NoError(t, own.Add(engine.Spec{Name: "B"}))
	require.True(t, own.Host)
	require.EqualError(t, own.Missing("python"), "no python")
	require.Equal(t, []string{"A"}, reg.Names())
}
