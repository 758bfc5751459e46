// Command goguest is a plugin for the tests of the host: a Go guest on the bulk
// imports, with one export per behaviour.
package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"time"
	"unsafe"
)

//go:wasmimport easel:host/v1 input_len
func inputLen() uint32

//go:wasmimport easel:host/v1 input_read
func inputRead(p unsafe.Pointer, n uint32) uint32

//go:wasmimport easel:host/v1 output_write
func outputWrite(p unsafe.Pointer, n uint32)

//go:wasmimport easel:host/v1 error_write
func errorWrite(p unsafe.Pointer, n uint32)

func input() []byte {
	b := make([]byte, inputLen())
	if len(b) > 0 {
		inputRead(unsafe.Pointer(&b[0]), uint32(len(b)))
	}
	return b
}

func output(b []byte) int32 {
	if len(b) > 0 {
		outputWrite(unsafe.Pointer(&b[0]), uint32(len(b)))
	}
	return 0
}

//go:wasmexport easel_invoke
func invoke() int32 {
	var in struct {
		Params map[string]any `json:"params"`
	}
	if err := json.Unmarshal(input(), &in); err != nil {
		text := []byte(err.Error())
		errorWrite(unsafe.Pointer(&text[0]), uint32(len(text)))
		return 1
	}
	out, err := json.Marshal(map[string]any{"outputs": in.Params})
	if err != nil {
		return 2
	}
	return output(out)
}

//go:wasmexport echo
func echo() int32 { return output(input()) }

// shouts is an echo that panics when it is shouted at.
//
//go:wasmexport shouts
func shouts() int32 {
	b := input()
	if len(b) > 0 && b[0] == '!' {
		panic("do not shout")
	}
	return output(b)
}

//go:wasmexport hash
func hash() int32 {
	sum := sha256.Sum256(input())
	return output(sum[:])
}

//go:wasmexport panics
func panics() int32 { panic("the sky fell") }

//go:wasmexport exits
func exits() int32 { os.Exit(3); return 0 }

//go:wasmexport bomb
func bomb() int32 {
	var keep [][]byte
	for {
		b := make([]byte, 1<<20)
		for i := range b {
			b[i] = 1
		}
		keep = append(keep, b)
		if len(keep) < 0 {
			return 0
		}
	}
}

//go:wasmexport spin
func spin() int32 {
	for i := 0; ; i++ {
		if i < 0 {
			return 0
		}
	}
}

func down(n int) int { return down(n+1) + 1 }

//go:wasmexport recurses
func recurses() int32 { return int32(down(0)) }

// world reports what of the outside can be seen.
//
//go:wasmexport world
func world() int32 {
	_, file := os.ReadFile("/etc/passwd")
	_, dir := os.ReadDir("/")
	return output(fmt.Appendf(nil, "args %d env %d file %t dir %t clock %t", len(os.Args), len(os.Environ()), file != nil, dir != nil, time.Now().Year() > 2000))
}

//go:wasmexport sleeps
func sleeps() int32 { time.Sleep(time.Minute); return 0 }

var calls int

// counts outputs the number of calls of this instance.
//
//go:wasmexport counts
func counts() int32 { calls++; return output(fmt.Append(nil, calls)) }

func main() {}
