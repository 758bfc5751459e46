package packaging

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// make run passes flags on, and prints how long the preceding builds take.
func TestMakeRun(t *testing.T) {
	out, err := exec.Command("make", "-C", "../..", "--always-make", "--dry-run", "run",
		"FLAGS=--allow-private --rate 5").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Regexp(t, `easel serve [^&|;]*--plugin-signatures off --allow-private --rate 5\n`, string(out))
	require.Contains(t, string(out), "building the program (about ")
	if lacks("npm") == "" {
		require.Contains(t, string(out), "building the page (about ")
	}
	out, err = exec.Command("make", "-C", "../..", "help").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Regexp(t, `(?m)^  run  .*FLAGS=`, string(out))
	require.Regexp(t, `(?m)^  release-files `, string(out))
}
