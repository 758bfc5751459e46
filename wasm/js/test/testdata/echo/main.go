// Command echo is the smallest module that implements the contract: it returns the query of a run,
// after a call to the host and a Go timer. With it the JavaScript side is tested with a real Go
// runtime without the engine, and with failures that the engine never has: "spin" computes without
// end, "crash" panics.
package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall/js"
	"time"
	"unsafe"
)

//go:wasmimport easel emit
func emit(run uint32, ptr unsafe.Pointer, n uint32)

//go:wasmimport easel call
func call(run, id uint32, ptr unsafe.Pointer, n uint32)

//go:wasmimport easel done
func done(id, ok uint32, ptr unsafe.Pointer, n uint32)

// abi is the version of the contract that it claims to keep; tests set another (-X main.abi=9).
var abi = "1"

// buffers keeps the memory that the host fills alive until it is taken.
var buffers = map[uintptr][]byte{}

var answers = map[uint32]chan string{}

//go:wasmexport alloc
func alloc(n uint32) unsafe.Pointer {
	b := make([]byte, max(n, 1))
	p := unsafe.Pointer(&b[0])
	buffers[uintptr(p)] = b
	return p
}

func take(p unsafe.Pointer, n uint32) string {
	b := buffers[uintptr(p)]
	delete(buffers, uintptr(p))
	return string(b[:n])
}

//go:wasmexport load
func load(id uint32, p unsafe.Pointer, n uint32) {
	text := take(p, n)
	go func() {
		switch {
		case strings.Contains(text, `"info"`):
			finish(id, 1, `{"abi":`+abi+`,"version":"echo"}`)
		case strings.Contains(text, `"load"`):
			finish(id, 1, `{"canvas":1}`)
		case strings.Contains(text, `"save"`):
			finish(id, 1, text)
		default:
			finish(id, 0, `{"code":"unsupported","message":"only an echo"}`)
		}
	}()
}

//go:wasmexport start
func start(id uint32, p unsafe.Pointer, n uint32) {
	text := take(p, n)
	var asked struct{ Query string }
	if err := json.Unmarshal([]byte(text), &asked); err != nil {
		asked.Query = err.Error()
	}
	go func() {
		switch asked.Query {
		case "spin":
			for { //lint:ignore SA5002 it is meant to spin
			}
		case "crash":
			panic("asked to")
		}
		heard := make(chan string)
		answers[id] = heard
		say := func(fn func(uint32, unsafe.Pointer, uint32), s string) {
			fn(id, unsafe.Pointer(unsafe.StringData(s)), uint32(len(s)))
		}
		say(emit, event("message", asked.Query))
		time.Sleep(5 * time.Millisecond)
		say(func(run uint32, p unsafe.Pointer, n uint32) { call(run, id, p, n) }, `{"kind":"model","payload":{"model":"","mode":"chat","messages":[]}}`)
		for piece := range heard {
			say(emit, event("message", piece))
		}
		finish(id, 1, `{"status":"succeeded"}`)
	}()
}

func event(name, content string) string {
	text, err := json.Marshal(content)
	if err != nil {
		text = []byte(`""`)
	}
	return fmt.Sprintf(`{"event":%q,"message_id":"","task_id":"","created_at":0,"data":{"content":%s}}`, name, text)
}

//go:wasmexport deliver
func deliver(id, ok, more uint32, p unsafe.Pointer, n uint32) {
	text := take(p, n)
	heard := answers[id]
	go func() {
		heard <- text
		if more == 0 {
			close(heard)
		}
	}()
}

//go:wasmexport cancel
func cancel(id uint32, p unsafe.Pointer, n uint32) {
	take(p, n)
	go finish(id, 1, `{"status":"canceled"}`)
}

//go:wasmexport close
func closeHandle(uint32) {}

func finish(id, ok uint32, s string) {
	done(id, ok, unsafe.Pointer(unsafe.StringData(s)), uint32(len(s)))
}

func main() {
	// The kick needs no body: entering Go through it runs every goroutine that is ready.
	js.Global().Call("easel_boot", js.FuncOf(func(js.Value, []js.Value) any { return nil }))
	select {}
}
