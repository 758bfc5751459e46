// Package model2vec runs static embedding models: a folder with model.safetensors and
// tokenizer.json, as the model2vec program writes them.
//
// The vector of a text is the mean of the vectors of its tokens, so a text of any size costs one
// table lookup for each token. The package imports the standard library only and runs in a browser,
// too. A [Model] is safe for concurrent use.
//
// Source: https://github.com/MinishLab/model2vec, model2vec/model.py (tokenize, _encode_helper,
// encode).
package model2vec

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
)

// Model is a loaded model.
type Model struct {
	tokens    *tokenizer
	table     []float32 // one row of dims for each embedding
	dims      int
	mapping   []int     // embedding of each token; nil means the same number
	weights   []float32 // of each token; nil means 1
	normalize bool
	longest   int // characters of a text that are read
}

// longestText bounds the tokens of a text that count, as in model2vec.
const longestText = 512

// Load reads a model from a folder.
func Load(dir fs.FS) (*Model, error) {
	data, err := fs.ReadFile(dir, "tokenizer.json")
	if err != nil {
		return nil, err
	}
	m := &Model{normalize: true}
	if m.tokens, err = readTokenizer(data); err != nil {
		return nil, fmt.Errorf("tokenizer.json: %w", err)
	}
	m.longest = longestText * m.tokens.medianLength()
	if data, err = fs.ReadFile(dir, "model.safetensors"); err != nil {
		return nil, err
	}
	if err := m.readTensors(data); err != nil {
		return nil, fmt.Errorf("model.safetensors: %w", err)
	}
	data, err = fs.ReadFile(dir, "config.json")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return m, nil
	case err != nil:
		return nil, err
	}
	config := struct {
		Normalize *bool `json:"normalize"`
	}{}
	if err := json.Unmarshal(data, &config); err != nil {
		return nil, fmt.Errorf("config.json: %w", err)
	}
	m.normalize = config.Normalize == nil || *config.Normalize
	return m, nil
}

// readTensors reads the embeddings, with their mapping and weights if present.
func (m *Model) readTensors(data []byte) error {
	tensors, err := readTensors(data)
	if err != nil {
		return err
	}
	table, ok := tensors["embeddings"]
	if !ok || len(table.shape) != 2 {
		return fmt.Errorf("it has no tensor \"embeddings\" of two dimensions, only %v", names(tensors))
	}
	m.dims = table.shape[1]
	if m.table, err = table.floats(); err != nil {
		return fmt.Errorf("embeddings: %w", err)
	}
	rows, tokens := table.shape[0], m.tokens.size()
	if mapping, ok := tensors["mapping"]; ok {
		if m.mapping, err = mapping.ints(); err != nil {
			return fmt.Errorf("mapping: %w", err)
		}
		for token, row := range m.mapping {
			if row < 0 || row >= rows {
				return fmt.Errorf("mapping: token %d has embedding %d of %d", token, row, rows)
			}
		}
		rows = len(m.mapping)
	}
	if rows < tokens {
		return fmt.Errorf("it has embeddings for %d tokens, tokenizer.json has %d", rows, tokens)
	}
	if weights, ok := tensors["weights"]; ok {
		if m.weights, err = weights.floats(); err != nil {
			return fmt.Errorf("weights: %w", err)
		}
		if len(m.weights) < tokens {
			return fmt.Errorf("it has weights for %d tokens, tokenizer.json has %d", len(m.weights), tokens)
		}
	}
	return nil
}

// Dims returns the number of dimensions of the vectors.
func (m *Model) Dims() int { return m.dims }

// Embed returns the vector of a text: all zeros when it has no known token, else of length 1 unless
// the model is configured otherwise.
func (m *Model) Embed(text string) []float32 {
	out := make([]float32, m.dims)
	ids := m.tokens.encode(head(text, m.longest))
	ids = slices.DeleteFunc(ids, func(id int) bool { return id == m.tokens.unknown })
	ids = ids[:min(len(ids), longestText)]
	if len(ids) == 0 {
		return out
	}
	for _, id := range ids {
		row, weight := id, float32(1)
		if m.mapping != nil {
			row = m.mapping[id]
		}
		if m.weights != nil {
			weight = m.weights[id]
		}
		for i, x := range m.table[row*m.dims : (row+1)*m.dims] {
			out[i] += weight * x
		}
	}
	scale := 1 / float32(len(ids))
	var squares float64
	for i := range out {
		out[i] *= scale
		squares += float64(out[i]) * float64(out[i])
	}
	if m.normalize && squares > 0 {
		length := float32(math.Sqrt(squares))
		for i := range out {
			out[i] /= length
		}
	}
	return out
}

// head returns the first n characters of a text.
func head(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}
