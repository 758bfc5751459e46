package cli

import (
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPluginTestWritesJUnit(t *testing.T) {
	pluginFolder(t)
	out := filepath.Join(t.TempDir(), "junit.xml")
	code, _, errs := easel(t, "plugin", "test", packed(t, "table"), "--junit", out)
	require.Zero(t, code, errs)
	raw, err := os.ReadFile(out)
	require.NoError(t, err)
	var suite struct {
		Name     string `xml:"name,attr"`
		Failures int    `xml:"failures,attr"`
		Cases    []struct {
			Name string `xml:"name,attr"`
		} `xml:"testcase"`
	}
	require.NoError(t, xml.Unmarshal(raw, &suite))
	require.Equal(t, "table 1.0.0", suite.Name)
	require.Zero(t, suite.Failures)
	require.Greater(t, len(suite.Cases), 10)
}

func TestPluginTestWithNodeAndWithout(t *testing.T) {
	pluginFolder(t)
	table := packed(t, "table")
	code, out, errs := easel(t, "plugin", "test", table, "--node", "")
	require.Zero(t, code, errs)
	require.Contains(t, out, "warning  Node: there is no Node.js here; outputs and fuel were not compared")
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("Node.js is not installed")
	}
	code, out, errs = easel(t, "plugin", "test", table, "-v")
	require.Zero(t, code, errs)
	require.Contains(t, out, "ok       Node: 4 cases in ")
}
