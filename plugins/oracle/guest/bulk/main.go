// Command bulk is the oracle's guest on the bulk imports, as the SDK makes them.
package main

import (
	"unsafe"

	"github.com/easel-canvas/easel/host/oracle/guest/work"
)

//go:wasmimport easel:host/v1 input_len
func inputLen() uint32

//go:wasmimport easel:host/v1 input_read
func inputRead(p unsafe.Pointer, n uint32) uint32

//go:wasmimport easel:host/v1 output_write
func outputWrite(p unsafe.Pointer, n uint32)

//go:wasmimport easel:host/v1 error_write
func errorWrite(p unsafe.Pointer, n uint32)

// buffer contains the input of one call and is reused by the next.
var buffer []byte

func input() []byte {
	if n := int(inputLen()); n > len(buffer) {
		buffer = make([]byte, n)
	}
	return buffer[:inputRead(unsafe.Pointer(unsafe.SliceData(buffer)), uint32(len(buffer)))]
}

func output(b []byte) int32 {
	outputWrite(unsafe.Pointer(unsafe.SliceData(b)), uint32(len(b)))
	return 0
}

//go:wasmexport echo
func echo() int32 { return output(input()) }

//go:wasmexport invoke
func invoke() int32 {
	out, err := work.Invoke(input())
	if err != nil {
		b := []byte(err.Error())
		errorWrite(unsafe.Pointer(unsafe.SliceData(b)), uint32(len(b)))
		return 1
	}
	return output(out)
}

//go:wasmexport compute
func compute() int32 { return output(work.Compute(nil)) }

func main() {}
