package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/plugins/contract"
)

// release signs a version of the plugin downloaded that sends text, and returns the file.
func release(t *testing.T, dir, version, text, permissions string) string {
	t.Helper()
	file := filepath.Join(dir, "downloaded-"+version+".wasm")
	wasm := sample(t, text, "{}", `{"abi":1,"name":"downloaded","version":"`+version+`","description":"Says a text.",
		"permissions":`+permissions+`}`)
	require.NoError(t, os.WriteFile(file, wasm, 0o600))
	key := filepath.Join(dir, "key.pem")
	args := []string{"plugin", "sign", file, "--key", key, "--publisher", "ann"}
	if _, err := os.Stat(key); err != nil {
		args = append(args, "--new-key")
	}
	succeeds(t, args...)
	return file
}

func succeeds(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errs := easel(t, args...)
	require.Zero(t, code, "%s %s", out, errs)
	return out
}

func fails(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errs := easel(t, args...)
	require.NotZero(t, code, out)
	return errs
}

// TestPluginIndex publishes versions in an index and installs, updates and rolls them back.
func TestPluginIndex(t *testing.T) {
	pluginFolder(t)
	dir := t.TempDir()
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	index := filepath.Join(dir, "index.json")
	publish := func(version, text, permissions string) string {
		file := release(t, dir, version, text, permissions)
		succeeds(t, "plugin", "publish", file, "--index", index, "--location", filepath.Base(file))
		return file
	}
	first := publish("1.0.0", "one", "{}")
	t.Setenv("EASEL_PLUGIN_INDEX", server.URL+"/index.json")
	require.Contains(t, succeeds(t, "plugin", "search", "TEXT"), "downloaded  1.0.0    ann        Says a text.")
	require.NotContains(t, succeeds(t, "plugin", "search", "moon"), "downloaded")

	said := fails(t, "plugin", "install", "downloaded")
	require.Contains(t, said, "to trust it, run `easel plugin trust ann ")
	_, command, _ := strings.Cut(said, "`easel plugin trust ")
	command, _, _ = strings.Cut(command, "`")
	succeeds(t, append([]string{"plugin", "trust"}, strings.Fields(command)...)...)
	require.Contains(t, succeeds(t, "plugin", "install", "downloaded"),
		"downloaded 1.0.0 is enabled: plugin:downloaded@1")
	require.Contains(t, succeeds(t, "plugin", "update"), "nothing to update")

	publish("1.1.0", "two", "{}")
	publish("2.0.0", "three", "{}")
	var found []newer
	require.NoError(t, json.Unmarshal([]byte(succeeds(t, "plugin", "outdated", "--json")), &found))
	require.Equal(t, []newer{{
		Name: "downloaded", Version: "1.0.0", Newest: "1.1.0", Major: "2.0.0",
		Origin: server.URL + "/index.json#downloaded",
	}}, found)
	require.Contains(t, succeeds(t, "plugin", "update", "downloaded"),
		"downloaded 1.1.0 is enabled: plugin:downloaded@1")
	require.Contains(t, succeeds(t, "plugin", "update", "--major"), "downloaded 2.0.0 is enabled: plugin:downloaded@2")
	require.Contains(t, succeeds(t, "plugin", "rollback", "downloaded@1"),
		"downloaded 1.0.0 is enabled: plugin:downloaded@1")
	list := succeeds(t, "plugin", "list")
	require.Regexp(t, `downloaded +1\.0\.0 +on`, list)
	require.Regexp(t, `downloaded +2\.0\.0 +on`, list)

	publish("2.1.0", "four", `{"kv":{"bytes":100,"reason":"r"}}`)
	require.Contains(t, succeeds(t, "plugin", "update", "downloaded@2"), "downloaded 2.1.0 waits for approval")
	require.NoError(t, os.WriteFile(first, []byte("other"), 0o600))
	require.Contains(t, fails(t, "plugin", "install", "downloaded@1.0.0"), "the index lists sha256:")
	require.Contains(t, fails(t, "plugin", "update", "moon"), "plugin moon is not installed")
}

// TestPluginInstallAddress installs a file from a web address, which has to be signed.
func TestPluginInstallAddress(t *testing.T) {
	pluginFolder(t)
	dir := t.TempDir()
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	unsigned := sample(t, "one", "{}", `{"abi":1,"name":"downloaded","version":"1.0.0","description":"Says a text."}`)
	path := filepath.Join(dir, "unsigned.wasm")
	require.NoError(t, os.WriteFile(path, unsigned, 0o600))
	require.Contains(t, fails(t, "plugin", "install", server.URL+"/unsigned.wasm"), "bad_signature")
	require.Contains(t, fails(t, "plugin", "publish", path, "--index", filepath.Join(dir, "i.json")),
		"no valid signature")
	file := release(t, dir, "1.0.0", "one", "{}")
	wasm, err := os.ReadFile(file)
	require.NoError(t, err)
	seal, ok := plugin.SealOf(wasm)
	require.True(t, ok)
	succeeds(t, "plugin", "trust", "ann", seal.Key)
	var e plugin.Entry
	require.NoError(t, json.Unmarshal([]byte(succeeds(t, "plugin", "install", server.URL+"/"+filepath.Base(file),
		"--json")), &e))
	require.Equal(t, plugin.Remote, e.Active.Source)
	require.Equal(t, server.URL+"/"+filepath.Base(file), e.Active.Origin)
	require.Contains(t, succeeds(t, "plugin", "update"), "nothing to update")
}

