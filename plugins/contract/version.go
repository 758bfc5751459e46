package contract

import (
	"slices"
	"strconv"
	"strings"
)

// operations lists the operations that a plugin may require, all of version 1.
var operations = []string{
	"http.fetch", "http.read", "http.close", "llm.chat", "embed", "kv.get", "kv.set", "kv.delete", "kv.list", "var.get",
	"var.set", "file.read", "file.put", "self.section", "sleep", "emit",
}

// CheckHost returns an *Error if a plugin requires more than a host of this version has; an empty
// version is not compared.
func (m *Manifest) CheckHost(version string) error {
	if m.MinHost != "" && version != "" && older(version, m.MinHost) {
		return Errorf(Unsupported, "needs host %s, this is %s; update the host", m.MinHost, version)
	}
	for _, text := range m.Requires {
		r, ok := parseRequirement(text)
		if ok && (r.optional || r.version <= 1 && slices.Contains(operations, r.operation)) {
			continue
		}
		return Errorf(Unsupported,
			"requires %s, which this host does not offer; use a newer host, or write %s? if the "+
				"plugin can do without", text, text)
	}
	return nil
}

// requirement is an operation that a plugin requires: http.fetch@1, or http.read@1? if it is
// optional.
type requirement struct {
	operation string
	version   int
	optional  bool
}

func parseRequirement(text string) (r requirement, ok bool) {
	operation, version, found := strings.Cut(text, "@")
	version, r.optional = strings.CutSuffix(version, "?")
	r.operation = operation
	if !found || !isDigits(version) || !startsLower(operation) ||
		!consists(operation, "abcdefghijklmnopqrstuvwxyz0123456789_.") {
		return r, false
	}
	n, err := strconv.Atoi(version)
	if err != nil { // newer than any host offers
		n = 1<<31 - 1
	}
	r.version = n
	return r, true
}

// isName reports whether s is the name of a plugin: [a-z][a-z0-9_-]{0,62}.
func isName(s string) bool {
	return len(s) <= 63 && startsLower(s) && consists(s, "abcdefghijklmnopqrstuvwxyz0123456789_-")
}

// isVersion reports whether s is three numbers below 1e9 with an optional suffix after a dash; 64
// characters at most.
func isVersion(s string) bool {
	numbers, suffix, dashed := strings.Cut(s, "-")
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	if dashed && (suffix == "" || !consists(suffix, letters+"0123456789.-")) {
		return false
	}
	parts := strings.Split(numbers, ".")
	for _, p := range parts {
		if !isDigits(p) || len(p) > 9 {
			return false
		}
	}
	return len(parts) == 3 && len(s) <= 64
}

func startsLower(s string) bool { return s != "" && s[0] >= 'a' && s[0] <= 'z' }

func isDigits(s string) bool { return s != "" && consists(s, "0123456789") }

// consists reports whether s contains only characters of set.
func consists(s, set string) bool { return strings.Trim(s, set) == "" }

// older compares dotted numbers; other parts count as 0.
func older(have, want string) bool {
	a, b := strings.Split(have, "."), strings.Split(want, ".")
	for i := range b {
		x, y := 0, leadingNumber(b[i])
		if i < len(a) {
			x = leadingNumber(a[i])
		}
		if x != y {
			return x < y
		}
	}
	return false
}

func leadingNumber(s string) int {
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	n, err := strconv.Atoi(s[:digits])
	if err != nil {
		return 0
	}
	return n
}
