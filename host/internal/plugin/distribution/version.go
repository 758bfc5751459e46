package distribution

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

var versionPattern = regexp.MustCompile(`^(\d{1,9})\.(\d{1,9})\.(\d{1,9})(-[0-9A-Za-z.-]+)?$`)

// version is 1.2.3 or 1.2.3-pre.
type version struct {
	numbers [3]int
	pre     string
}

func parseVersion(text string) (version, bool) {
	m := versionPattern.FindStringSubmatch(text)
	if m == nil {
		return version{}, false
	}
	var v version
	for i := range v.numbers {
		v.numbers[i], _ = strconv.Atoi(m[i+1]) // at most nine digits
	}
	v.pre = m[4]
	return v, true
}

// Compare orders versions; one that is not a version is before all others. A pre-release is before
// its release.
func Compare(a, b string) int {
	x, okX := parseVersion(a)
	y, okY := parseVersion(b)
	if !okX || !okY {
		return cmp.Compare(truth(okX), truth(okY))
	}
	for i := range x.numbers {
		if c := cmp.Compare(x.numbers[i], y.numbers[i]); c != 0 {
			return c
		}
	}
	if c := cmp.Compare(truth(x.pre == ""), truth(y.pre == "")); c != 0 {
		return c
	}
	return strings.Compare(x.pre, y.pre)
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Newest returns the newest of the versions that want stands for: 1, 1.2 or 1.2.0, or any when it
// is empty. Pre-releases count only when want names one in full. It is empty if none matches.
func Newest(versions []string, want string) (newest string) {
	for _, text := range versions {
		v, ok := parseVersion(text)
		fits := want == "" || text == want || strings.HasPrefix(text, want+".")
		if !ok || !fits || v.pre != "" && text != want {
			continue
		}
		if newest == "" || Compare(text, newest) > 0 {
			newest = text
		}
	}
	return newest
}
