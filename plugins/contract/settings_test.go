package contract

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func TestSettings(t *testing.T) {
	m, err := ParseManifest([]byte(`{"abi":1,"name":"a","version":"1.0.0","description":"d","settings":{
		"type":"object","required":["region","days"],"properties":{"region":{"type":"string"},
		"days":{"type":"integer","default":3},"host":{"type":"string"}}}}`))
	require.NoError(t, err)
	object := func(text string) engine.Value {
		v, err := engine.ParseJSONText(text)
		require.NoError(t, err)
		return v
	}
	_, err = m.Configured(engine.Null)
	require.ErrorIs(t, err, MissingSetting)
	require.ErrorContains(t, err, "setting region is not set")
	require.Equal(t, []string{"region"}, m.MissingSettings(object(`{"days":1}`)))
	got, err := m.Configured(object(`{"region":"eu","gone":1}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"region":"eu","days":3}`, got.JSON(), "defaults come in, what is not declared is left out")

	require.NoError(t, m.CheckSettings(object(`{"region":"eu","days":2}`)))
	require.ErrorContains(t, m.CheckSettings(object(`{"days":"x"}`)), "setting days: want integer, got string")
	require.ErrorContains(t, m.CheckSettings(object(`{"regoin":"x"}`)),
		`unknown setting "regoin" (one of days, host, region)`)

	again, err := ReadManifest(m.Value())
	require.NoError(t, err)
	require.Equal(t, m.Value().JSON(), again.Value().JSON())
	message := CallInfo{ID: "c", Settings: got}.Input(engine.Null, engine.Null)
	require.JSONEq(t, `{"region":"eu","days":3}`, message.Get("call").Get("settings").JSON())
	bare := Manifest{Name: "a"}
	got, err = bare.Configured(object(`{"x":1}`))
	require.NoError(t, err)
	require.True(t, got.IsNull())
	require.ErrorContains(t, bare.CheckSettings(object(`{"x":1}`)), `unknown setting "x" (it has none)`)
}
