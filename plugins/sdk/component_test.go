package sdk

import (
	"errors"
	"strings"
	"testing"
)

// TestComponentsAreCalledByName runs a file with several components as a host does.
func TestComponentsAreCalledByName(t *testing.T) {
	before := registered
	t.Cleanup(func() { registered = before })
	type city struct {
		City string `json:"city"`
	}
	type days struct {
		Days int `json:"days" default:"3"`
	}
	type text struct {
		Text string `json:"text"`
	}
	now := func(_ *Call, _ None, a city) (text, error) { return text{"now in " + a.City}, nil }
	forecast := func(c *Call, _ days, a city) (text, error) { return text{c.Component + " of " + a.City}, nil }
	RegisterAll(Manifest{Name: "weather", Version: "1.0.0", Description: "Weather."},
		Runs(Component{Name: "now", Description: "Current weather."}, now),
		Checks(Runs(Component{Name: "forecast", Description: "Next days."}, forecast), func(p days) error {
			if p.Days > 10 {
				return errors.New("at most ten days")
			}
			return nil
		}))
	manifest, err := describe()
	if err != nil || !strings.Contains(string(manifest), `"components":[{"name":"now"`) ||
		!strings.Contains(string(manifest), `"params":{"type":"object","properties":{"days"`) {
		t.Fatalf("manifest %s, error %v", manifest, err)
	}
	for name, want := range map[string]string{"now": "now in Oslo", "forecast": "forecast of Oslo"} {
		out, err := invoke(nil, []byte(`{"abi":1,"call":{"component":"`+name+`"},"arguments":{"city":"Oslo"}}`))
		if err != nil || string(out) != `{"outputs":{"text":"`+want+`"}}` {
			t.Errorf("%s: %s, error %v", name, out, err)
		}
	}
	if _, err := invoke(nil, []byte(`{"abi":1,"call":{"component":"snow"}}`)); !IsCode(err, NotFound) {
		t.Errorf("an unknown component: %v", err)
	}
	check := func(component, params string) error {
		return checkParams([]byte(`{"params":` + params + `,"call":{"component":"` + component + `"}}`))
	}
	if err := errors.Join(check("now", `{"days":11}`), check("forecast", `{"days":9}`)); err != nil {
		t.Error(err)
	}
	if err := check("forecast", `{"days":11}`); err == nil || err.Error() != "at most ten days" {
		t.Errorf("params that the component refuses: %v", err)
	}
}
