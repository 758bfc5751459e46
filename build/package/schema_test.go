package packaging

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"
)

// byTheChart lists the flags that the chart sets itself, from other values.
var byTheChart = []string{
	"addr", "data", "api-key-file", "key-file", "nats", "nats-replicas", "nats-credentials",
	"postgres",
}

// valid checks values against values.schema.json, as Helm does: merged with the defaults.
func valid(t testing.TB, given tree) error {
	t.Helper()
	var schema jsonschema.Schema
	require.NoError(t, json.Unmarshal([]byte(readFile(t, "chart/values.schema.json")), &schema))
	resolved, err := schema.Resolve(nil)
	require.NoError(t, err)
	text, err := json.Marshal(merge(readYAML(t, "chart/values.yaml"), given))
	require.NoError(t, err)
	var values any
	require.NoError(t, json.Unmarshal(text, &values))
	return resolved.Validate(values)
}

// Every flag of the program can be set in the chart, in exactly one way.
func TestSchemaKnowsTheFlags(t *testing.T) {
	var schema tree
	require.NoError(t, json.Unmarshal([]byte(readFile(t, "chart/values.schema.json")), &schema))
	inSchema := slices.Collect(maps.Keys(at(schema, "properties", "flags", "properties").(tree)))
	flags := serveFlags(t)
	require.ElementsMatch(t, slices.Collect(maps.Keys(flags)), append(inSchema, byTheChart...))
	for name, takesValue := range flags {
		if kind := at(schema, "properties", "flags", "properties", name); kind != nil {
			require.Equal(t, takesValue, at(kind, "type") != "boolean", name)
		}
	}
}

// Values that would fail only in the pod are rejected by the schema.
func TestSchema(t *testing.T) {
	require.NoError(t, valid(t, nil))
	require.NoError(t, valid(t, readYAML(t, "testdata/many.yaml")))
	require.NoError(t, valid(t, tree{"flags": tree{
		"keep-runs": "2160h", "lease": "1m30s", "rate": 2.5, "log": "text", "sync": "always", "redis-door": ":6379",
		"redis-door-remote": true,
	}, "env": []any{
		tree{"name": "A", "value": "5"},
		tree{"name": "B", "valueFrom": tree{"secretKeyRef": tree{"name": "s", "key": "k"}}},
	}}))
	for _, urls := range []string{"", "nats:4222", "nats://a:4222", "nats://u:p@a:4222,tls://b", "wss://a:443/"} {
		require.NoError(t, valid(t, tree{"nats": tree{"urls": urls}}), urls)
	}
	flags := func(name string, value any) tree { return tree{"flags": tree{name: value}} }
	for _, c := range []struct {
		name   string
		values tree
	}{
		{"an unknown value", tree{"replica": 2}},
		{"an unknown nested value", tree{"nats": tree{"url": "nats://a"}}},
		{"a number as a string", tree{"replicas": "2"}},
		{"an unknown flag", flags("rates", 20)},
		{"a flag with dashes", flags("--rate", 20)},
		{"a rate that is not a number", flags("rate", "fast")},
		{"a negative rate", flags("rate", -1)},
		{"a boolean flag as a string", flags("allow-private", "yes")},
		{"a duration without a unit", flags("keep-runs", 2160)},
		{"a duration in days", flags("keep-runs", "90d")},
		{"a negative lease", flags("lease", "-1s")},
		{"an unknown sync mode", flags("sync", "sometimes")},
		{"an unknown log format", flags("log", "xml")},
		{"an unknown signature policy", flags("plugin-signatures", "maybe")},
		{"an address without a port", flags("metrics-addr", "0.0.0.0")},
		{"redis-door-remote without redis-door", flags("redis-door-remote", true)},
		{"a list flag as a YAML list", flags("cors", []any{"https://a.example"})},
		{"a variable that is a number", tree{"env": []any{tree{"name": "A", "value": 5}}}},
		{"a variable without a name", tree{"env": []any{tree{"value": "5"}}}},
		{"a variable with an unknown key", tree{"env": []any{tree{"name": "A", "values": "5"}}}},
		{"a NATS URL with another scheme", tree{"nats": tree{"urls": "http://a:4222"}}},
		{"an empty list item", tree{"nats": tree{"urls": "nats://a,,nats://b"}}},
		{"more replicas than NATS supports", tree{"nats": tree{"urls": "nats://a", "replicas": 6}}},
	} {
		t.Run(c.name, func(t *testing.T) { require.Error(t, valid(t, c.values)) })
	}
	for _, name := range byTheChart {
		err := valid(t, flags(name, "x"))
		require.Error(t, err, name)
		require.True(t, strings.Contains(err.Error(), name), err)
	}
}
