// Package sdk is the Go SDK for plugins of easel.
//
// A plugin is one function; see [RegisterAll] for several. [Register] it in an init function with its [Manifest]; the forms, the tool a model sees
// and the checks of the host come from the types of the function:
//
//	type Args struct {
//		City string `json:"city" doc:"City name"`
//	}
//
//	type Out struct {
//		Text string `json:"text"`
//	}
//
//	func init() { sdk.Register(manifest, greet) }
//
//	func greet(c *sdk.Call, _ sdk.None, a Args) (Out, error) {
//		return Out{Text: "Hello, " + a.City}, nil
//	}
//
//	func main() {}
//
// Build it with GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared, then `easel plugin pack`
// writes the manifest into the file. The plugin accesses everything outside through its [Call]: a
// request that the manifest does not declare, or the operator does not grant, returns an [Error]
// with the code denied.
//
// Outside of WebAssembly the package uses a [Fake], so plain `go test` runs a plugin on any
// machine.
//
// The package uses the bulk imports of plugins/contract, and the Extism PDK for settings and
// variables of a run. One instance runs one call at a time; nothing in this package is safe for
// concurrent use.
package sdk

import (
	"encoding/json"
	"errors"
	"fmt"
)

// None is the type of the params or arguments of a plugin without them.
type None struct{}

// registered is the plugin of this program.
var registered *plugin

// plugin holds what is registered: the functions by component, under "" the only one.
type plugin struct {
	manifest  Manifest
	functions map[string]*function
}

// function is a registered function behind its types.
type function struct {
	run   func(c *Call, params, arguments json.RawMessage) (any, error)
	check func(params json.RawMessage) error
}

// Register makes run the plugin of this program. P are the params of a node, A the arguments from a
// model or a node, O the outputs; each is a struct whose tags describe it (see [SchemaOf]), or
// [None]. Call it once, in an init function.
func Register[P, A, O any](m Manifest, run func(c *Call, params P, arguments A) (O, error)) {
	m.ABI = abi
	m.Params, m.Arguments, m.Outputs = SchemaOf[P](), SchemaOf[A](), SchemaOf[O]()
	registered = &plugin{manifest: m, functions: map[string]*function{"": functionOf(run)}}
}

// functionOf takes the types off a function.
func functionOf[P, A, O any](run func(c *Call, params P, arguments A) (O, error)) *function {
	return &function{run: func(c *Call, params, arguments json.RawMessage) (any, error) {
		var p P
		var a A
		if err := read("params", params, &p); err != nil {
			return nil, err
		}
		if err := read("arguments", arguments, &a); err != nil {
			return nil, err
		}
		return run(c, p, a)
	}}
}

// Check adds a check of params to the registered plugin, called when a canvas is validated, without
// permissions.
func Check[P any](check func(params P) error) {
	if registered == nil || registered.functions[""] == nil {
		panic("sdk: Check comes after Register; for one of several components use Checks")
	}
	registered.functions[""].check = checkOf(check)
}

// checkOf takes the types off a test of params.
func checkOf[P any](check func(params P) error) func(json.RawMessage) error {
	return func(raw json.RawMessage) error {
		var p P
		if err := read("params", raw, &p); err != nil {
			return err
		}
		return check(p)
	}
}

func read(what string, raw json.RawMessage, into any) error {
	if len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return Fail(InvalidArgument, "%s: %v", what, err)
	}
	return nil
}

// input is the message of the host.
type input struct {
	ABI       int             `json:"abi"`
	Call      callInfo        `json:"call"`
	Params    json.RawMessage `json:"params"`
	Arguments json.RawMessage `json:"arguments"`
}

// output is the message to the host.
type output struct {
	Outputs   any        `json:"outputs"`
	Artifacts []Artifact `json:"artifacts,omitempty"`
	Citations []Citation `json:"citations,omitempty"`
	Usage     *Usage     `json:"usage,omitempty"`
	Next      string     `json:"next,omitempty"`
}

var errUnregistered = errors.New("no plugin is registered; call sdk.Register in an init function")

// invoke handles one message of the host.
func invoke(h host, message []byte) ([]byte, error) {
	if registered == nil {
		return nil, errUnregistered
	}
	var in input
	if err := json.Unmarshal(message, &in); err != nil {
		return nil, Fail(InvalidArgument, "input: %v", err)
	}
	if in.ABI != abi {
		return nil, Fail(InvalidArgument, "input has ABI %d, this plugin was built for %d", in.ABI, abi)
	}
	called, err := registered.called(in)
	if err != nil {
		return nil, err
	}
	c := &Call{callInfo: in.Call, host: h}
	out, err := called.run(c, in.Params, in.Arguments)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(output{
		Outputs: out, Artifacts: c.artifacts, Citations: c.citations, Usage: c.usage, Next: c.next,
	})
	if err != nil {
		return nil, fmt.Errorf("outputs: %w", err)
	}
	return b, nil
}

// describe returns the manifest in the form for the host.
func describe() ([]byte, error) {
	if registered == nil {
		return nil, errUnregistered
	}
	return json.Marshal(registered.manifest)
}

// checkParams handles easel_check.
func checkParams(message []byte) error {
	if registered == nil {
		return nil
	}
	var in input
	if err := json.Unmarshal(message, &in); err != nil {
		return Fail(InvalidArgument, "input: %v", err)
	}
	called, err := registered.called(in)
	if err != nil || called.check == nil {
		return err
	}
	return called.check(in.Params)
}
