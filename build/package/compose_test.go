package packaging

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func services(t testing.TB) tree {
	t.Helper()
	return readYAML(t, "compose/compose.yaml")["services"].(tree)
}

// Everything that a service refers to exists: other services, volumes, secrets, variables of easel.
func TestCompose(t *testing.T) {
	file := readYAML(t, "compose/compose.yaml")
	hosts := 0
	for name, s := range services(t) {
		for other := range asTree(at(s, "depends_on")) {
			require.NotNil(t, at(services(t), other, "healthcheck"), "%s waits for %s", name, other)
		}
		for _, v := range asList(at(s, "volumes")) {
			volume, _, _ := strings.Cut(v.(string), ":")
			require.Contains(t, file["volumes"], volume, name)
		}
		for _, secret := range asList(at(s, "secrets")) {
			require.Contains(t, file["secrets"], secret, name)
		}
		for _, port := range asList(at(s, "ports")) {
			require.True(t, strings.HasPrefix(port.(string), "127.0.0.1:"), "%s is published to the network", name)
		}
		require.NotContains(t, at(s, "image"), ":latest")
		if at(s, "image") != "easel" {
			continue
		}
		hosts++
		for v, value := range at(s, "environment").(tree) {
			requireVariable(t, v)
			if path, ok := strings.CutPrefix(fmt.Sprint(value), "/run/secrets/"); ok {
				require.Contains(t, at(s, "secrets"), path)
			}
		}
		require.Equal(t, true, at(s, "read_only"))
		dockerfile := filepath.Join("compose", at(s, "build", "context").(string),
			at(s, "build", "dockerfile").(string))
		_, err := os.Stat(dockerfile)
		require.NoError(t, err)
	}
	require.Equal(t, 2, hosts)
}

func asTree(v any) tree  { m, _ := v.(tree); return m }
func asList(v any) []any { l, _ := v.([]any); return l }

// make-secrets creates each secret once, in the format its reader expects.
func TestMakeSecrets(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "make-secrets")
	require.NoError(t, os.WriteFile(script, []byte(readFile(t, "compose/make-secrets")), 0o700))
	run := func() string {
		out, err := exec.Command(script).CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	output := run()
	before := map[string]string{}
	for name, s := range readYAML(t, "compose/compose.yaml")["secrets"].(tree) {
		before[name] = strings.TrimSpace(readFile(t, filepath.Join(dir, at(s, "file").(string))))
		require.Contains(t, output, "made secrets/"+name)
	}
	require.Regexp(t, `^ragflow-[0-9a-f]{48}$`, before["api_key"])
	require.Regexp(t, `^[0-9a-f]{64}$`, before["seal_key"])
	require.Equal(t, "postgres:5432:easel:easel:"+before["postgres_password"], before["pgpass"])
	require.Empty(t, run(), "a second run creates no secrets")
	for name, text := range before {
		require.Equal(t, text, strings.TrimSpace(readFile(t, filepath.Join(dir, "secrets", name))))
	}
}
