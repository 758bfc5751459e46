package python

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// wasmHeader begins a core module of WebAssembly.
const wasmHeader = "\x00asm\x01\x00\x00\x00"

// strip returns a module without custom sections. Those of an interpreter are debug information,
// half of its bytes, all of which are read and hashed for each start.
func strip(module []byte) ([]byte, error) {
	rest, ok := bytes.CutPrefix(module, []byte(wasmHeader))
	if !ok {
		return nil, fmt.Errorf("%w: it is not a core module of WebAssembly", ErrModule)
	}
	out := append(make([]byte, 0, len(module)), wasmHeader...)
	for len(rest) > 0 {
		size, n := binary.Uvarint(rest[1:])
		if n <= 0 || size > uint64(len(rest)-1-n) {
			return nil, fmt.Errorf("%w: it is cut off after %d bytes", ErrModule, len(module)-len(rest))
		}
		end := 1 + n + int(size)
		if custom := rest[0] == 0; !custom {
			out = append(out, rest[:end]...)
		}
		rest = rest[end:]
	}
	return out, nil
}
