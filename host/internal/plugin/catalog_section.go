package plugin

import (
	"crypto/sha256"
	"encoding/hex"
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

// File returns the file of an installed plugin that is on, and its SHA-256 in hex. Its errors are
// those of Get, and BadSignature for a file that was changed on disk.
func (c *Catalog) File(ref string) (wasm []byte, digest string, err error) {
	m, err := c.Get(ref)
	if err != nil {
		return nil, "", err
	}
	if wasm, err = os.ReadFile(c.file(m.Digest())); err != nil {
		return nil, "", fmt.Errorf("plugin: read installed file: %w", err)
	}
	if sum := sha256.Sum256(wasm); hex.EncodeToString(sum[:]) != m.Digest() {
		return nil, "", c.changedOnDisk(m.Digest()).At(m.name(), "read")
	}
	return wasm, m.Digest(), nil
}

func (c *Catalog) changedOnDisk(digest string) *contract.Error {
	return contract.Errorf(contract.BadSignature, "file %s was changed on disk; install the plugin again",
		c.file(digest))
}