// TestPluginSettings sets the settings of `easel run`; secrets stay in the environment.
func TestPluginSettings(t *testing.T) {
	pluginFolder(t)
	file := filepath.Join(t.TempDir(), "setup.wasm")
	require.NoError(t, os.WriteFile(file, sample(t, "one", "{}",
		`{"abi":1,"name":"setup","version":"1.0.0","description":"d",
		"settings":{"type":"object","required":["region"],"properties":{
			"region":{"type":"string","description":"Where."},"days":{"type":"integer","default":3}}},
		"permissions":{"http":{"hosts":["a.example"],"reason":"r"},
			"secrets":{"SETUP_KEY":{"hosts":["a.example"],"reason":"The key."}}}}`), 0o600))
	succeeds(t, "plugin", "install", file, "--yes")
	canvas := filepath.Join(t.TempDir(), "canvas.json")
	require.NoError(t, os.WriteFile(canvas, sketch.Bytes(
		"begin Begin -> S",
		"S plugin:setup@1 -> M",
		`M Message {"content":["{S@text}"]}`,
	), 0o600))
	problems := succeeds(t, "validate", canvas)
	require.Contains(t, problems,
		"setting region of plugin setup is not set; set it with `easel plugin set setup region=VALUE`")
	require.Contains(t, problems,
		"secret SETUP_KEY of plugin setup is not set; set EASEL_SECRET_SETUP_KEY in the environment")
	require.Contains(t, fails(t, "run", canvas),
		"setting region is not set; set it with `easel plugin set setup region=VALUE`")

	require.Contains(t, fails(t, "plugin", "set", "setup", "days=many"), "setting days: want integer, got string")
	require.Contains(t, fails(t, "plugin", "set", "setup", "city=x"), "unknown setting")
	require.Contains(t, fails(t, "plugin", "set", "setup", "SETUP_KEY=x"), "EASEL_SECRET_SETUP_KEY")
	list := succeeds(t, "plugin", "set", "setup", "region=eu", "days=5")
	require.Regexp(t, `region +setting +eu +Where\.`, list)
	require.Regexp(t, `days +setting +5`, list)
	require.Regexp(t, `SETUP_KEY +secret +not set +The key\.`, list)
	require.Contains(t, succeeds(t, "run", canvas), "one")
	t.Setenv("EASEL_SECRET_SETUP_KEY", "sesame")
	list = succeeds(t, "plugin", "settings", "setup")
	require.Regexp(t, `SETUP_KEY +secret +set`, list)
	require.NotContains(t, list, "sesame")
	require.NotContains(t, succeeds(t, "validate", canvas), "is not set")
	require.Regexp(t, `region +setting +- +missing; Where\.`, succeeds(t, "plugin", "set", "setup", "region="))
	require.Contains(t, fails(t, "plugin", "run", file),
		"setting region is not set; set it with --setting region=VALUE")
	require.Contains(t, succeeds(t, "plugin", "run", file, "--setting", "region=eu"), "one")
}

// Settings are written where something reads them.
func TestPluginSettingsOfAHostAreSetOnTheHost(t *testing.T) {
	ofRun := pluginFolder(t)
	file := filepath.Join(t.TempDir(), "setup.wasm")
	require.NoError(t, os.WriteFile(file, sample(t, "one", "{}",
		`{"abi":1,"name":"setup","version":"1.0.0","description":"d",
		"settings":{"type":"object","required":["region"],"properties":{"region":{"type":"string"}}}}`), 0o600))
	other := filepath.Join(t.TempDir(), "data", "plugins")
	for _, dir := range []string{ofRun, other} {
		succeeds(t, "plugin", "install", file, "--plugins", dir)
	}
	for _, verb := range [][]string{{"set", "setup", "region=eu"}, {"settings", "setup"}} {
		args := append([]string{"plugin"}, verb...)
		text := fails(t, append(args, "--plugins", other)...)
		require.Contains(t, text, "`easel run` reads settings in "+ofRun)
		require.Contains(t, text, "--url URL")
		succeeds(t, append(args, "--plugins", ofRun)...)
	}
	require.NoFileExists(t, filepath.Join(other, plugin.SettingsFile))
	succeeds(t, "plugin", "set", "setup", "region=")

	h, err := plugin.New(t.Context(), plugin.Config{})
	require.NoError(t, err)
	c, err := plugin.OpenCatalog(t.Context(), h, ofRun, contract.Everything())
	require.NoError(t, err)
	detach, err := c.Attach() // a host that uses the folder of EASEL_PLUGINS
	require.NoError(t, err)
	detach()
	require.NoError(t, h.Close(t.Context()))
	require.Contains(t, fails(t, "plugin", "set", "setup", "region=eu"), ofRun+" is the folder of a host")
	canvas := filepath.Join(t.TempDir(), "canvas.json")
	require.NoError(t, os.WriteFile(canvas, sketch.Bytes("begin Begin -> S", "S plugin:setup@1"), 0o600))
	require.Contains(t, fails(t, "run", canvas), "`easel run` has no settings")
}
