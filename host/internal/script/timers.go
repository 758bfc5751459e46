package script

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/dop251/goja"

	"github.com/easel-canvas/easel/engine"
)

// timers are the pending setTimeout calls of a script, run one by one while main's promise is pending.
type timers struct {
	last    int64
	pending []timer
}

type timer struct {
	id  int64
	at  time.Time
	run func() error
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
		t.pending = append(t.pending, timer{
			id: t.last, at: time.Now().Add(time.Duration(call.Argument(1).ToInteger()) * time.Millisecond),
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
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.id, b.id))
	})
	t.clear(first.id)
	if err := (engine.SystemClock{}).Sleep(ctx, time.Until(first.at)); err != nil {
		return false, context.Cause(ctx)
	}
	return true, first.run()
}
