package encoder

// lanes is the number of columns of a panel, and rowBlock the number of rows that a kernel
// multiplies with it.
const (
	lanes    = 16
	rowBlock = 4
)

// kernel adds to rowBlock rows of c, which begin stride apart, the product of rowBlock rows of a
// and a panel: depth rows of lanes columns.
type kernel func(depth int, a []float32, aStride int, panel, c []float32, cStride int)

// best is the fastest kernel of this machine.
var best = vectorKernel()

// portable is the kernel in Go: the fallback, and the reference of the others.
func portable(depth int, a []float32, aStride int, panel, c []float32, cStride int) {
	for r := 0; r < rowBlock; r += 2 {
		a0, a1 := a[r*aStride:][:depth], a[(r+1)*aStride:][:depth]
		c0, c1 := c[r*cStride:][:lanes], c[(r+1)*cStride:][:lanes]
		for j := 0; j < lanes; j += 4 {
			s00, s01, s02, s03 := c0[j], c0[j+1], c0[j+2], c0[j+3]
			s10, s11, s12, s13 := c1[j], c1[j+1], c1[j+2], c1[j+3]
			for p, x := range a0 {
				y, b := a1[p], panel[p*lanes+j:][:4]
				s00 += x * b[0]
				s01 += x * b[1]
				s02 += x * b[2]
				s03 += x * b[3]
				s10 += y * b[0]
				s11 += y * b[1]
				s12 += y * b[2]
				s13 += y * b[3]
			}
			c0[j], c0[j+1], c0[j+2], c0[j+3] = s00, s01, s02, s03
			c1[j], c1[j+1], c1[j+2], c1[j+3] = s10, s11, s12, s13
		}
	}
}

// packed is a matrix in panels of lanes columns. Columns beyond its own are 0.
type packed struct {
	depth, columns int // columns is a multiple of lanes
	data           []float32
}

// newPacked makes room for a matrix, in the memory of buffer if that is large enough.
func newPacked(buffer []float32, depth, columns int) packed {
	columns = roundUp(columns, lanes)
	size := depth * columns
	if cap(buffer) < size {
		buffer = make([]float32, size)
	}
	p := packed{depth, columns, buffer[:size]}
	clear(p.data)
	return p
}

// at returns the index of an element in the data.
func (p *packed) at(row, column int) int {
	return (column/lanes*p.depth+row)*lanes + column%lanes
}

// multiply adds a times the matrix to c. rows is a multiple of rowBlock.
func (p *packed) multiply(k kernel, a []float32, aStride, rows int, c []float32, cStride int) {
	for column := 0; column < p.columns; column += lanes {
		panel := p.data[column*p.depth:][:p.depth*lanes]
		for r := 0; r < rows; r += rowBlock {
			k(p.depth, a[r*aStride:], aStride, panel, c[r*cStride+column:], cStride)
		}
	}
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }
