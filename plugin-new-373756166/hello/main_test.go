package main

import (
	"testing"

	"github.com/easel-canvas/easel/plugins/sdk"
)

func TestGreet(t *testing.T) {
	var host sdk.Fake
	out, err := greet(host.Call(), sdk.None{}, Args{City: "Oslo"})
	if err != nil || out.Text != "Hello, Oslo" {
		t.Errorf("got %q, %v", out.Text, err)
	}
}
