// Package embedding reads the answers of servers of embeddings, and adapts requests to the sizes
// that a server accepts.
package embedding

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/loose"
)

// Vectors returns the vectors of n texts from the member data of an answer, in which they may be in
// any order.
func Vectors(data engine.Value, n int) ([][]float32, error) {
	if data.Len() != n {
		return nil, fmt.Errorf("the answer has %d vectors for %d texts: %w", data.Len(), n, ErrVectors)
	}
	vectors := make([][]float32, n)
	for place, e := range data.Elements() {
		i, ok := loose.Number(e.Get("index"))
		if !ok {
			i = int64(place)
		}
		if i < 0 || i >= int64(n) || vectors[i] != nil {
			return nil, fmt.Errorf("the answer has index %d twice or out of range 0 to %d: %w", i, n-1, ErrVectors)
		}
		v := vectorOf(e.Get("embedding"))
		if len(v) == 0 {
			return nil, fmt.Errorf("the answer has an empty vector: %w", ErrVectors)
		}
		vectors[i] = v
	}
	for i, v := range vectors {
		if len(v) == 0 || len(v) != len(vectors[0]) {
			return nil, fmt.Errorf("text %d of %d: %w", i, n, ErrVectors)
		}
	}
	return vectors, nil
}

// vectorOf reads a vector: a list of numbers, or the base64 of 32-bit numbers.
func vectorOf(v engine.Value) []float32 {
	if v.Kind() == engine.KindString {
		data, err := base64.StdEncoding.DecodeString(v.Str())
		if err != nil || len(data)%4 != 0 {
			return nil
		}
		out := make([]float32, len(data)/4)
		for i := range out {
			out[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		}
		return out
	}
	if v.At(0).Kind() == engine.KindList { // one vector per text, in a list
		v = v.At(0)
	}
	out := make([]float32, 0, v.Len())
	for _, x := range v.Elements() {
		f, ok := x.Float()
		if !ok {
			return nil
		}
		out = append(out, float32(f))
	}
	return out
}

// ErrVectors means that an answer does not have one vector of the same size per text.
var ErrVectors = errors.New("the answer has not one vector of the same size for each text")
