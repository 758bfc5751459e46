package encoder

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/easel-canvas/easel/engine/model2vec"
)

// Name is the name of the model.
const Name = "universal-sentence-encoder-lite"

// Encoder turns texts into vectors. It is safe for concurrent use.
type Encoder struct {
	tokens *model2vec.Unigram
	kernel kernel
	// weights has the embeddings; the matrices of layers are packed copies.
	weights  *Weights
	signal   []float32 // of positions, maxTokens x width0
	layers   [2]layer
	residual linear
	last     linear
	scratch  sync.Pool // of *scratch
}

type layer struct {
	norm1, norm2           [2][]float32
	qkv, out, wide, narrow linear
}

type linear struct {
	matrix packed
	bias   []float32
}

// New makes an encoder.
func New(w *Weights) *Encoder {
	e := &Encoder{
		tokens: model2vec.NewUnigram(w.pieces, w.scores, 0, reserved), kernel: best,
		weights:  &Weights{embeddings: w.embeddings},
		signal:   timing(w.periods.floats),
		residual: w.linear(&w.residual), last: w.linear(&w.last),
	}
	for i := range e.layers {
		from, to := &w.layers[i], &e.layers[i]
		to.norm1 = [2][]float32{from.norm1[0].floats, from.norm1[1].floats}
		to.norm2 = [2][]float32{from.norm2[0].floats, from.norm2[1].floats}
		to.qkv, to.out = w.linear(&from.qkv), w.linear(&from.out)
		to.wide, to.narrow = w.linear(&from.wide), w.linear(&from.narrow)
	}
	return e
}

// linear packs a matrix.
func (w *Weights) linear(l *linearWeights) linear {
	t := &l.matrix
	m := newPacked(nil, t.rows, t.columns)
	for row := range t.rows {
		for column := range t.columns {
			m.data[m.at(row, column)] = w.value(t, row, column)
		}
	}
	return linear{m, l.bias.floats}
}

// timing returns the vectors that are added to embeddings by position.
func timing(periods []float32) []float32 {
	out := make([]float32, maxTokens*width0)
	for t := range maxTokens {
		for i, period := range periods {
			angle := float64(t) * float64(period)
			out[t*width0+i] = float32(math.Sin(angle))
			out[t*width0+len(periods)+i] = float32(math.Cos(angle))
		}
	}
	return out
}

// Model returns [Name].
func (e *Encoder) Model() string { return Name }

// block bounds the tokens of several texts that go through a layer together.
const block = 64

// turns bounds the threads of batches over all encoders: a core stays free for searches.
var turns = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)-1))

// questions counts the single texts in progress, for which batches wait.
var questions = struct {
	sync.Mutex
	count int // in progress
	ended int // so far
	ends  *sync.Cond
}{}

func init() { questions.ends = sync.NewCond(&questions) }

func beginQuestion() {
	questions.Lock()
	defer questions.Unlock()
	questions.count++
}

func endQuestion() {
	questions.Lock()
	defer questions.Unlock()
	questions.count--
	questions.ended++
	questions.ends.Broadcast()
}

// Embed returns a vector for each text; it is zero for a text without tokens and for one that
// [Reads] does not accept. One text alone is a question: batches wait for it.
func (e *Encoder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	ids := make([][]int, len(texts))
	order := make([]int, len(texts))
	for i, text := range texts {
		ids[i], order[i] = e.encode(text), i
	}
	out := make([][]float32, len(texts))
	if len(texts) == 1 {
		beginQuestion()
		defer endQuestion()
		e.run(ids, order, out)
		return out, context.Cause(ctx)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(ids[a]), len(ids[b])) })
	var running sync.WaitGroup
	for len(order) > 0 && ctx.Err() == nil {
		n, tokens := 1, len(ids[order[0]])
		for n < len(order) && tokens+len(ids[order[n]]) <= block {
			tokens += len(ids[order[n]])
			n++
		}
		group := order[:n]
		order = order[n:]
		if !turn(ctx) {
			break
		}
		running.Go(func() {
			defer func() { <-turns }()
			e.run(ids, group, out)
		})
	}
	running.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return out, nil
}

// turn waits until a batch may run, and reports whether it may.
func turn(ctx context.Context) bool {
	select {
	case turns <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	questions.Lock()
	defer questions.Unlock()
	// Not for those that come later: there may always be one.
	for last := questions.ended + questions.count; questions.count > 0 && questions.ended < last; {
		questions.ends.Wait() // for a few milliseconds
	}
	return true
}

// Reads reports whether at least half of the letters of a text are Latin.
func Reads(text string) bool {
	latin, letters := 0, 0
	for _, r := range text {
		if !unicode.IsLetter(r) {
			continue
		}
		letters++
		if r < 0x250 || unicode.Is(unicode.Latin, r) {
			latin++
		}
	}
	return letters == 0 || 2*latin >= letters
}

// encode returns the tokens of a text; unknown ones in a row count once.
func (e *Encoder) encode(text string) (ids []int) {
	text = norm.NFKC.String(head(text))
	if text == "" || !Reads(text) {
		return nil
	}
	for _, id := range e.tokens.Encode("▁" + strings.ReplaceAll(text, " ", "▁")) {
		if id != 0 || len(ids) == 0 || ids[len(ids)-1] != 0 {
			ids = append(ids, id)
		}
	}
	return ids[:min(len(ids), maxTokens)]
}

// headBytes bounds the part of a text that is read: maxTokens of the longest pieces fit in.
const headBytes = 8 << 10

// head returns the start of a long text, up to a blank if there is one.
func head(text string) string {
	if len(text) <= headBytes {
		return text
	}
	text = text[:headBytes]
	if at := strings.LastIndexByte(text, ' '); at > headBytes/2 {
		return text[:at]
	}
	return strings.ToValidUTF8(text, "")
}
