package pluginkit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/easel-canvas/easel/plugins/contract"
	httptool "github.com/easel-canvas/easel/plugins/http"
)

// HTTPFile is the spec of a declarative plugin, in the folder of manifest.json.
const HTTPFile = "http.json"

// buildHTTP makes the module of a plugin that is only data: the interpreter with its spec.
func buildHTTP(_ context.Context, dir string) ([]byte, error) {
	manifest, err := os.ReadFile(filepath.Join(dir, ManifestFile))
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", dir, err)
	}
	spec, err := os.ReadFile(filepath.Join(dir, HTTPFile))
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", dir, err)
	}
	tool, err := httptool.Parse(manifest, spec)
	if err != nil {
		return nil, fmt.Errorf("build %s: %s: %w", dir, HTTPFile, err)
	}
	section, err := tool.Section()
	if err != nil {
		return nil, fmt.Errorf("build %s: %w", dir, err)
	}
	return contract.WithSection(httptool.Interpreter(), contract.HTTPSection, section)
}
