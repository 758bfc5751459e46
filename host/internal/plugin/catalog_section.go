package plugin

import (
	"fmt"
	"os"

	"github.com/easel-canvas/easel/plugins/contract"
)

// Section returns a custom section of the active version of an installed plugin,
// such as its icon, and whether there is one.
func (c *Catalog) Section(ref, section string) ([]byte, bool, error) {
	name, _, want := contract.SplitRef(ref)
	it := c.referred(name, want)
	if it == nil || it.Active == nil {
		return nil, false, nil
	}
	wasm, err := os.ReadFile(c.file(it.Active.Digest))
	if err != nil {
		return nil, false, fmt.Errorf("plugin: read installed file: %w", err)
	}
	return contract.Section(wasm, section)
}
