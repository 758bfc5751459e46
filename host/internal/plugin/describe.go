package plugin

import (
	"context"
	"errors"
)

// Describe runs easel_describe of a module that has no manifest yet, so that one
// can be packed: it returns what the module says, checked, as it wrote it. A module
// without that export is NotFound.
func (h *Host) Describe(ctx context.Context, wasm []byte) (said []byte, err error) {
	bare, err := WithSection(wasm, ManifestSection, nil)
	if err != nil {
		return nil, err
	}
	stand := &Manifest{ABI: ABI, Name: "unpacked", Version: "0.0.0", Description: "A module before it is packed."}
	m, err := h.Load(ctx, bare, LoadOptions{Manifest: stand, undescribed: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.Close(ctx)) }()
	if !m.Has("easel_describe") {
		return nil, fail(NotFound, "no export easel_describe; write a manifest.json beside the plugin").at("", "describe")
	}
	res, err := m.Call(ctx, CallRequest{Export: "easel_describe", Grant: &Permissions{}})
	if err != nil {
		return nil, err
	}
	if _, err := ParseManifest(res.Output); err != nil {
		return nil, err
	}
	return res.Output, nil
}
