package mcp

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func TestApplyKeepsWhatIsStored(t *testing.T) {
	at, other := "https://mcp.example/mcp", "HTTPS://MCP.example:443/mcp"
	d := Doc{
		Type: TypeStreamable, URL: at, Description: "d", Headers: map[string]string{"A": "hush", "B": "hush"},
		Variables: engine.Object("key", "hush", "tools", engine.Object("echo", 1)),
	}
	require.Equal(t, d, d.Apply(Change{}))
	require.Equal(t, d, d.Apply(Change{URL: &at}))

	next := d.Apply(Change{URL: &other, Headers: map[string]string{"A": Kept, "C": "c", "D": Kept}})
	require.Equal(t, other, next.URL, "the same address in other words")
	require.Equal(t, map[string]string{"A": "hush", "C": "c"}, next.Headers, "nothing is stored as D")
	require.JSONEq(t, `{"key":"hush","tools":{"echo":1}}`, next.Variables.JSON())

	next = d.Apply(Change{Variables: engine.Object("key", Kept, "other", Kept, "new", "n")})
	require.JSONEq(t, `{"key":"hush","new":"n"}`, next.Variables.JSON())
	require.Equal(t, d.Headers, next.Headers)
}

func TestApplyDropsWhatIsStoredForAnotherTarget(t *testing.T) {
	stored := Doc{
		Type: TypeStreamable, URL: "https://mcp.example/${part}", Headers: map[string]string{"A": "hush"},
		Variables: engine.Object("part", "a", "key", "hush", "tools", engine.Object("echo", 1)),
	}
	evil, kept := "https://evil.example/${part}", map[string]string{"A": Kept, "B": "new"}
	for name, c := range map[string]Change{
		"address":             {URL: &evil, Headers: kept, Variables: engine.Object("key", Kept, "part", "a")},
		"part of the address": {Headers: kept, Variables: engine.Object("key", Kept, "part", "b")},
	} {
		next := stored.Apply(c)
		require.Equal(t, map[string]string{"B": "new"}, next.Headers, name)
		require.NotContains(t, next.Variables.JSON(), "hush", name)
	}
	next := stored.Apply(Change{URL: &evil})
	require.Empty(t, next.Headers)
	require.JSONEq(t, `{"tools":{"echo":1}}`, next.Variables.JSON())
}
