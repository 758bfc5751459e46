package encoder

import "math"

// scratch is the memory of a batch. Rows are tokens.
type scratch struct {
	x, next, normal, qkv, mixed, wide []float32
	query, scores, result             []float32 // of one head of one text
	keys, values                      []float32
}

// sized returns zeros, in the memory of buffer if that is large enough.
func sized(buffer *[]float32, n int) []float32 {
	if cap(*buffer) < n {
		*buffer = make([]float32, n)
	}
	*buffer = (*buffer)[:n]
	clear(*buffer)
	return *buffer
}

// run writes the vectors of the texts in group, whose tokens are in ids.
func (e *Encoder) run(ids [][]int, group []int, out [][]float32) {
	s, ok := e.scratch.Get().(*scratch)
	if !ok {
		s = &scratch{}
	}
	defer e.scratch.Put(s)
	var spans [][2]int // of tokens, by text
	tokens := 0
	for _, i := range group {
		spans = append(spans, [2]int{tokens, tokens + len(ids[i])})
		tokens += len(ids[i])
	}
	if tokens == 0 {
		for _, i := range group {
			out[i] = make([]float32, width)
		}
		return
	}
	rows := roundUp(tokens, rowBlock)
	x := sized(&s.x, rows*width0)
	for k, i := range group {
		for t, id := range ids[i] {
			e.embedding(id, t, x[(spans[k][0]+t)*width0:][:width0])
		}
	}
	for i := range e.layers {
		x = e.layer(s, i, x, rows, spans)
	}
	for k, i := range group {
		out[i] = e.pool(x, spans[k])
	}
}

// embedding writes that of a token at a position.
func (e *Encoder) embedding(id, position int, to []float32) {
	signal := e.signal[position*width0:][:width0]
	for i := range to {
		to[i] = 2*e.weights.value(&e.weights.embeddings, id, i) + signal[i] // the graph adds the embedding twice
	}
}

// layer returns the output of a layer, rows of width numbers.
func (e *Encoder) layer(s *scratch, number int, x []float32, rows int, spans [][2]int) []float32 {
	l, in := &e.layers[number], len(x)/rows
	normal := sized(&s.normal, rows*max(in, width))
	normalize(normal, x, in, l.norm1)
	qkv := sized(&s.qkv, rows*3*in)
	e.apply(&l.qkv, normal, rows, qkv)
	mixed := sized(&s.mixed, rows*in)
	for _, span := range spans {
		e.attend(s, qkv, span, in, mixed)
	}
	next := sized(&s.next, rows*width)
	if number == 0 {
		e.apply(&e.residual, x, rows, next)
	} else {
		copy(next, x)
	}
	e.apply(&l.out, mixed, rows, next)
	normalize(normal, next, width, l.norm2)
	wide := sized(&s.wide, rows*inner)
	e.apply(&l.wide, normal, rows, wide)
	for i, v := range wide {
		wide[i] = max(0, v)
	}
	e.apply(&l.narrow, wide, rows, next)
	s.x, s.next = s.next, s.x
	return next
}

// apply adds rows of x times a matrix, and its bias, to rows of out.
func (e *Encoder) apply(l *linear, x []float32, rows int, out []float32) {
	columns := len(l.bias)
	for r := range rows {
		for i, b := range l.bias {
			out[r*columns+i] += b
		}
	}
	l.matrix.multiply(e.kernel, x, l.matrix.depth, rows, out, columns)
}

// attend mixes the values of the tokens of a text by how their keys fit the query of each.
func (e *Encoder) attend(s *scratch, qkv []float32, span [2]int, in int, mixed []float32) {
	n, size := span[1]-span[0], in/headCount
	if n == 0 {
		return
	}
	rows, columns := roundUp(n, rowBlock), roundUp(n, lanes)
	scale := float32(1 / math.Sqrt(float64(size)))
	for h := range headCount {
		query := sized(&s.query, rows*size)
		keys, values := newPacked(s.keys, size, n), newPacked(s.values, n, size)
		s.keys, s.values = keys.data, values.data
		for t := range n {
			from := qkv[(span[0]+t)*3*in+h*size:]
			for i := range size {
				query[t*size+i] = from[i] * scale
				keys.data[keys.at(i, t)] = from[in+i]
			}
			for i := 0; i < size; i += lanes {
				copy(values.data[values.at(t, i):][:lanes], from[2*in+i:])
			}
		}
		scores := sized(&s.scores, rows*columns)
		keys.multiply(e.kernel, query, size, rows, scores, columns)
		for t := range n {
			softmax(scores[t*columns:][:n])
		}
		result := sized(&s.result, rows*size)
		values.multiply(e.kernel, scores, columns, rows, result, size)
		for t := range n {
			copy(mixed[(span[0]+t)*in+h*size:][:size], result[t*size:])
		}
	}
}

// softmax replaces scores by their shares.
func softmax(scores []float32) {
	top := scores[0]
	for _, v := range scores {
		top = max(top, v)
	}
	var total float64
	for i, v := range scores {
		share := math.Exp(float64(v - top))
		scores[i] = float32(share)
		total += share
	}
	for i := range scores {
		scores[i] = float32(float64(scores[i]) / total)
	}
}

// normalize writes rows of x with mean 0 and variance 1, scaled and moved.
func normalize(out, x []float32, columns int, n [2][]float32) {
	for at := 0; at < len(x); at += columns {
		row := x[at:][:columns]
		var mean, variance float64
		for _, v := range row {
			mean += float64(v)
		}
		mean /= float64(columns)
		for _, v := range row {
			variance += (float64(v) - mean) * (float64(v) - mean)
		}
		scale := 1 / math.Sqrt(variance/float64(columns)+norms)
		for i, v := range row {
			out[at+i] = float32((float64(v)-mean)*scale)*n[0][i] + n[1][i]
		}
	}
}

// pool returns the vector of a text from its tokens.
func (e *Encoder) pool(x []float32, span [2]int) []float32 {
	out := make([]float32, width)
	n := span[1] - span[0]
	if n == 0 {
		return out
	}
	var mean [rowBlock * width]float32 // the kernels take rowBlock rows
	for t := span[0]; t < span[1]; t++ {
		for i, v := range x[t*width:][:width] {
			mean[i] += v / float32(n)
		}
	}
	var sum [rowBlock * width]float32
	e.apply(&e.last, mean[:], rowBlock, sum[:])
	var squares float64
	for i := range out {
		out[i] = float32(math.Tanh(float64(sum[i])))
		squares += float64(out[i]) * float64(out[i])
	}
	for i := range out {
		out[i] /= float32(math.Sqrt(max(squares, 1e-12)))
	}
	return out
}
