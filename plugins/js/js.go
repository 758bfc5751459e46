// Package jsplugin makes plugins of one file of JavaScript: one small module, the interpreter
// (QuickJS), runs it in the sandbox of plugins, so that limits, grants and fuel hold as for any
// other plugin, on a server and in a page.
//
// A plugin is that module with its source in one section more, easel.js. What the source sees of
// the host is described in README.md. The package knows nothing of hosts and sandboxes.
package jsplugin

import (
	_ "embed"
	"fmt"
	"unicode/utf8"

	"github.com/easel-canvas/easel/plugins/contract"
)

//go:embed guest/interpreter.wasm
var interpreter []byte

// MaxSource bounds the source of a plugin, in bytes.
const MaxSource = 256 << 10

// Build returns the module of a plugin with the given source.
func Build(source []byte) ([]byte, error) {
	if len(source) > MaxSource {
		return nil, fmt.Errorf("source of %d bytes, allowed are %d", len(source), MaxSource)
	}
	if !utf8.Valid(source) {
		return nil, fmt.Errorf("source is not UTF-8")
	}
	return contract.WithSection(interpreter, contract.JSSection, source)
}
