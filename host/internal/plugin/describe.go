package plugin

import (
	"context"
	"errors"

	"github.com/easel-canvas/easel/plugins/contract"
)

// Describe runs easel_describe of a module that has no manifest yet, so that one can be packed: it
// returns the module's description, checked, byte for byte. A module without that export is
// NotFound.
func (h *Host) Describe(ctx context.Context, wasm []byte) (said []byte, err error) {
	bare, err := contract.WithSection(wasm, contract.ManifestSection, nil)
	if err != nil {
		return nil, err
	}
	stand := &contract.Manifest{
		ABI: contract.ABI, Name: "unpacked", Version: "0.0.0",
		Description: "A module before it is packed.",
	}
	m, err := h.Load(ctx, bare, LoadOptions{Manifest: stand, undescribed: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.Close(ctx)) }()
	if !m.Has("easel_describe") {
		return nil, contract.Errorf(contract.NotFound,
			"no export easel_describe; write a manifest.json next to the plugin").At("", "describe")
	}
	res, err := m.Call(ctx, CallRequest{Export: "easel_describe", Grant: &contract.Permissions{}})
	if err != nil {
		return nil, err
	}
	if _, err := contract.ParseManifest(res.Output); err != nil {
		return nil, err
	}
	return res.Output, nil
}
