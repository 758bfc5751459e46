package upload

import (
	"context"
	"errors"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Clear deletes all files of a tenant.
func (b *Box) Clear(ctx context.Context, tenant string) error {
	items, err := b.Store.Items.List(ctx, tenant, kind)
	if err != nil {
		return err
	}
	for _, item := range items {
		if err := b.Files.Delete(ctx, objectName(tenant, item.ID)); err != nil && !errors.Is(err, broker.ErrNotFound) {
			return err
		}
		if err := b.Store.Items.Delete(ctx, tenant, kind, item.ID); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return nil
}
