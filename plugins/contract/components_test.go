package contract

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// severalManifest is the manifest of the golden message with several components.
func severalManifest(t *testing.T) *Manifest {
	t.Helper()
	raw, err := os.ReadFile("golden/manifest.components.json")
	require.NoError(t, err)
	m, err := ParseManifest(parse(t, string(raw)).Get("message").AppendJSON(nil))
	require.NoError(t, err)
	return m
}

// TestComponentHasWhatItsFileHas reads a file with several components: each has a separate export
// and separate messages, and shares the settings and the grant.
func TestComponentHasWhatItsFileHas(t *testing.T) {
	m := severalManifest(t)
	require.Len(t, m.Nodes(), 3)
	for ref, want := range map[string]struct{ component, function, export, message string }{
		"weather@2": {"weather", "weather", "easel_invoke", `"component":"weather"`},
		"weather.forecast@2": {
			"forecast", "weather_forecast", "forecast", `"settings":{"region":"eu"},"component":"forecast"`,
		},
		"weather.storms": {"storms", "weather_storms", "easel_invoke", `"component":"storms"`},
	} {
		c, err := m.Named(ref)
		require.NoError(t, err, ref)
		require.Equal(t, want.component, c.Component)
		require.Equal(t, want.function, c.Function())
		require.Equal(t, want.export, c.Export())
		require.Equal(t, "weather", c.Name)
		require.Equal(t, "2", c.Major())
		require.Equal(t, []string{"api.weather.example"}, c.Permissions.HTTP.Hosts)
		settings, err := c.Configured(engine.Null)
		require.NoError(t, err)
		message, err := c.Message(CallInfo{ID: "c1", Settings: settings}, engine.Null, engine.Null)
		require.NoError(t, err)
		require.Contains(t, string(message), want.message)
		require.Contains(t, string(c.CheckMessage(engine.Object())), `"component":"`+want.component+`"`)
	}
	require.Equal(t, []string{"rain"}, m.Components[1].Params.Branches())
	_, err := m.Named("weather.snow@2")
	require.ErrorIs(t, err, NotFound)
	require.ErrorContains(t, err, "it has weather, forecast, storms")
	single, err := ParseManifest([]byte(`{"abi":1,"name":"a","version":"1.0.0","description":"d","export":"ignored"}`))
	require.NoError(t, err)
	require.Equal(t, "easel_invoke", single.Export(), "a manifest of one component has no member export")
	require.Equal(t, `{"params":{}}`, string(single.CheckMessage(engine.Object())))
}

// TestManifestWithComponentsIsWrittenAsItWasRead holds that describe and section can be compared.
func TestManifestWithComponentsIsWrittenAsItWasRead(t *testing.T) {
	m := severalManifest(t)
	again, err := ParseManifest(m.Value().AppendJSON(nil))
	require.NoError(t, err)
	require.Equal(t, m.Value().JSON(), again.Value().JSON())
	require.NotContains(t, m.Value().Get("components").JSON(), "permissions")
}

// TestHostileComponentsAreRefused reads files with components that no honest author writes.
func TestHostileComponentsAreRefused(t *testing.T) {
	one := `{"name":"now","description":"d"%s}`
	many := make([]string, 300)
	for i := range many {
		many[i] = fmt.Sprintf(`{"name":"c%d","description":"d"}`, i)
	}
	for name, c := range map[string]struct{ file, components, want string }{
		"300":            {"", strings.Join(many, ","), "want a list of at most 64, got array of 300"},
		"twice":          {"", fmt.Sprintf(one+","+one, "", ""), `components[1]: name "now": another component has it`},
		"no name":        {"", `{"description":"d"}`, `components[0]: name is missing`},
		"a path":         {"", `{"name":"a.b","description":"d"}`, `components[0]: name "a.b": want lower-case`},
		"long":           {"", `{"name":"` + strings.Repeat("x", 63) + `","description":"d"}`, "longer than 64"},
		"empty text":     {"", `{"name":"now","description":""}`, "components[0]: description is missing"},
		"own grant":      {"", fmt.Sprintf(one, `,"permissions":{}`), "components[0]: permissions: belongs"},
		"own settings":   {"", fmt.Sprintf(one, `,"settings":{"type":"object"}`), "components[0]: settings: belongs"},
		"nested":         {"", fmt.Sprintf(one, `,"components":[]`), "components[0]: components: belongs to the file"},
		"bad params":     {"", fmt.Sprintf(one, `,"params":{"type":"string"}`), "components[0]: params: want a schema"},
		"not an object":  {"", `7`, "components[0]: want object, got number"},
		"not a list":     {`"components":7,`, "", "want a list of at most 64, got number"},
		"private export": {"", fmt.Sprintf(one, `,"export":"_start"`), `components[0]: export "_start"`},
		"two exports":    {"", fmt.Sprintf(one, `,"export":"a","entry":{"export":"b"}`), "and no entry"},
		"hidden letters": {"", fmt.Sprintf(one, `,"display":{"en":"a`+"\u202e"+`b"}`), "U+202E"},
	} {
		components := `"components":[` + c.components + `],`
		if name == "not a list" {
			components = ""
		}
		const rest = `"abi":1,"name":"w","version":"1.0.0","description":"d"}`
		_, err := ParseManifest([]byte(`{` + components + c.file + rest))
		require.ErrorIs(t, err, BadManifest, name)
		require.ErrorContains(t, err, c.want, name)
	}
	_, err := ParseManifest([]byte(`{"abi":9,"name":"w","version":"1.0.0","description":"d","components":[` +
		fmt.Sprintf(one, "") + `]}`))
	require.ErrorIs(t, err, ABIMismatch, "the file is checked before its components")
}

// TestComponentsLeaveBuiltInNames refuses a component with the name of a built-in one.
func TestComponentsLeaveBuiltInNames(t *testing.T) {
	builtIn := func(name string) bool { return strings.EqualFold(name, "UserFillUp") }
	m := &Manifest{Components: []*Manifest{{Component: "forecast"}}}
	require.NoError(t, m.CheckNames(builtIn))
	m.Components[0].Component = "user-fill_up"
	err := m.CheckNames(builtIn)
	require.ErrorIs(t, err, BadManifest)
	require.ErrorContains(t, err, "user-fill_up")
	require.NoError(t, (&Manifest{Name: "message"}).CheckNames(func(string) bool { return true }))
}
