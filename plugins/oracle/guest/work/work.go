// Package work is the work of both guests of the oracle, which differ in input and output only.
package work

import (
	"crypto/sha256"
	"encoding/json"
	"strings"
)

// Invoke reads a message of the contract and returns one.
func Invoke(message []byte) ([]byte, error) {
	var in struct {
		Params    map[string]any `json:"params"`
		Arguments struct {
			Text string `json:"text"`
		} `json:"arguments"`
	}
	if err := json.Unmarshal(message, &in); err != nil {
		return nil, err
	}
	words := strings.Fields(in.Arguments.Text)
	return json.Marshal(map[string]any{"outputs": map[string]any{"text": strings.ToUpper(in.Arguments.Text), "count": len(words)}})
}

// Compute hashes a generated megabyte.
func Compute([]byte) []byte {
	b := make([]byte, 1<<20)
	for i := range b {
		b[i] = byte(i * 7)
	}
	sum := sha256.Sum256(b)
	return sum[:]
}
