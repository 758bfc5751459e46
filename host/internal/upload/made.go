package upload

import (
	"bytes"
	"context"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/document/write"
)

// Maker returns the documents port of the engine for one tenant: created files are stored like
// uploads, under the same limits, and are downloaded by their doc_id.
func (b *Box) Maker(tenant string) engine.Documents { return maker{b, tenant} }

type maker struct {
	box    *Box
	tenant string
}

func (m maker) Convert(ctx context.Context, format, markdown string) (engine.Value, error) {
	if m.box.Documents != nil {
		release, err := m.box.Documents.Reserve(ctx, write.Memory(format, markdown))
		if err != nil {
			return engine.Null, err
		}
		defer release()
	}
	data, err := write.Make(format, markdown)
	if err != nil {
		return engine.Null, err
	}
	id := engine.RandomIDs{}.NewID()
	name := id[:8] + write.Extension(format)
	if _, err := m.box.put(ctx, m.tenant, id, name, bytes.NewReader(data)); err != nil {
		return engine.Null, err
	}
	return engine.Object("doc_id", id, "format", format, "file_name", name), nil
}
