package upload

import (
	"bytes"
	"context"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/document/write"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Maker returns the documents port of the engine for one party: created files are stored like
// uploads, under the same limits, and are downloaded by their doc_id.
func (b *Box) Maker(p Party) engine.Documents { return maker{b, p} }

type maker struct {
	box   *Box
	party Party
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
	id := store.NewID()
	name := id[:8] + write.Extension(format)
	if _, err := m.box.put(ctx, m.party, id, name, bytes.NewReader(data)); err != nil {
		return engine.Null, err
	}
	return engine.Object("doc_id", id, "format", format, "file_name", name), nil
}
