package cli

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersionOfABuild(t *testing.T) {
	const commit = "4f2a0c7d9b5e4c1c8f0a7b6d5e4f3a2b4f2a0c7d"
	go1 := func(v string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{GoVersion: "go1.26", Main: debug.Module{Version: v}, Settings: settings}
	}
	vcs := debug.BuildSetting{Key: "vcs.revision", Value: commit}
	for _, c := range []struct {
		name, version, revision string
		info                    *debug.BuildInfo
		want                    build
		said                    string
	}{
		{"no build information", "", "", nil, build{noVersion, noRevision, ""}, "development"},
		{"no revision", "", "", go1("(devel)"), build{noVersion, noRevision, "go1.26"}, "development"},
		{"a commit", "", "", go1("(devel)", vcs), build{noVersion, commit[:12], "go1.26"}, "development+4f2a0c7d9b5e"},
		{
			"pseudo-version of a commit", "", "", go1("v0.0.0-20261121110000-4f2a0c7d9b5e+dirty", vcs),
			build{"0.0.0-20261121110000-4f2a0c7d9b5e+dirty", commit[:12], "go1.26"},
			"0.0.0-20261121110000-4f2a0c7d9b5e+dirty",
		},
		{"go install of a release", "", "", go1("v0.2.0"), build{"0.2.0", noRevision, "go1.26"}, "0.2.0"},
		{
			"version set by the linker", "0.2.0", "", go1("v0.0.0-2026", vcs),
			build{"0.2.0", commit[:12], "go1.26"},
			"0.2.0+4f2a0c7d9b5e",
		},
		{
			"version and revision set by the linker", "v0.2.0", "abc", go1("(devel)", vcs),
			build{"0.2.0", "abc", "go1.26"},
			"0.2.0+abc",
		},
		{
			"version with build metadata", "0.2.0+ours", "abc", nil,
			build{"0.2.0+ours", "abc", ""},
			"0.2.0+ours.abc",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func(v, r string) { version, revision = v, r }(version, revision)
			version, revision = c.version, c.revision
			got := buildOf(c.info)
			require.Equal(t, c.want, got)
			require.Equal(t, c.said, got.String())
		})
	}
}
