package model2vec

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// tensor is an array in a safetensors file.
type tensor struct {
	kind  string // F32, F16, BF16, I8, I32, I64, ...
	shape []int
	data  []byte
}

// readTensors reads a safetensors file: the size of a JSON header, the header, the arrays.
func readTensors(file []byte) (map[string]tensor, error) {
	if len(file) < 8 {
		return nil, errors.New("it is too short for a header")
	}
	size := binary.LittleEndian.Uint64(file)
	body := file[8:]
	if size > uint64(len(body)) {
		return nil, fmt.Errorf("its header has %d bytes, the file %d", size, len(file))
	}
	header := map[string]json.RawMessage{}
	if err := json.Unmarshal(body[:size], &header); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	body = body[size:]
	out := map[string]tensor{}
	for name, raw := range header {
		if name == "__metadata__" {
			continue
		}
		var h struct {
			Kind    string `json:"dtype"`
			Shape   []int  `json:"shape"`
			Offsets [2]int `json:"data_offsets"`
		}
		if err := json.Unmarshal(raw, &h); err != nil {
			return nil, fmt.Errorf("tensor %s: %w", name, err)
		}
		from, to := h.Offsets[0], h.Offsets[1]
		width, ok := widths[h.Kind]
		if !ok {
			return nil, fmt.Errorf("tensor %s: unknown type %s (one of F64, F32, F16, BF16, I8, I32, I64)", name,
				h.Kind)
		}
		if from < 0 || from > to || to > len(body) || !holds(h.Shape, width, to-from) {
			return nil, fmt.Errorf("tensor %s: shape %v of %s does not fit bytes %d to %d of %d",
				name, h.Shape, h.Kind, from, to, len(body))
		}
		out[name] = tensor{h.Kind, h.Shape, body[from:to]}
	}
	return out, nil
}

var widths = map[string]int{"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I8": 1, "I32": 4, "I64": 8}

// holds reports whether an array of a shape has a number of bytes.
func holds(shape []int, width, bytes int) bool {
	n := width
	for _, d := range shape {
		if d < 0 || d > 0 && n > math.MaxInt32*4/d {
			return false
		}
		n *= d
	}
	return n == bytes
}

func names(tensors map[string]tensor) (out []string) {
	for name := range tensors {
		out = append(out, name)
	}
	return out
}

// floats returns the array as numbers.
func (t tensor) floats() ([]float32, error) {
	width := widths[t.kind]
	out := make([]float32, len(t.data)/width)
	for i := range out {
		b := t.data[i*width:]
		switch t.kind {
		case "F64":
			out[i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(b)))
		case "F32":
			out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b))
		case "F16":
			out[i] = half(binary.LittleEndian.Uint16(b))
		case "BF16":
			out[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16)
		case "I8":
			out[i] = float32(int8(b[0]))
		default:
			return nil, fmt.Errorf("type %s is not one of F64, F32, F16, BF16, I8", t.kind)
		}
	}
	return out, nil
}

// ints returns the array as whole numbers.
func (t tensor) ints() ([]int, error) {
	width := widths[t.kind]
	out := make([]int, len(t.data)/width)
	for i := range out {
		b := t.data[i*width:]
		switch t.kind {
		case "I64":
			out[i] = int(int64(binary.LittleEndian.Uint64(b)))
		case "I32":
			out[i] = int(int32(binary.LittleEndian.Uint32(b)))
		default:
			return nil, fmt.Errorf("type %s is not one of I64, I32", t.kind)
		}
	}
	return out, nil
}

// half returns a float of 16 bits.
func half(b uint16) float32 {
	sign, exponent, fraction := uint32(b>>15)<<31, uint32(b>>10&31), uint32(b&0x3FF)
	switch exponent {
	case 0:
		v := float32(fraction) / (1 << 24)
		if sign != 0 {
			v = -v
		}
		return v
	case 31:
		return math.Float32frombits(sign | 0xFF<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}
