package packaging

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOneHost(t *testing.T) {
	rendered, notes, err := render(t, "easel", nil)
	require.NoError(t, err)
	set := rendered["StatefulSet easel"]
	require.Equal(t, 1, at(set, "spec", "replicas"))
	require.NotContains(t, rendered, "PodDisruptionBudget easel")
	require.NotContains(t, rendered, "Ingress easel")
	require.Contains(t, notes, "service/easel 9380:9380")
	require.Contains(t, notes, `{{ index .data "api-key" | base64decode }}`)
	keys := rendered["Secret easel-keys"]["data"].(tree)
	seal, err := base64.StdEncoding.DecodeString(keys["seal-key"].(string))
	require.NoError(t, err)
	require.Regexp(t, "^[0-9a-f]{64}$", string(seal), "the format of --key-file")
}

// Probes use paths that the host serves, services select the pods, and nothing runs as root.
func TestManyHosts(t *testing.T) {
	rendered, _, err := render(t, "prod", readYAML(t, "testdata/many.yaml"))
	require.NoError(t, err)
	set := rendered["StatefulSet prod-easel"]
	labels := at(set, "spec", "template", "metadata", "labels").(tree)
	for _, finder := range []any{
		at(set, "spec", "selector", "matchLabels"), at(rendered["Service prod-easel"], "spec", "selector"),
		at(rendered["Service prod-easel-hosts"], "spec", "selector"),
		at(rendered["PodDisruptionBudget prod-easel"], "spec", "selector", "matchLabels"),
		at(rendered["NetworkPolicy prod-easel"], "spec", "podSelector", "matchLabels"),
	} {
		require.NotEmpty(t, finder)
		require.Subset(t, labels, finder)
	}
	require.Equal(t, "prod-easel-hosts", at(set, "spec", "serviceName"))
	pod := at(set, "spec", "template", "spec")
	container := at(pod, "containers", 0)
	for probe, path := range map[string]string{
		"startupProbe": "/healthz", "livenessProbe": "/healthz",
		"readinessProbe": "/readyz",
	} {
		require.Equal(t, path, at(container, probe, "httpGet", "path"))
		require.Equal(t, at(container, "ports", 0, "name"), at(container, probe, "httpGet", "port"))
	}
	// Metrics need no key on their own address, and no service exposes it.
	require.Contains(t, at(container, "args"),
		"--metrics-addr=0.0.0.0:"+at(set, "spec", "template", "metadata", "annotations", "prometheus.io/port").(string))
	for _, s := range []string{"Service prod-easel", "Service prod-easel-hosts"} {
		require.NotContains(t, fmt.Sprint(at(rendered[s], "spec", "ports")), "metrics")
	}
	require.Equal(t, true, at(pod, "securityContext", "runAsNonRoot"))
	require.Equal(t, true, at(container, "securityContext", "readOnlyRootFilesystem"))
	require.Equal(t, []any{"ALL"}, at(container, "securityContext", "capabilities", "drop"))
	mounted := map[any]bool{}
	for _, m := range at(container, "volumeMounts").([]any) {
		mounted[at(m, "name")] = true
	}
	for _, v := range append(at(pod, "volumes").([]any), at(set, "spec", "volumeClaimTemplates", 0, "metadata")) {
		require.True(t, mounted[at(v, "name")], "volume %v is mounted", at(v, "name"))
		delete(mounted, at(v, "name"))
	}
	require.Empty(t, mounted, "every mount has a volume")
}

func TestChartRefuses(t *testing.T) {
	for _, c := range []struct {
		name, says string
		values     tree
	}{
		{"several hosts without shared storage", "more than one host needs", tree{"replicas": 2}},
		{
			"hosts that share only one store", "more than one host needs",
			tree{"replicas": 2, "nats": tree{"urls": "nats://n"}},
		},
		{"NATS replicas without URLs", "need nats.urls", tree{"nats": tree{"replicas": 3}}},
		{"NATS credentials without URLs", "need nats.urls", tree{"nats": tree{"credentialsSecret": "c"}}},
		{"an ingress without a host", "needs ingress.host", tree{"ingress": tree{"enabled": true}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := render(t, "x", c.values)
			require.ErrorContains(t, err, c.says)
		})
	}
}

// The flags of the container exist in the program.
func TestFlagsOfTheChart(t *testing.T) {
	rendered, _, err := render(t, "prod", readYAML(t, "testdata/many.yaml"))
	require.NoError(t, err)
	args := at(rendered["StatefulSet prod-easel"], "spec", "template", "spec", "containers", 0, "args").([]any)
	require.Equal(t, "serve", args[0])
	flags := serveFlags(t)
	for _, a := range args[1:] {
		name, _, _ := strings.Cut(strings.TrimPrefix(a.(string), "--"), "=")
		require.Contains(t, flags, name)
	}
}

var usedValue = regexp.MustCompile(`\.Values\.([A-Za-z.]+)`)

// Each value has a comment above it or next to its object, is in the schema, and is used.
func TestValues(t *testing.T) {
	values := readYAML(t, "chart/values.yaml")
	var schema tree
	require.NoError(t, json.Unmarshal([]byte(readFile(t, "chart/values.schema.json")), &schema))
	paths := leaves("", values)
	for _, p := range paths {
		s := any(schema)
		for part := range strings.SplitSeq(p, ".") {
			s = at(s, "properties", part)
			require.NotNil(t, s, "values.schema.json has no %s", p)
			if at(s, "additionalProperties") != false { // arbitrary content
				break
			}
		}
	}
	used := map[string]bool{}
	rendered := templates(t)
	for _, m := range usedValue.FindAllStringSubmatch(rendered, -1) {
		used[m[1]] = true
		require.True(t, slices.ContainsFunc(paths,
			func(p string) bool { return p == m[1] || strings.HasPrefix(p, m[1]+".") }), "values.yaml has no %s", m[1])
	}
	for _, p := range paths {
		found := false
		for u := range used {
			found = found || p == u || strings.HasPrefix(p, u+".")
		}
		require.True(t, found, "nothing uses %s", p)
	}
	lines := strings.Split(readFile(t, "chart/values.yaml"), "\n")
	comments := 0
	for _, l := range lines {
		if strings.HasPrefix(strings.TrimSpace(l), "#") {
			comments++
		}
	}
	require.Greater(t, comments, len(values), "every value in values.yaml has a comment")
}

func templates(t testing.TB) string {
	t.Helper()
	var b strings.Builder
	for _, f := range []string{
		"_names.tpl", "statefulset.yaml", "service.yaml", "keys.yaml", "account.yaml",
		"pdb.yaml", "ingress.yaml", "networkpolicy.yaml", "NOTES.txt",
	} {
		b.WriteString(readFile(t, "chart/templates/"+f))
	}
	return b.String()
}

// leaves returns the paths of all values except non-empty objects.
func leaves(prefix string, v tree) (out []string) {
	for k, inner := range v {
		if m, ok := inner.(tree); ok && len(m) > 0 {
			out = append(out, leaves(prefix+k+".", m)...)
			continue
		}
		out = append(out, prefix+k)
	}
	return out
}
