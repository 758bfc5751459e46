//go:build wasm

package main

import "unsafe"

//go:wasmimport easel emit
func hostEmit(run uint32, ptr unsafe.Pointer, size uint32)

//go:wasmimport easel call
func hostCall(run, call uint32, ptr unsafe.Pointer, size uint32)

//go:wasmimport easel done
func hostDone(id, ok uint32, ptr unsafe.Pointer, size uint32)

// wasmHost calls the host through the imports.
type wasmHost struct{}

func (wasmHost) emit(run uint32, text []byte) {
	hostEmit(run, unsafe.Pointer(unsafe.SliceData(text)), uint32(len(text)))
}

func (wasmHost) call(run, call uint32, text []byte) {
	hostCall(run, call, unsafe.Pointer(unsafe.SliceData(text)), uint32(len(text)))
}

func (wasmHost) done(id uint32, ok bool, text []byte) {
	hostDone(id, bit(ok), unsafe.Pointer(unsafe.SliceData(text)), uint32(len(text)))
}

func bit(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

var module = newBridge(wasmHost{})

// buffers keeps the memory returned by alloc alive until it is taken.
var buffers = map[unsafe.Pointer][]byte{}

//go:wasmexport alloc
func alloc(size uint32) unsafe.Pointer {
	b := make([]byte, max(size, 1))
	p := unsafe.Pointer(unsafe.SliceData(b))
	buffers[p] = b
	return p
}

// take ends the host's ownership of a buffer. It returns "" for a pointer that did not come from
// alloc.
func take(p unsafe.Pointer, size uint32) string {
	b := buffers[p]
	delete(buffers, p)
	b = b[:min(int(size), len(b))]
	return unsafe.String(unsafe.SliceData(b), len(b))
}

//go:wasmexport load
func load(request uint32, p unsafe.Pointer, size uint32) {
	enter()
	module.load(request, take(p, size))
	settle()
}

//go:wasmexport start
func start(run uint32, p unsafe.Pointer, size uint32) {
	enter()
	module.start(run, take(p, size))
	settle()
}

//go:wasmexport deliver
func deliver(call, ok, more uint32, p unsafe.Pointer, size uint32) {
	enter()
	module.deliver(call, ok != 0, more != 0, take(p, size))
	settle()
}

//go:wasmexport cancel
func cancel(run uint32, p unsafe.Pointer, size uint32) {
	enter()
	take(p, size) // the host reports the reason
	module.cancel(run)
	settle()
}

//go:wasmexport close
func closeHandle(handle uint32) {
	enter()
	module.close(handle)
	settle()
}
