// Command extism is the oracle's guest on the Extism PDK.
package main

import (
	"github.com/extism/go-pdk"

	"github.com/easel-canvas/easel/host/oracle/guest/work"
)

//go:wasmexport echo
func echo() int32 {
	pdk.Output(pdk.Input())
	return 0
}

//go:wasmexport invoke
func invoke() int32 {
	out, err := work.Invoke(pdk.Input())
	if err != nil {
		pdk.SetError(err)
		return 1
	}
	pdk.Output(out)
	return 0
}

//go:wasmexport compute
func compute() int32 {
	pdk.Output(work.Compute(nil))
	return 0
}

func main() {}
