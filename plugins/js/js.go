// Package jsplugin creates plugins from one file of JavaScript: one small module, the interpreter
// (QuickJS), runs it in the sandbox of plugins, so that limits, grants and fuel apply as to any
// other plugin, on a server and in a page.
//
// A plugin is that module with its source in one more section, easel.js. README.md describes the
// API for the source. The package does not depend on hosts and sandboxes.
package jsplugin

import (
	_ "embed"
	"fmt"
	"unicode/utf8"

	"github.com/easel-canvas/easel/plugins/contract"
)

//go:embed guest/interpreter.wasm
var interpreter []byte

// MaxSource limits the source of a plugin, in bytes.
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
