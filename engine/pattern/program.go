package pattern

import "fmt"

// maxProgram bounds the steps of a program: counted repeats multiply their operands.
const maxProgram = 10_000

type opcode uint8

const (
	opMatch  opcode = iota // the end of the expression
	opSet                  // one rune of set
	opSplit                // continue at next, else at other
	opJump                 // continue at next
	opAssert               // nothing is read: assert holds here
	opAhead                // nothing is read: look matches here, or does not if other is 1
)

// step is an instruction. The one after it follows, except after opJump and opSplit.
type step struct {
	op          opcode
	assert      byte // one of ^ $ A Z b B m M
	next, other int
	set         *set
	look        program
}

type program []step

// compile parses an expression and translates its tree.
func compile(expr string) (program, error) {
	p := &parser{expr: expr}
	root, err := p.parse()
	if err != nil {
		return nil, fmt.Errorf("%w (at %d)", err, p.pos)
	}
	b := builder{}
	if err := b.add(root); err != nil {
		return nil, err
	}
	return append(b.code, step{op: opMatch}), nil
}

type builder struct{ code program }

func (b *builder) emit(s step) int {
	b.code = append(b.code, s)
	return len(b.code) - 1
}

func (b *builder) add(n *node) error {
	if len(b.code) > maxProgram {
		return fmt.Errorf("the expression repeats too much (more than %d steps)", maxProgram)
	}
	switch n.kind {
	case nodeSet:
		b.emit(step{op: opSet, set: n.set})
	case nodeAssert:
		b.emit(step{op: opAssert, assert: n.assert})
	case nodeAhead:
		inner := builder{}
		if err := inner.add(n.list[0]); err != nil {
			return err
		}
		look := step{op: opAhead, look: append(inner.code, step{op: opMatch})}
		if n.negated {
			look.other = 1
		}
		b.emit(look)
	case nodeSequence:
		for _, c := range n.list {
			if err := b.add(c); err != nil {
				return err
			}
		}
	case nodeChoice:
		return b.choice(n.list)
	case nodeRepeat:
		return b.repeat(n)
	}
	return nil
}

func (b *builder) choice(list []*node) error {
	var ends []int
	for i, c := range list {
		last := i == len(list)-1
		split := len(b.code)
		if !last {
			b.emit(step{op: opSplit, next: split + 1})
		}
		if err := b.add(c); err != nil {
			return err
		}
		if !last {
			ends = append(ends, b.emit(step{op: opJump}))
			b.code[split].other = len(b.code)
		}
	}
	for _, at := range ends {
		b.code[at].next = len(b.code)
	}
	return nil
}

// repeat writes the needed copies, then optional ones or a loop.
func (b *builder) repeat(n *node) error {
	for range n.min {
		if err := b.add(n.list[0]); err != nil {
			return err
		}
	}
	if n.max < 0 {
		split := b.emit(step{op: opSplit})
		if err := b.add(n.list[0]); err != nil {
			return err
		}
		b.emit(step{op: opJump, next: split})
		b.branch(split, n.lazy)
		return nil
	}
	var splits []int
	for range n.max - n.min {
		splits = append(splits, b.emit(step{op: opSplit}))
		if err := b.add(n.list[0]); err != nil {
			return err
		}
	}
	for _, at := range splits {
		b.branch(at, n.lazy)
	}
	return nil
}

// branch completes a split: into the step after it, or to the end of the code.
func (b *builder) branch(split int, lazy bool) {
	in, out := split+1, len(b.code)
	if lazy {
		in, out = out, in
	}
	b.code[split].next, b.code[split].other = in, out
}
