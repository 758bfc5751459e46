package script

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/dop251/goja"

	"github.com/easel-canvas/easel/engine"
)

// timers are the pending setTimeout calls of a script. They run one by one while the promise of
// main is pending.
//
// Their order depends only on the script and not on its speed: a delay counts from the due time of
// the timer that called setTimeout. No timer runs before its delay has passed on the clock as well.
type timers struct {
	last    int64
	now     time.Duration // due time of the running timer, since the script started
	pending []timer
}

type timer struct {
	id    int64
	due   time.Duration // since the script started
	after time.Time     // earliest time on the clock
	run   func() error
}

// set implements setTimeout(f, ms, ...args).
func (t *timers) set(vm *goja.Runtime) func(goja.FunctionCall) goja.Value {
	return func(call goja.FunctionCall) goja.Value {
		f, ok := goja.AssertFunction(call.Argument(0))
		if !ok {
			panic(vm.NewTypeError("setTimeout: the first argument is not a function"))
		}
		var args []goja.Value
		if len(call.Arguments) > 2 {
			args = call.Arguments[2:]
		}
		t.last++
		delay := time.Duration(min(max(call.Argument(1).ToInteger(), 0), math.MaxInt32)) * time.Millisecond
		t.pending = append(t.pending, timer{
			id: t.last, due: t.now + delay, after: time.Now().Add(delay),
			run: func() error { _, err := f(goja.Undefined(), args...); return err },
		})
		return vm.ToValue(t.last)
	}
}

// clear implements clearTimeout(id).
func (t *timers) clear(id int64) {
	t.pending = slices.DeleteFunc(t.pending, func(x timer) bool { return x.id == id })
}

// next waits for the earliest timer and runs it; again is false without one.
func (t *timers) next(ctx context.Context) (again bool, err error) {
	if len(t.pending) == 0 {
		return false, nil
	}
	first := slices.MinFunc(t.pending, func(a, b timer) int {
		return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.id, b.id))
	})
	t.clear(first.id)
	if err := (engine.SystemClock{}).Sleep(ctx, time.Until(first.after)); err != nil {
		return false, context.Cause(ctx)
	}
	t.now = first.due
	return true, first.run()
}
