package encoder

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// Sizes of the model.
const (
	pieces     = 8000       // of the vocabulary
	embedded   = pieces + 2 // embeddings
	width0     = 256        // of embeddings, the input of the first layer
	width      = 512        // of all other layers and of vectors
	inner      = 1536
	headCount  = 4
	maxTokens  = 128 // of a text that count
	reserved   = 6   // numbers of control pieces
	norms      = 1e-6
	pieceBytes = 1 << 10 // bound of one piece of the vocabulary
)

// tensor is a matrix. It has either floats, or bytes with a scale for each column, for embeddings
// for each row.
type tensor struct {
	rows, columns int
	floats        []float32
	bytes         []int8
	scales        []float32
}

// Weights are the parameters of the encoder with its vocabulary.
type Weights struct {
	pieces []string
	scores []float64

	embeddings, periods tensor
	layers              [2]layerWeights
	residual, last      linearWeights
}

type layerWeights struct {
	norm1, norm2           [2]tensor // scale and bias
	qkv, out, wide, narrow linearWeights
}

// linearWeights are a matrix and the bias of its products.
type linearWeights struct{ matrix, bias tensor }

func shaped(rows, columns int) tensor { return tensor{rows: rows, columns: columns} }

func linearOf(rows, columns int) linearWeights {
	return linearWeights{shaped(rows, columns), shaped(1, columns)}
}

// newWeights returns weights that have sizes and no values.
func newWeights() *Weights {
	w := &Weights{
		embeddings: shaped(embedded, width0), periods: shaped(1, width0/2),
		residual: linearOf(width0, width), last: linearOf(width, width),
	}
	for i, in := range [2]int{width0, width} {
		w.layers[i] = layerWeights{
			norm1: [2]tensor{shaped(1, in), shaped(1, in)}, norm2: [2]tensor{shaped(1, width), shaped(1, width)},
			qkv: linearOf(in, 3*in), out: linearOf(in, width),
			wide: linearOf(width, inner), narrow: linearOf(inner, width),
		}
	}
	return w
}

// tensors lists all in the order of the file.
func (w *Weights) tensors() []*tensor {
	out := []*tensor{&w.embeddings, &w.periods}
	for i := range w.layers {
		l := &w.layers[i]
		out = append(out, &l.norm1[0], &l.norm1[1], &l.norm2[0], &l.norm2[1])
		for _, d := range []*linearWeights{&l.qkv, &l.out, &l.wide, &l.narrow} {
			out = append(out, &d.matrix, &d.bias)
		}
	}
	return append(out, &w.residual.matrix, &w.residual.bias, &w.last.matrix, &w.last.bias)
}

// scaleOf returns the index of the scale of an element.
func (w *Weights) scaleOf(t *tensor, row, column int) int {
	if t == &w.embeddings {
		return row
	}
	return column
}

func (w *Weights) scaleCount(t *tensor) int {
	if t == &w.embeddings {
		return t.rows
	}
	return t.columns
}

// Quantize replaces the values of matrices by int8.
func (w *Weights) Quantize() {
	for _, t := range w.tensors() {
		if t.rows == 1 || t.bytes != nil {
			continue
		}
		scales, bytes := make([]float32, w.scaleCount(t)), make([]int8, len(t.floats))
		for i, v := range t.floats {
			at := w.scaleOf(t, i/t.columns, i%t.columns)
			scales[at] = max(scales[at], float32(math.Abs(float64(v)))/math.MaxInt8)
		}
		for i, v := range t.floats {
			if s := scales[w.scaleOf(t, i/t.columns, i%t.columns)]; s > 0 {
				bytes[i] = int8(math.Round(float64(v / s)))
			}
		}
		t.floats, t.bytes, t.scales = nil, bytes, scales
	}
}

// value returns an element.
func (w *Weights) value(t *tensor, row, column int) float32 {
	i := row*t.columns + column
	if t.bytes == nil {
		return t.floats[i]
	}
	return float32(t.bytes[i]) * t.scales[w.scaleOf(t, row, column)]
}

// signature is the start of a file of weights, inside of its compression.
const signature = "easel-encoder 1\n"

// ErrFormat means that a file holds no weights of this encoder.
var ErrFormat = errors.New("not a file of the encoder's weights")

// Write writes quantized weights, compressed.
func (w *Weights) Write(to io.Writer) error {
	z, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(z)
	out.WriteString(signature) // a buffered writer returns its first error from Flush
	for i, piece := range w.pieces {
		head := binary.LittleEndian.AppendUint64(nil, math.Float64bits(w.scores[i]))
		out.Write(binary.LittleEndian.AppendUint16(head, uint16(len(piece))))
		out.WriteString(piece)
	}
	for _, t := range w.tensors() {
		if t.rows == 1 {
			err = binary.Write(out, binary.LittleEndian, t.floats)
		} else if err = binary.Write(out, binary.LittleEndian, t.scales); err == nil {
			err = binary.Write(out, binary.LittleEndian, t.bytes)
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(out.Flush(), z.Close())
}

// Read reads what [Weights.Write] wrote. Errors: [ErrFormat].
func Read(from io.Reader) (*Weights, error) {
	w, err := read(from)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return w, nil
}

func read(from io.Reader) (*Weights, error) {
	z, err := gzip.NewReader(from)
	if err != nil {
		return nil, err
	}
	in := bufio.NewReader(z)
	start := make([]byte, len(signature))
	if _, err := io.ReadFull(in, start); err != nil || string(start) != signature {
		return nil, errors.Join(errors.New("unknown signature"), err)
	}
	w := newWeights()
	for range pieces {
		var head [10]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return nil, err
		}
		n := binary.LittleEndian.Uint16(head[8:])
		if n > pieceBytes {
			return nil, fmt.Errorf("a piece of the vocabulary has %d bytes", n)
		}
		text := make([]byte, n)
		if _, err := io.ReadFull(in, text); err != nil {
			return nil, err
		}
		w.pieces = append(w.pieces, string(text))
		w.scores = append(w.scores, math.Float64frombits(binary.LittleEndian.Uint64(head[:])))
	}
	for _, t := range w.tensors() {
		if err := w.readTensor(in, t); err != nil {
			return nil, err
		}
	}
	if _, err := in.ReadByte(); !errors.Is(err, io.EOF) { // EOF comes after the check of the sum
		return nil, errors.Join(errors.New("bytes follow the weights"), err)
	}
	return w, nil
}

func (w *Weights) readTensor(in io.Reader, t *tensor) error {
	if t.rows == 1 {
		t.floats = make([]float32, t.columns)
		return binary.Read(in, binary.LittleEndian, t.floats)
	}
	t.scales, t.bytes = make([]float32, w.scaleCount(t)), make([]int8, t.rows*t.columns)
	if err := binary.Read(in, binary.LittleEndian, t.scales); err != nil {
		return err
	}
	return binary.Read(in, binary.LittleEndian, t.bytes)
}
