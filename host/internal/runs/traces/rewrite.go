package traces

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/easel-canvas/easel/host/internal/store"
)

// keepMark bounds the age of marks of deleted runs: until then the trace of one may be written from
// the run log.
const keepMark = 2 * holdMost

// rewriteSlack bounds how much older than the last look a mark or a block may be that it has not
// seen: clocks differ, and a block is written a while after its day was read.
const rewriteSlack = time.Hour

// rewrite removes deleted runs from the blocks that have them. Readers do not find these runs since
// they were marked. Blocks that were looked through are not read again for the same marks: a later
// one may have a run, which was in the log when it was deleted.
func (t *Traces) rewrite(ctx context.Context) error {
	t.rewriting.Lock()
	defer t.rewriting.Unlock()
	began := t.cfg.Now()
	if began.Before(t.rewritten) { // the clock was set back
		t.rewritten = time.Time{}
	}
	list, err := t.cfg.Store.Traces.GoneRuns(ctx)
	if err != nil {
		return err
	}
	gone, from, overdue := map[string]map[string]bool{}, map[string]string{}, false
	for _, g := range list {
		if gone[g.Tenant] == nil {
			gone[g.Tenant], from[g.Tenant] = map[string]bool{}, dayOf(t.rewritten.Add(-rewriteSlack))
		}
		gone[g.Tenant][g.Run] = true
		marked := time.UnixMilli(g.Time)
		if marked.After(t.rewritten.Add(-rewriteSlack)) {
			from[g.Tenant] = ""
		}
		overdue = overdue || began.Sub(marked) > keepMark
	}
	for tenant, day := range from {
		blocks, err := t.cfg.Store.Traces.Blocks(ctx, tenant, day)
		if err != nil {
			return err
		}
		for _, b := range blocks {
			if err := t.rewriteBlock(ctx, b, gone[tenant]); err != nil && !errors.Is(err, store.ErrNotFound) {
				return fmt.Errorf("block %s: %w", b.ID, err)
			}
		}
	}
	t.rewritten = began
	if !overdue {
		return nil
	}
	return t.cfg.Store.Traces.Forget(ctx, began.Add(-keepMark).UnixMilli()) // no block has them any more
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
	var kept, heads []byte
	for _, e := range entries {
		if gone[e.run] {
			continue
		}
		trace, ok := slice(raw, b.Runs, e.run)
		if !ok {
			return fmt.Errorf("run %q: not in its block: %w", e.run, ErrFormat)
		}
		_, records, err := Decode(trace)
		if err != nil {
			return fmt.Errorf("run %q: %w", e.run, err)
		}
		left.Runs = fmt.Appendf(left.Runs, "%s %d\n", e.run, len(kept))
		heads = appendHead(heads, e.run, headOf(records))
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
	left.Heads = seal.Seal(nil, nil, pack(heads), headsPlace(left))
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
