package worker

import (
	"context"
	"time"

	"github.com/easel-canvas/easel/host/internal/limit/memlimit"
)

// Limits bound one script. Zero fields mean the defaults.
type Limits struct {
	Time   time.Duration // default 10 s, not counting the start of an interpreter and waits for memory
	Memory int64         // bytes of data, default 256 MB; other memory of a worker is not counted
	Output int           // bytes of each output channel and of the result, default 8 MB
	Script int           // bytes of the script itself, default 256 KB
	Files  int64         // bytes of all artifacts, default 16 MB; files of a script hold twice of that
}

// WithDefaults returns the limits with defaults for fields that are not set.
func (l Limits) WithDefaults() Limits {
	if l.Time <= 0 {
		l.Time = 10 * time.Second
	}
	if l.Memory <= 0 {
		l.Memory = 256 << 20
	}
	if l.Output <= 0 {
		l.Output = 8 << 20
	}
	if l.Script <= 0 {
		l.Script = 256 << 10
	}
	if l.Files <= 0 {
		l.Files = 16 << 20
	}
	return l
}

// atOnce is the minimum number of concurrent scripts of a budget.
const atOnce = 2

// Reserve waits until a budget has room for a script, and lowers the limit of its memory if the
// whole budget is small. use returns the total memory of a worker with a limit. Without a budget
// there is always room.
func (l *Limits) Reserve(
	ctx context.Context, budget *memlimit.Budget, use func(memory int64) int64,
) (release func(), err error) {
	if budget == nil {
		return func() {}, nil
	}
	share := (budget.Size()/atOnce - use(0)) / Arena * Arena
	l.Memory = min(l.Memory, max(share, Arena))
	account := budget.Open()
	if err := account.Wait(ctx, min(use(l.Memory), budget.Size())); err != nil {
		return nil, err
	}
	return account.Close, nil
}
