package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// Codes of failures. They are stable; the texts beside them are for people.
const (
	codeRequest  = "bad_request"       // the message itself is wrong
	codeDSL      = "bad_dsl"           // the canvas does not load
	codeBusy     = "busy"              // the canvas is running
	codeCanceled = "canceled"          // the run was told to stop
	codeTimeout  = "timeout"           // something took too long
	codePort     = "unsupported"       // nobody answers this kind of call
	codeRef      = "bad_ref"           // a reference to nothing
	codeUnknown  = "unknown_component" // no component of this name
	codeLimit    = "limit"             // a limit of the run
	codePipeline = "pipeline"          // ingestion pipelines do not run
	codeState    = "bad_state"         // a saved state of another canvas
	codeNode     = "node_failed"       // anything else that failed inside a node
	codeInternal = "internal"          // the module itself is wrong
)

// failure is an error with a code of its own: one of this module, or what the host answered.
type failure struct {
	code, text string
	retry      bool
	data       engine.Value // what a plugin adds, null otherwise
}

func (f *failure) Error() string { return f.text }

// codes says how the engine's errors are called; the first that fits counts.
var codes = []struct {
	err  error
	code string
}{
	{engine.ErrCanceled, codeCanceled},
	{context.Canceled, codeCanceled},
	{context.DeadlineExceeded, codeTimeout},
	{engine.ErrNoPort, codePort},
	{engine.ErrRef, codeRef},
	{engine.ErrUnknownComponent, codeUnknown},
	{engine.ErrLimit, codeLimit},
	{engine.ErrPipeline, codePipeline},
	{engine.ErrState, codeState},
}

// codeOf is the code of an error, or other when it has none.
func codeOf(err error, other string) string {
	var f *failure
	if errors.As(err, &f) {
		return f.code
	}
	if code := engine.CodeOf(err); code != "" && errors.Is(err, engine.ErrLimit) && code != "limit_reached" {
		return code // each limit of a run has a code of its own
	}
	for _, c := range codes {
		if errors.Is(err, c.err) {
			return c.code
		}
	}
	var p *contract.Error
	if errors.As(err, &p) {
		return string(p.Code)
	}
	return other
}

// describe is an error as the contract writes it: {code, message, node?, retry?}.
func describe(err error, other string) engine.Value {
	b := engine.NewObject(4).Set("code", engine.String(codeOf(err, other))).Set("message", engine.String(err.Error()))
	var node *engine.NodeError
	var param *engine.ParamError
	switch {
	case errors.As(err, &node):
		b.Set("node", engine.String(node.Node))
	case errors.As(err, &param):
		b.Set("node", engine.String(param.Node))
	}
	var f *failure
	if errors.As(err, &f) && f.retry {
		b.Set("retry", engine.Bool(true))
	}
	return b.Value()
}

func failureOf(err error) []byte { return describe(err, codeRequest).AppendJSON(nil) }

// dslError gives an error of loading its code, and keeps what it says.
type dslError struct{ error }

func (e dslError) Unwrap() []error { return []error{e.error, &failure{code: codeDSL}} }

// rescue turns a panic into an error: the module must outlive whatever one message does to it.
func rescue(err *error) {
	if p := recover(); p != nil {
		*err = &failure{code: codeInternal, text: fmt.Sprintf("panic: %v", p)}
	}
}
