// Package sdkgo carries the Go SDK and the one module it needs, so that a new plugin gets a copy of
// them and builds offline: neither is a package of this module, and the SDK has no published
// version yet.
//
// The copy is sdk.txtar; after a change of the SDK: go test ./plugins/sdk-go -update
package sdkgo

import (
	_ "embed"
	"strings"
)

//go:embed sdk.txtar
var archive string

// Files returns the sources by their path: sdk/... is the module
// github.com/easel-canvas/easel/plugins/sdk, go-pdk/... is github.com/extism/go-pdk.
func Files() map[string][]byte {
	files := map[string][]byte{}
	name, text := "", ""
	for line := range strings.Lines(archive) {
		if next, isName := fileName(line); isName {
			name, text = next, ""
			continue
		}
		text += line
		if name != "" {
			files[name] = []byte(text)
		}
	}
	return files
}

// fileName reads the line in front of a file: -- NAME --.
func fileName(line string) (name string, ok bool) {
	if name, ok = strings.CutPrefix(strings.TrimSuffix(line, "\n"), "-- "); !ok {
		return "", false
	}
	return strings.CutSuffix(name, " --")
}
