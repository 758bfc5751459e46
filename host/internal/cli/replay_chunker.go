package cli

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/easel-canvas/easel/host/internal/knowledge/chunking"
)

// replayChunker plays a recorded case of a chunker and prints its chunks.
func (a *app) replayChunker(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return &usageError{"", err}
	}
	result, err := chunking.Play(data)
	if err != nil {
		return &usageError{"", fmt.Errorf("%s: %w", path, err)}
	}
	out := json.NewEncoder(a.out)
	out.SetEscapeHTML(false)
	out.SetIndent("", " ")
	return out.Encode(json.RawMessage(result.Value().AppendJSON(nil)))
}
