package script

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/dlclark/regexp2/v2"
	"github.com/dop251/goja"

	"github.com/easel-canvas/easel/engine"
)

// maxCalls bounds the depth of calls.
const maxCalls = 2000

// A regular expression with look-around can run forever and ignores interrupts. After this timeout
// it does not match.
func init() { regexp2.DefaultMatchTimeout = 2 * time.Second }

// machine is an interpreter that runs one script. It belongs to one goroutine, except for
// interrupts.
type machine struct {
	vm     *goja.Runtime
	limits Limits
	out    printer
	errs   printer
	timers timers
}

// run executes a script in this process. It returns when ctx is done, even if the interpreter does
// not stop.
func run(ctx context.Context, limits Limits, c *engine.CodeCall) (engine.CodeResult, error) {
	m := &machine{vm: goja.New(), limits: limits}
	m.out.remaining, m.errs.remaining = limits.Output, limits.Output
	m.vm.SetMaxCallStackSize(maxCalls)
	stop := context.AfterFunc(ctx, func() { m.vm.Interrupt(context.Cause(ctx)) })
	defer stop()
	defer watchMemory(limits.Memory, m.vm.Interrupt)()

	type outcome struct {
		value engine.Value
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		v, err := m.main(ctx, c)
		done <- outcome{v, err}
	}()
	select {
	case o := <-done:
		return m.result(c.Script, o.value, o.err)
	case <-ctx.Done():
	}
	// The interpreter checks for interrupts between two steps, and a single step may be long.
	select {
	case o := <-done:
		return m.result(c.Script, o.value, o.err)
	case <-time.After(time.Second):
		return engine.CodeResult{}, context.Cause(ctx)
	}
}

// main runs the script, then its main function.
func (m *machine) main(ctx context.Context, c *engine.CodeCall) (v engine.Value, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("script: the interpreter failed: %v", p)
		}
	}()
	if err := m.prepare(); err != nil {
		return engine.Null, err
	}
	args, err := m.parseJSON(c.Arguments)
	if err != nil {
		return engine.Null, err
	}
	if _, err := m.vm.RunScript("script.js", c.Script); err != nil {
		return engine.Null, err
	}
	entry, err := m.entry()
	if err != nil {
		return engine.Null, err
	}
	result, err := entry(goja.Undefined(), args)
	if err != nil {
		return engine.Null, err
	}
	if result, err = m.settle(ctx, result); err != nil {
		return engine.Null, err
	}
	return m.export(result)
}

// errNoMain means that the script defines no entry point.
var errNoMain = errors.New("the script defines no function main(args)")

// entry returns main: a function of the script, module.exports.main, or module.exports itself.
func (m *machine) entry() (goja.Callable, error) {
	v, err := m.vm.RunString(`typeof main === "function" ? main
		: typeof module.exports === "function" ? module.exports : module.exports && module.exports.main`)
	if err != nil {
		return nil, err
	}
	f, ok := goja.AssertFunction(v)
	if !ok {
		return nil, errNoMain
	}
	return f, nil
}

// settle runs timers until a promise is settled.
func (m *machine) settle(ctx context.Context, v goja.Value) (goja.Value, error) {
	o, ok := v.(*goja.Object)
	if !ok || o.ExportType() != reflect.TypeFor[*goja.Promise]() { // Export copies other objects
		return v, nil
	}
	p, ok := o.Export().(*goja.Promise)
	if !ok {
		return v, nil
	}
	for p.State() == goja.PromiseStatePending {
		if again, err := m.timers.next(ctx); err != nil {
			return nil, err
		} else if !again {
			return nil, errors.New("the promise that main returned is never settled")
		}
	}
	if p.State() == goja.PromiseStateRejected {
		return nil, &thrown{p.Result()}
	}
	return m.settle(ctx, p.Result())
}

// thrown is the error of a rejected promise.
type thrown struct{ value goja.Value }

func (t *thrown) Error() string {
	if o, ok := t.value.(*goja.Object); ok {
		if stack := o.Get("stack"); stack != nil && !goja.IsUndefined(stack) {
			return strings.TrimSpace(stack.String())
		}
	}
	return t.value.String()
}

// result distinguishes errors that the script threw, which go to Stderr, from errors that stopped
// it.
func (m *machine) result(script string, v engine.Value, err error) (engine.CodeResult, error) {
	res := engine.CodeResult{Value: v, Stdout: m.out.String(), Stderr: m.errs.String()}
	var interrupted *goja.InterruptedError
	var exception *goja.Exception
	var rejected *thrown
	var deep *goja.StackOverflowError
	switch {
	case err == nil:
		return res, nil
	case errors.As(err, &interrupted):
		if cause, ok := interrupted.Value().(error); ok {
			return res, cause
		}
		return res, err
	case errors.As(err, &deep):
		res.Stderr += "RangeError: functions call each other deeper than " + fmt.Sprint(maxCalls) + " levels\n"
	case errors.As(err, &exception):
		res.Stderr += strings.TrimSpace(exception.String()) + syntaxHint(exception, script) + "\n"
	case errors.As(err, &rejected), errors.Is(err, errNoMain):
		res.Stderr += err.Error() + "\n"
	default:
		return res, err
	}
	res.Value = engine.Null
	return res, nil
}

// moduleWords matches a line of an ES module.
var moduleWords = regexp.MustCompile(`(?m)^\s*(import|export)\b`)

// syntaxHint explains the most common syntax error of scripts from elsewhere.
func syntaxHint(e *goja.Exception, script string) string {
	if strings.HasPrefix(e.Error(), "SyntaxError") && moduleWords.MatchString(script) {
		return " (import and export are not available: define function main(args) or set module.exports)"
	}
	return ""
}
