package oracle

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/wattest"
)

// fetcher sends its input as a request and returns the response.
const fetcher = `(module
	(import "extism:host/env" "input_offset" (func $input (result i64)))
	(import "extism:host/env" "length" (func $length (param i64) (result i64)))
	(import "extism:host/env" "output_set" (func $set (param i64 i64)))
	(import "extism:host/env" "http_request" (func $http (param i64 i64) (result i64)))
	(func (export "fetch") (result i32) (local $at i64)
		call $input i64.const 0 call $http local.tee $at local.get $at call $length call $set i32.const 0))`

// TestDeniedRequestsEndTheCall compares requests to a host that is not allowed: they end the call,
// without an output, on both hosts.
func TestDeniedRequestsEndTheCall(t *testing.T) {
	wasm := wattest.Must(fetcher)
	const request = `{"url":"http://other.example/","method":"GET"}`
	p, err := official(t, wasm, 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	_, theirs, err := p.Call("fetch", []byte(request))
	if err == nil || !strings.Contains(err.Error(), "is not allowed") || len(theirs) > 0 {
		t.Errorf("official host: output %q, error %v", theirs, err)
	}
	m, err := ours(t, wasm, "fetch")
	if err != nil {
		t.Fatal(err)
	}
	answer, err := m.Call(context.Background(), plugin.CallRequest{Export: "fetch", Input: []byte(request)})
	if !errors.Is(err, contract.Denied) || len(answer.Output) > 0 {
		t.Errorf("our host: output %q, error %v", answer.Output, err)
	}
}

// TestProgramsEndAlike runs WASI programs, whose end is a success or a failure on both hosts. The
// official one has no standard input and does not return what they write.
func TestProgramsEndAlike(t *testing.T) {
	same := 0
	for _, program := range wattest.Programs() {
		wasm := wattest.Must(program.Text)
		p, err := official(t, wasm, 2*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		_, _, theirs := p.Call(contract.CommandExport, nil)
		m, err := ours(t, wasm, contract.CommandExport)
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Call(context.Background(), plugin.CallRequest{Export: contract.CommandExport})
		if (theirs == nil) != (err == nil) {
			t.Errorf("%s: official host: %v, our host: %v", program.Name, theirs, err)
			continue
		}
		same++
	}
	t.Logf("%d programs end alike", same)
}
