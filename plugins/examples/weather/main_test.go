package main

import (
	"testing"

	"github.com/easel-canvas/easel/plugins/sdk"
)

func TestWeather(t *testing.T) {
	for _, c := range []struct {
		name, units string
		status      int
		body        string
		text, code  string
	}{
		{"in Celsius", "c", 200, `{"celsius":3,"sky":"snow"}`, "Ålesund: snow, 3 °C", ""},
		{"in Fahrenheit", "f", 200, `{"celsius":3,"sky":"snow"}`, "Ålesund: snow, 37.4 °F", ""},
		{"an unknown city is an input error", "c", 404, "", "", sdk.NotFound},
		{"a busy service is retried", "c", 429, "", "", sdk.RateLimited},
		{"a failing service is retried", "c", 200, "<html>", "", sdk.Upstream},
	} {
		t.Run(c.name, func(t *testing.T) {
			var asked sdk.Request
			f := sdk.Fake{HTTP: func(r sdk.Request) (*sdk.Response, error) {
				asked = r
				return &sdk.Response{Status: c.status, Body: []byte(c.body)}, nil
			}}
			out, err := weather(f.Call(), Params{Units: c.units, Service: "http://w.example"}, Args{City: "Ålesund"})
			if out.Text != c.text || (err == nil) != (c.code == "") || err != nil && !sdk.IsCode(err, c.code) {
				t.Errorf("got %q, %v", out.Text, err)
			}
			if asked.URL != "http://w.example/now?q=%C3%85lesund" || asked.Headers["X-Key"] != "{{secret:WEATHER_KEY}}" {
				t.Errorf("asked %+v", asked)
			}
		})
	}
}

func TestWeatherWithoutPermission(t *testing.T) {
	_, err := weather((&sdk.Fake{}).Call(), Params{Service: "http://w.example"}, Args{City: "Oslo"})
	if !sdk.IsCode(err, sdk.Denied) {
		t.Errorf("got %v", err)
	}
}
