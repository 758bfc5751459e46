// Command hello is a plugin for easel.
package main

import "github.com/easel-canvas/easel/plugins/sdk"

// Args are what a model fills in, or a node refers to.
type Args struct {
	City string `json:"city" doc:"name of a city"`
}

// Out is what other nodes may use.
type Out struct {
	Text string `json:"text" doc:"a greeting"`
}

func init() {
	sdk.Register(sdk.Manifest{
		Name: "hello", Version: "0.1.0", License: "Apache-2.0",
		Description: "Greets a city.",
	}, greet)
}

func greet(_ *sdk.Call, _ sdk.None, a Args) (Out, error) {
	if a.City == "" {
		return Out{}, sdk.Fail(sdk.InvalidArgument, "city is empty")
	}
	return Out{Text: "Hello, " + a.City}, nil
}

func main() {}
