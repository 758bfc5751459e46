package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

const severalComponents = `{"abi":1,"name":"weather","version":"2.0.0","description":"Weather.","components":[
	{"name":"weather","description":"Now.","arguments":{"type":"object","properties":{"city":{"type":"string"}}}},
	{"name":"forecast","description":"Next days.","export":"forecast",
		"params":{"type":"object","properties":{"days":{"type":"integer","default":3}}}}]}`

// TestComponentsOfAFileInThePage runs one of several components of a file through the bridge.
func TestComponentsOfAFileInThePage(t *testing.T) {
	meet(t, func(k *talk) {
		k.keep(severalComponents)
		k.open(`A plugin:weather.forecast@2 {}`)
		asked, call := called(k.t, k.start(`{"canvas":1,"query":"Oslo","ports":["plugin"]}`))
		payload := call.Get("payload")
		require.Equal(k.t, `["weather","2.0.0","forecast"]`,
			engine.List(payload.Get("plugin"), payload.Get("version"), payload.Get("export")).JSON())
		input, err := engine.ParseJSONText(payload.Get("input").Str())
		require.NoError(k.t, err)
		require.NoError(k.t, inputSchema(k.t).Validate(plainJSON(k.t, payload.Get("input").Str())))
		require.Equal(k.t, "forecast", input.Get("call").Get("component").Str())
		require.Equal(k.t, `{"days":3}`, input.Get("params").JSON())
		tell(k.b, line{
			Fn: "deliver", Call: asked.Call, OK: yes(), More: no(),
			Text: `{"output":"{\"outputs\":{\"text\":\"rain\"}}"}`,
		})
		ok, answer := k.answer()
		require.True(k.t, ok)
		require.Equal(k.t, `{"text":"rain"}`, answer.Get("outputs").JSON())

		names := []string{}
		for _, spec := range k.b.describePlugins() {
			names = append(names, spec.Get("name").Str())
		}
		require.Equal(k.t, []string{"plugin:weather@2", "plugin:weather.forecast@2"}, names)
	})
}
