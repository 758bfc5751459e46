//go:build !wasm

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "easel.wasm is a WebAssembly module: build it with GOOS=js or GOOS=wasip1 and GOARCH=wasm")
	os.Exit(2)
}

func breathe() {}
