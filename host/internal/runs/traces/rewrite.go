package traces

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/easel-canvas/easel/host/internal/store"
)

// keepMark is how long a run that no block has stays marked as deleted: its trace may be written
// from the run log until then.
const keepMark = 2 * holdMost

// rewrite removes deleted runs from the blocks that have them. Readers do not find these runs since
// they were marked.
func (t *Traces) rewrite(ctx context.Context) error {
	list, err := t.cfg.Store.Traces.GoneRuns(ctx)
	if err != nil {
		return err
	}
	byTenant := map[string]map[string]bool{}
	var over []string
	for _, g := range list {
		if byTenant[g.Tenant] == nil {
			byTenant[g.Tenant] = map[string]bool{}
		}
		byTenant[g.Tenant][g.Run] = true
		if t.cfg.Now().Sub(time.UnixMilli(g.Time)) > keepMark {
			over = append(over, g.Run)
		}
	}
	for tenant, gone := range byTenant {
		blocks, err := t.cfg.Store.Traces.Blocks(ctx, tenant)
		if err != nil {
			return err
		}
		for _, b := range blocks {
			if err := t.rewriteBlock(ctx, b, gone); err != nil && !errors.Is(err, store.ErrNotFound) {
				return fmt.Errorf("block %s: %w", b.ID, err)
			}
		}
	}
	if len(over) == 0 {
		return nil
	}
	return t.cfg.Store.Traces.Forget(ctx, over) // no block has them any more
}

// rewriteBlock writes a block again without deleted runs, if it has any.
func (t *Traces) rewriteBlock(ctx context.Context, b store.TraceBlock, gone map[string]bool) error {
	entries := entriesOf(b.Runs)
	if !slices.ContainsFunc(entries, func(e entry) bool { return gone[e.run] }) {
		return nil
	}
	raw, err := t.raw(ctx, b)
	if errors.Is(err, ErrNoBytes) {
		return nil // its day is being deleted
	}
	if err != nil {
		return err
	}
	var left store.TraceBlock
	var kept []byte
	for _, e := range entries {
		if gone[e.run] {
			continue
		}
		trace, ok := slice(raw, b.Runs, e.run)
		if !ok {
			return fmt.Errorf("run %q: not in its block: %w", e.run, ErrFormat)
		}
		left.Runs = fmt.Appendf(left.Runs, "%s %d\n", e.run, len(kept))
		kept = append(kept, trace...)
	}
	former := Place{b.Tenant, b.Day, b.Place, b.At, b.Size}
	if len(kept) == 0 {
		if err := t.cfg.Store.Traces.Replace(ctx, b.ID, store.TraceBlock{}); err != nil {
			return err
		}
		return t.cfg.Bytes.Delete(ctx, former)
	}
	index := left.Runs
	left = b
	left.ID, left.Runs, left.RawSize = store.NewID(), index, int64(len(kept))
	seal, err := t.seal.of(ctx, b.Tenant)
	if err != nil {
		return err
	}
	p, err := t.cfg.Bytes.Append(ctx, b.Tenant, b.Day, seal.Seal(nil, nil, pack(kept), blockPlace(left)))
	if err != nil {
		return err
	}
	left.Place, left.At, left.Size = p.Name, p.At, p.Size
	if err := t.cfg.Store.Traces.Replace(ctx, b.ID, left); err != nil {
		return errors.Join(err, t.cfg.Bytes.Delete(ctx, p))
	}
	return t.cfg.Bytes.Delete(ctx, former)
}
