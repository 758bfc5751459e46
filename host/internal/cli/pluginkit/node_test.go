package pluginkit_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/cli/pluginkit"
)

var update = flag.Bool("update", false, "update node.mjs")

const source = "../../../../wasm/js/src/plugin/cases.node.ts"

// TestKernelIsCurrent compares the embedded kernel with its source.
func TestKernelIsCurrent(t *testing.T) {
	entry, err := filepath.Abs(source)
	require.NoError(t, err)
	result := api.Build(api.BuildOptions{
		EntryPoints: []string{entry}, Bundle: true, Write: false, Format: api.FormatESModule, Platform: api.PlatformNode,
		Target: api.ES2022, MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true, LegalComments: api.LegalCommentsNone,
		Charset: api.CharsetUTF8, TsconfigRaw: "{}",
	})
	require.Empty(t, result.Errors)
	made := result.OutputFiles[0].Contents
	if *update {
		require.NoError(t, os.WriteFile("node.mjs", made, 0o644))
	}
	kept, err := os.ReadFile("node.mjs")
	require.NoError(t, err)
	require.True(t, bytes.Equal(made, kept), "node.mjs is not what its source makes; run go test ./host/internal/cli/pluginkit -run TestKernelIsCurrent -update")
}

// node is the program of Node.js; tests that compare need it.
func node(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		t.Skip("Node.js is not installed")
	}
	return path
}

func TestNodeAgrees(t *testing.T) {
	r, err := pluginkit.Run(t.Context(), guest(t, ""), []pluginkit.Case{{Name: "plain"}}, pluginkit.Options{Node: node(t)})
	require.NoError(t, err)
	check := find(t, r, "Node")
	require.Equal(t, pluginkit.OK, check.Outcome, check.Detail)
	require.Contains(t, check.Detail, "1 cases")
}

// TestNodeDisagrees has a plugin look at what differs between the two hosts and must not matter:
// its limit of fuel is enough here and too little there is impossible, so the case is played with a
// Node that answers something else.
func TestNodeDisagrees(t *testing.T) {
	liar := filepath.Join(t.TempDir(), "liar")
	for answer, want := range map[string]string{
		`[{"output":"e30=","fuel":5}]`:                                "the output is",
		`[{"code":"trap","message":"boom"}]`:                          `the error is "" here and "trap" in Node (boom)`,
		`[{"output":"eyJvdXRwdXRzIjp7fX0=","fuel":5}]`:                "units of fuel here and 5 in Node",
		`[{"output":"eyJvdXRwdXRzIjp7fX0=","emitted":"x","emits":1}]`: "emitted are",
		`[]`: "0 answers for 1 cases",
		`no`: "invalid character",
	} {
		require.NoError(t, os.WriteFile(liar, []byte("#!/bin/sh\ncat >/dev/null\nprintf '%s' '"+answer+"'\n"), 0o755))
		r, err := pluginkit.Run(t.Context(), guest(t, ""), []pluginkit.Case{{Name: "plain"}}, pluginkit.Options{Node: liar})
		require.NoError(t, err)
		require.False(t, r.Passed())
		detail := ""
		for _, c := range r.Checks {
			if c.Outcome == pluginkit.Failed {
				detail += c.Detail
			}
		}
		require.Contains(t, detail, want)
	}
}

func TestMissingNodeIsReported(t *testing.T) {
	r, err := pluginkit.Run(t.Context(), guest(t, ""), []pluginkit.Case{{Name: "plain"}}, pluginkit.Options{})
	require.NoError(t, err)
	check := find(t, r, "Node")
	require.Equal(t, pluginkit.Warning, check.Outcome)
	require.Contains(t, check.Detail, "no Node.js here")
}

func TestJUnit(t *testing.T) {
	r := &pluginkit.Report{Plugin: "weather", Version: "1.0.0", Checks: []pluginkit.Check{
		{Name: "load", Outcome: pluginkit.OK, Detail: "fine"},
		{Name: "manifest", Outcome: pluginkit.Warning, Detail: "no license"},
		{Name: "case <a>", Outcome: pluginkit.Failed, Detail: `want "x", got "y"`},
	}}
	out, err := r.JUnit()
	require.NoError(t, err)
	require.Equal(t, `<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="weather 1.0.0" tests="3" failures="1">
  <testcase classname="weather" name="load">
    <system-out>fine</system-out>
  </testcase>
  <testcase classname="weather" name="manifest">
    <system-out>warning: no license</system-out>
  </testcase>
  <testcase classname="weather" name="case &lt;a&gt;">
    <failure message="want &#34;x&#34;, got &#34;y&#34;"></failure>
  </testcase>
</testsuite>
`, string(out))
}

func find(t *testing.T, r *pluginkit.Report, name string) pluginkit.Check {
	t.Helper()
	for _, c := range r.Checks {
		if c.Name == name {
			return c
		}
	}
	require.Fail(t, "no check "+name, "%+v", r.Checks)
	return pluginkit.Check{}
}
