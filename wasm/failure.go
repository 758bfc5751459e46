package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// Codes of this module alone; [engine.Codes] lists all.
const (
	codeRequest = "bad_request"
	codeBusy    = "busy"
)

// failure is an error with a code: one of this module, or an error of the host.
type failure struct {
	code, text string
	retry      bool
	data       engine.Value // what a plugin adds, null otherwise
	cause      error        // may be nil
}

func (f *failure) Error() string { return f.text }

// Unwrap returns the cause, if there is one.
func (f *failure) Unwrap() error { return f.cause }

// codeOf returns the code of an error, or other when it has none.
func codeOf(err error, other string) string {
	var f *failure
	if errors.As(err, &f) {
		return f.code
	}
	if code := engine.CodeOf(err); code != "" {
		return code
	}
	switch {
	case errors.Is(err, context.Canceled):
		return engine.CodeCanceled
	case errors.Is(err, context.DeadlineExceeded):
		return engine.CodeTimeout
	}
	var p *contract.Error
	if errors.As(err, &p) {
		return string(p.Code)
	}
	return other
}

// describe returns an error as the contract writes it: {code, message, node?, retry?}.
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

// loadFailure adds the code of an invalid canvas to a load error without a code.
func loadFailure(err error) error {
	return &failure{code: codeOf(err, engine.CodeBadCanvas), text: err.Error(), cause: err}
}

// rescue turns a panic into an error, so that no message can end the module.
func rescue(err *error) {
	if p := recover(); p != nil {
		*err = &failure{code: engine.CodeInternal, text: fmt.Sprintf("panic: %v", p)}
	}
}
