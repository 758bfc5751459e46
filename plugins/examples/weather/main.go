// Command weather is a tool that calls a web service.
//
// It shows that the manifest names the host with the reason, that the plugin only names its secret
// key, and that errors have codes, so that a node can retry and a model can correct its call.
package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/plugins/sdk"
)

// Params are set by the author of a canvas.
type Params struct {
	Units   string `json:"units" enum:"c,f" default:"c" doc:"degrees Celsius or Fahrenheit"`
	Service string `json:"service" default:"https://api.weather.example" doc:"address of the weather service"`
}

// Args come from a model, or from the references of a node.
type Args struct {
	City string `json:"city" doc:"name of the city"`
}

// Out are the outputs for other nodes.
type Out struct {
	Text string  `json:"text" doc:"the weather in a sentence"`
	Temp float64 `json:"temp" doc:"temperature in the chosen units"`
}

func init() {
	sdk.Register(sdk.Manifest{
		Name: "weather", Version: "1.0.0", Display: map[string]string{"en": "Weather", "de": "Wetter"},
		Category: "tools", License: "Apache-2.0", Description: "Current weather of a city.",
		Idempotent: true, Preview: "server", Requires: []string{"http.fetch@1"},
		Limits: &sdk.Limits{MemoryMB: 32, TimeoutMS: 10_000},
		Permissions: &sdk.Permissions{
			HTTP: &sdk.HTTPPermission{Hosts: []string{"api.weather.example", "127.0.0.1"}, Private: true, Reason: "Asks the weather service, or one on this machine."},
			Secrets: map[string]sdk.SecretPermission{
				"WEATHER_KEY": {Hosts: []string{"api.weather.example", "127.0.0.1"}, Reason: "Signs in to the weather service."},
			},
		},
	}, weather)
	sdk.Check(func(p Params) error {
		if p.Service != "" && !strings.HasPrefix(p.Service, "http") {
			return sdk.Fail(sdk.InvalidArgument, "service %q is no web address", p.Service)
		}
		return nil
	})
}

func weather(c *sdk.Call, p Params, a Args) (Out, error) {
	if err := c.Progress(0, "asking about "+a.City); err != nil {
		return Out{}, err
	}
	res, err := c.Fetch(sdk.Request{
		URL:     p.Service + "/now?" + sdk.Query(map[string]string{"q": a.City}),
		Headers: map[string]string{"X-Key": c.Secret("WEATHER_KEY")},
	})
	if err != nil {
		return Out{}, fmt.Errorf("weather service: %w", err)
	}
	switch {
	case res.Status == 404:
		return Out{}, sdk.Fail(sdk.NotFound, "no weather is known for %q; check the name", a.City)
	case res.Status == 429:
		return Out{}, sdk.Fail(sdk.RateLimited, "the weather service asks for patience")
	case res.Status != 200:
		return Out{}, sdk.Fail(sdk.Upstream, "the weather service answered with status %d", res.Status)
	}
	var now struct {
		Celsius float64 `json:"celsius"`
		Sky     string  `json:"sky"`
	}
	if err := json.Unmarshal(res.Body, &now); err != nil {
		return Out{}, sdk.Fail(sdk.Upstream, "the weather service sent something else: %v", err)
	}
	temp, unit := now.Celsius, "°C"
	if p.Units == "f" {
		temp, unit = now.Celsius*9/5+32, "°F"
	}
	return Out{Text: fmt.Sprintf("%s: %s, %g %s", a.City, now.Sky, temp, unit), Temp: temp}, nil
}

func main() {}
