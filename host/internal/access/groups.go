package access

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Groups is a set of group names. It is comparable: the names are sorted, each with a line feed
// after it.
type Groups string

// LongestGroup bounds the name of a group, in bytes.
const LongestGroup = 256

// GroupName reports whether a text can be the name of a group: short UTF-8 text without control
// characters, and without space around it.
func GroupName(name string) bool {
	return name != "" && len(name) <= LongestGroup && strings.TrimSpace(name) == name && utf8.ValidString(name) &&
		!strings.ContainsFunc(name, unicode.IsControl)
}

// GroupsOf returns the set of some names, without those that cannot be one; see [GroupName].
func GroupsOf(names ...string) Groups {
	names = slices.Clone(names)
	slices.Sort(names)
	var out strings.Builder
	for _, name := range slices.Compact(names) {
		if GroupName(name) {
			out.WriteString(name)
			out.WriteByte('\n')
		}
	}
	return Groups(out.String())
}

// Names returns the names in order.
func (g Groups) Names() []string {
	if g == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(g), "\n"), "\n")
}
