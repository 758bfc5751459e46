package sdk

import (
	"unsafe"

	"github.com/extism/go-pdk"
)

// The bulk imports copy whole messages; the Extism functions copy 8 bytes a call, so they are used
// for settings and variables only.

//go:wasmimport easel:host/v1 input_len
func inputLen() uint32

//go:wasmimport easel:host/v1 input_read
func inputRead(p unsafe.Pointer, n uint32) uint32

//go:wasmimport easel:host/v1 output_write
func outputWrite(p unsafe.Pointer, n uint32)

//go:wasmimport easel:host/v1 error_write
func errorWrite(p unsafe.Pointer, n uint32)

//go:wasmimport easel:host/v1 log
func logWrite(level uint32, p unsafe.Pointer, n uint32)

//go:wasmimport easel:host/v1 emit
func emit(kind uint32, p unsafe.Pointer, n uint32) uint32

//go:wasmimport easel:host/v1 call
func call(format uint32, p unsafe.Pointer, n uint32) int32

//go:wasmimport easel:host/v1 result_read
func resultRead(p unsafe.Pointer, n uint32) uint32

//go:wasmexport easel_invoke
func exportInvoke() int32 {
	out, err := invoke(outside{}, message())
	return finish(out, err)
}

//go:wasmexport easel_describe
func exportDescribe() int32 {
	out, err := describe()
	return finish(out, err)
}

//go:wasmexport easel_check
func exportCheck() int32 { return finish(nil, checkParams(message())) }

// buffer contains the input of one call and is reused by the next; decoding JSON copies its values.
var buffer []byte

// message returns the whole input.
func message() []byte {
	if n := int(inputLen()); n > len(buffer) {
		buffer = make([]byte, n)
	}
	return buffer[:inputRead(unsafe.Pointer(unsafe.SliceData(buffer)), uint32(len(buffer)))]
}

// finish passes the output or the error to the host.
func finish(out []byte, err error) int32 {
	if err != nil {
		out = failure(err)
		errorWrite(unsafe.Pointer(unsafe.SliceData(out)), uint32(len(out)))
		return 1
	}
	outputWrite(unsafe.Pointer(unsafe.SliceData(out)), uint32(len(out)))
	return 0
}

// outside is the real host.
type outside struct{}

func (outside) emit(kind int, data []byte) bool {
	return emit(uint32(kind), unsafe.Pointer(unsafe.SliceData(data)), uint32(len(data))) != 0
}

func (outside) ask(request []byte) ([]byte, bool) {
	n := call(0, unsafe.Pointer(unsafe.SliceData(request)), uint32(len(request)))
	if n < 0 {
		return nil, false
	}
	b := make([]byte, n)
	return b[:resultRead(unsafe.Pointer(unsafe.SliceData(b)), uint32(n))], true
}

func (outside) log(level Level, text string) {
	logWrite(uint32(level), unsafe.Pointer(unsafe.StringData(text)), uint32(len(text)))
}

func (outside) setting(name string) (string, bool) { return pdk.GetConfig(name) }

func (outside) variable(name string) []byte { return pdk.GetVar(name) }

func (outside) setVariable(name string, value []byte) {
	if value == nil {
		pdk.RemoveVar(name)
		return
	}
	pdk.SetVar(name, value)
}
