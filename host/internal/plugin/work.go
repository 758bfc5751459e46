package plugin

import (
	"context"
	"time"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// The meter counts the work of the guest, not that of the host: between two ticks there may be
// 10,000 calls that each let the host fill or parse megabytes. So host functions count the bytes
// they handle, and look at the clock after each megabyte of them.
const (
	workPerCheck = 1 << 20 // bytes
	workPerCall  = 64      // what a call counts for besides its bytes
)

// hostWork counts n bytes of work of the host and stops a call whose time is over.
func (g *guest) hostWork(n uint64) {
	if g.hostWorked += n + workPerCall; g.hostWorked < workPerCheck {
		return
	}
	g.hostWorked = 0
	if time.Now().After(g.deadline) {
		g.check()
	}
}

// wasiWork counts the work of those functions of WASI whose cost an argument decides.
type wasiWork struct{}

// NewFunctionListener listens to these functions only.
func (wasiWork) NewFunctionListener(def api.FunctionDefinition) experimental.FunctionListener {
	switch def.Name() {
	case "random_get": // p, n
		return perUnit{1, 1}
	case "fd_read", "fd_write", "fd_pread", "fd_pwrite": // fd, iovs, count
		return perUnit{2, 64}
	case "poll_oneoff": // in, out, count
		return perUnit{2, 128}
	}
	return nil
}

// perUnit counts size bytes for each unit that the argument at names.
type perUnit struct {
	at   int
	size uint64
}

// Before counts.
func (p perUnit) Before(ctx context.Context, _ api.Module, _ api.FunctionDefinition, params []uint64, _ experimental.StackIterator) {
	if g, ok := ctx.Value(guestKey{}).(*guest); ok {
		g.hostWork(uint64(uint32(params[p.at])) * p.size)
	}
}

// After has nothing to do.
func (perUnit) After(context.Context, api.Module, api.FunctionDefinition, []uint64) {}

// Abort has nothing to do.
func (perUnit) Abort(context.Context, api.Module, api.FunctionDefinition, error) {}
