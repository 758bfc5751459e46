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

// timers are the pending setTimeout calls of a script, run one by one while main's promise is
// pending.
//
// In which order they come depends on what the script says and not on how fast it runs: they are
// counted from when the function that set them was due. None comes before its time has passed on
// the clock as well.
type timers struct {
	last    int64
	now     time.Duration // when the timer that runs was due, since the script began
	pending []timer
}

type timer struct {
	id    int64
	due   time.Duration // since the script began
	after time.Time     // not before
	run   func() error
}

// set is setTimeout(f, ms, ...args).
func (t *timers) set(vm *goja.Runtime) func(goja.FunctionCall) goja.Value {
	return func(call goja.FunctionCall) goja.Value {
		f, ok := goja.AssertFunction(call.Argument(0))
		if !ok {
			panic(vm.NewTypeError("setTimeout: the first argument is no function"))
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

// clear is clearTimeout(id).
func (t *timers) clear(id int64) {
	t.pending = slices.DeleteFunc(t.pending, func(x timer) bool { return x.id == id })
}

// next waits for the earliest timer and runs it; again is false when there is none.
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
