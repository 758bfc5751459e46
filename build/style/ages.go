package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

// agesFile has the release date of each direct dependency, so that the check needs no network.
const agesFile = "build/style/ages.txt"

// oldestRelease is the age in days from which on a dependency needs a reason.
const oldestRelease = 365

// release is a line of agesFile.
type release struct {
	version string
	date    time.Time
	reason  string // why an old release is used
}

// ages compares the direct dependencies of the product with their release dates: each must be in
// agesFile in its version, and an old one with a reason.
//
// Ages count up to the date of the last commit: so a commit that passed still passes later.
func ages(tree) ([]measure, error) {
	text, err := os.ReadFile(agesFile)
	if err != nil {
		return nil, err
	}
	known, err := parseReleases(string(text))
	if err != nil {
		return nil, err
	}
	used, err := versions()
	if err != nil {
		return nil, err
	}
	out, err := exec.Command("git", "log", "-1", "--format=%cs").Output()
	if err != nil {
		return nil, fmt.Errorf("date of the last commit: %w", err)
	}
	now, err := time.Parse(time.DateOnly, strings.TrimSpace(string(out)))
	if err != nil {
		return nil, err
	}
	return compareAges(used, known, now), nil
}

func compareAges(used map[string]string, known map[string]release, now time.Time) (found []measure) {
	report := func(name, format string, args ...any) {
		where := []string{fmt.Sprintf(format, args...)}
		found = append(found, measure{rule: "age", key: name, n: 1, where: where})
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		r, ok := known[name]
		days := int(now.Sub(r.date).Hours() / 24)
		switch {
		case !ok:
			report(name, "%s is not in %s; add its version and date", used[name], agesFile)
		case r.version != used[name]:
			report(name, "%s is used, %s has %s; change its version and date", used[name], agesFile, r.version)
		case days > oldestRelease && r.reason == "":
			report(name, "%s is %d days old; update it, or add the reason to its line in %s", r.version, days, agesFile)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if _, ok := used[name]; !ok {
			report(name, "is in %s, but nothing requires it", agesFile)
		}
	}
	return found
}

// parseReleases reads lines of name, version, date and an optional reason; # begins a comment.
func parseReleases(text string) (map[string]release, error) {
	known := map[string]release{}
	for i, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		part := append(strings.SplitN(line, " ", 4), "", "", "")
		date, err := time.Parse(time.DateOnly, part[2])
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %q is not NAME VERSION YYYY-MM-DD [REASON]", agesFile, i+1, line)
		}
		known[part[0]] = release{part[1], date, part[3]}
	}
	return known, nil
}

var goVersion = regexp.MustCompile(`(?m)^(?:require )?\s*(\S+\.\S+/\S+) (v\S+)$`) // direct: no comment follows

// versions returns the direct dependencies of the Go module, the page and the npm package.
func versions() (map[string]string, error) {
	used := map[string]string{}
	text, err := os.ReadFile("go.mod")
	if err != nil {
		return nil, err
	}
	for _, m := range goVersion.FindAllSubmatch(text, -1) {
		used[string(m[1])] = string(m[2])
	}
	for _, file := range []string{"web/package-lock.json", "wasm/js/package-lock.json"} {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if err := lockedVersions(text, used); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return used, nil
}

// lockedVersions adds the versions that a lock file has of the direct dependencies of its package.
func lockedVersions(text []byte, used map[string]string) error {
	var lock struct {
		Packages map[string]struct {
			Version                       string
			Link                          bool
			Dependencies, DevDependencies map[string]string
		}
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return err
	}
	root := lock.Packages[""]
	for _, list := range []map[string]string{root.Dependencies, root.DevDependencies} {
		for name := range list {
			if p := lock.Packages["node_modules/"+name]; !p.Link {
				used[name] = p.Version
			}
		}
	}
	return nil
}
