package pluginkit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	jsplugin "github.com/easel-canvas/easel/plugins/js"
)

// JSFile is the source of a plugin in JavaScript, which may stand alone.
const JSFile = "plugin.js"

func buildJS(_ context.Context, dir string) ([]byte, error) {
	return BuildJS(filepath.Join(dir, JSFile))
}

// BuildJS makes the module of a plugin of one file of JavaScript: the interpreter with its source.
func BuildJS(file string) ([]byte, error) {
	source, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("build: %w", err)
	}
	wasm, err := jsplugin.Build(source)
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", file, err)
	}
	return wasm, nil
}
