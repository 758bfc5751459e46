package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOldDependenciesNeedReasons(t *testing.T) {
	known, err := parseReleases("# comment\n\na/new v1.0.0 2026-01-02\nb/old v1.0.0 2024-01-02\n" +
		"c/kept v1.0.0 2019-01-02 the newest one\nd/other v1.0.0 2026-01-02\nf/unused v1.0.0 2026-01-02\n")
	require.NoError(t, err)
	used := map[string]string{
		"a/new": "v1.0.0", "b/old": "v1.0.0", "c/kept": "v1.0.0", "d/other": "v1.1.0", "e/unknown": "v2.0.0",
	}
	reported := func(now string) (lines []string) {
		date, err := time.Parse(time.DateOnly, now)
		require.NoError(t, err)
		for _, m := range compareAges(used, known, date) {
			lines = append(lines, m.key+": "+m.where[0])
		}
		return lines
	}
	require.Equal(t, []string{
		"b/old: v1.0.0 is 731 days old; update it, or add the reason to its line in build/style/ages.txt",
		"d/other: v1.1.0 is used, build/style/ages.txt has v1.0.0; change its version and date",
		"e/unknown: v2.0.0 is not in build/style/ages.txt; add its version and date",
		"f/unused: is in build/style/ages.txt, but nothing requires it",
	}, reported("2026-01-02"))
	const old = "a/new: v1.0.0 is 366 days old; update it, or add the reason to its line in build/style/ages.txt"
	require.NotContains(t, strings.Join(reported("2027-01-02"), "\n"), "a/new", "a year is not too old")
	require.Contains(t, reported("2027-01-03"), old)

	for _, line := range []string{"a/b", "a/b v1", "a/b v1 yesterday"} {
		_, err := parseReleases(line)
		require.ErrorContains(t, err, "is not NAME VERSION YYYY-MM-DD")
	}
}

func TestDirectVersionsOfALockFile(t *testing.T) {
	used := map[string]string{}
	require.NoError(t, lockedVersions([]byte(`{"packages":{
		"":{"dependencies":{"a":"^1.0.0","own":"file:.."},"devDependencies":{"@x/b":"2.0.0"}},
		"node_modules/a":{"version":"1.2.3"},"node_modules/@x/b":{"version":"2.0.0"},
		"node_modules/own":{"link":true},"node_modules/indirect":{"version":"9.0.0"}
	}}`), used))
	require.Equal(t, map[string]string{"a": "1.2.3", "@x/b": "2.0.0"}, used)
}
