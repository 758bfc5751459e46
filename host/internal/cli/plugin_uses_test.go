package cli

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/plugin"
)

// A command that switches a plugin of a host off names the canvases that use it, in a node or as a
// tool, and waits until the host has loaded the change.
func TestPluginChangesAtARunningHost(t *testing.T) {
	pluginFolder(t)
	tw := packed(t, "typewriter")
	data := t.TempDir()
	dir := filepath.Join(data, "plugins")
	env := []string{"EASEL_API_KEY=" + operatorKey}
	s := serve(t, env, "--data", data)
	const acknowledged = "The running host has loaded the change.\n"
	require.Contains(t, succeeds(t, "plugin", "install", tw, "--plugins", dir), acknowledged)
	ids := map[string]string{}
	for title, dsl := range map[string]string{
		"node": sketch.Canvas("begin Begin -> P", `P plugin:typewriter@1 {"text": "x"}`),
		"tool": sketch.Canvas("begin Begin -> A",
			`A Agent {"tools": [{"component_name": "plugin:typewriter@1", "params": {}}]}`),
		"other": sketch.Canvas("begin Begin -> P", `P plugin:typewriter@2 {"text": "plugin:typewriter@1"}`),
	} {
		ids[title] = member(t, s.post("/api/v2/canvases", operatorKey, `{"title":"`+title+`","dsl":`+dsl+`}`), "id")
	}
	listed := "Canvases that use it, whose nodes now fail when reached:\n  node (" + ids["node"] +
		")\n  tool (" + ids["tool"] + ")\n"
	require.Equal(t, "typewriter is off\n"+listed+acknowledged,
		succeeds(t, "plugin", "disable", "typewriter", "--plugins", dir))
	out := succeeds(t, "plugin", "enable", "typewriter", "--plugins", dir)
	require.Contains(t, out, acknowledged)
	require.NotContains(t, out, "Canvases")
	require.Equal(t, "typewriter is removed\nNo data is kept: the plugin requests no kv and has no settings.\n"+
		"Canvases that use it, whose nodes now fail when reached:\n  node ("+ids["node"]+")\n  other ("+ids["other"]+
		")\n  tool ("+ids["tool"]+")\n"+acknowledged,
		succeeds(t, "plugin", "remove", "typewriter", "--keep-data", "--plugins", dir))
	require.Contains(t, fails(t, "plugin", "set", "typewriter", "a=b", "--plugins", dir),
		dir+" is the folder of a host")
	require.NoError(t, s.stop())
	require.True(t, plugin.OfHost(dir))
	require.NotContains(t, succeeds(t, "plugin", "install", tw, "--plugins", dir), acknowledged)
}

// Most changes at a running host are acknowledged within a second: a machine that is busy may delay
// some.
func TestPluginChangesAreLoadedWithinASecond(t *testing.T) {
	pluginFolder(t)
	tw := packed(t, "typewriter")
	data := t.TempDir()
	dir := filepath.Join(data, "plugins")
	serve(t, []string{"EASEL_API_KEY=" + operatorKey}, "--data", data)
	succeeds(t, "plugin", "install", tw, "--plugins", dir)
	for _, command := range []string{"disable", "enable"} {
		took := make([]time.Duration, 5)
		for i := range took {
			if command == "enable" {
				succeeds(t, "plugin", "disable", "typewriter", "--plugins", dir)
			} else {
				succeeds(t, "plugin", "enable", "typewriter", "--plugins", dir)
			}
			began := time.Now()
			out := succeeds(t, "plugin", command, "typewriter", "--plugins", dir)
			took[i] = time.Since(began)
			require.Contains(t, out, "The running host has loaded the change.")
		}
		slices.Sort(took)
		t.Log(command, took)
		require.Less(t, took[len(took)/2], time.Second, command)
	}
}
