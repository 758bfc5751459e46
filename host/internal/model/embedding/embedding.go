// Package embedding reads the answers of servers of embeddings, and adapts requests to the sizes
// that a server accepts.
package embedding

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/model/loose"
)

// Vectors returns the vectors of n texts from an answer, in which they may be in any order.
func Vectors(answer engine.Value, n int) ([][]float32, error) {
	data := vectorsIn(answer)
	if data.Len() != n {
		return nil, fmt.Errorf("the answer has %d vectors for %d texts: %w", data.Len(), n, ErrVectors)
	}
	vectors := make([][]float32, n)
	first := firstIndex(data)
	for place, e := range data.Elements() {
		i, ok := indexOf(e)
		if i -= first; !ok || first < 0 {
			i = int64(place)
		}
		if i < 0 || i >= int64(n) || vectors[i] != nil {
			return nil, fmt.Errorf("the answer has index %d twice or out of range 0 to %d: %w", i, n-1, ErrVectors)
		}
		v := vectorOf(e)
		if len(v) == 0 {
			return nil, fmt.Errorf("the answer has a vector without numbers: %w", ErrVectors)
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

// vectorsIn returns the list of vectors of an answer: the answer itself, or a member of it in the
// forms of OpenAI, Ollama, Google, Cohere, Cloudflare and DashScope.
func vectorsIn(answer engine.Value) engine.Value {
	for _, name := range [...]string{"data", "embeddings", "result", "output", "float"} {
		if v := answer.Get(name); v.Truthy() {
			return vectorsIn(v)
		}
	}
	return answer
}

func indexOf(e engine.Value) (int64, bool) {
	i, ok := loose.Number(e.Get("index"))
	if !ok {
		i, ok = loose.Number(e.Get("text_index"))
	}
	return i, ok
}

// firstIndex returns the number of the first text, which is 1 at some servers; -1 if all have the
// same one, so that only the places count.
func firstIndex(data engine.Value) int64 {
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	for _, e := range data.Elements() {
		i, ok := indexOf(e)
		if !ok {
			return 0
		}
		least, most = min(least, i), max(most, i)
	}
	switch {
	case least == most && data.Len() > 1:
		return -1
	case least == 1 && most == int64(data.Len()):
		return 1
	}
	return 0
}

// vectorOf reads a vector, alone or as a member: a list of numbers, or the base64 of numbers of 32
// bits.
func vectorOf(v engine.Value) []float32 {
	if object := v; v.Kind() == engine.KindObject {
		if v = v.Get("embedding"); v.IsNull() {
			v = object.Get("values")
		}
	}
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
		if x.Kind() == engine.KindString {
			x, _ = engine.ParseNumber(strings.TrimSpace(x.Str()))
		}
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
