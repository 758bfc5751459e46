package wattest

import (
	"strconv"
	"strings"
)

// body writes the instructions of one function.
type body struct {
	m      *module
	out    []byte
	locals map[string]int
	labels []string // innermost last
}

func (m *module) body(n node) []byte {
	b := &body{m: m, locals: map[string]int{}}
	head, code := split(n)
	params := len(values(head, "param", b.locals, 0))
	types := values(head, "local", b.locals, params)
	b.out = u32(b.out, uint32(len(types)))
	for _, t := range types {
		b.out = append(b.out, 1, t)
	}
	b.instructions(code)
	b.out = append(b.out, 0x0b)
	return append(u32(nil, uint32(len(b.out))), b.out...)
}

// split divides a function into its signature and its instructions.
func split(n node) (head, code []node) {
	code = n.items[1:]
	if len(code) > 0 && strings.HasPrefix(code[0].text, "$") {
		code = code[1:]
	}
	for len(code) > 0 && isHead(code[0]) {
		head, code = append(head, code[0]), code[1:]
	}
	return head, code
}

// isHead reports whether a part of a function is in its signature.
func isHead(n node) bool {
	return n.is("param") || n.is("result") || n.is("local") || n.is("export") || n.is("type")
}

func (b *body) instructions(items []node) {
	for len(items) > 0 {
		n := items[0]
		items = items[1:]
		if n.is("byte") {
			for _, v := range n.items[1:] {
				b.out = append(b.out, byte(b.number(v, 9)))
			}
			continue
		}
		code, ok := opcodes[n.text]
		if !ok || n.list || n.str {
			b.m.fail(n, "unknown instruction %q", n.text)
			return
		}
		b.out = append(b.out, code...)
		items = b.operands(n, items)
	}
}

// operands writes the operands of the opcode and returns the remaining items.
func (b *body) operands(n node, items []node) []node {
	next := func() node {
		if len(items) == 0 {
			b.m.fail(n, "%s wants an operand", n.text)
			return node{}
		}
		item := items[0]
		items = items[1:]
		return item
	}
	switch op := n.text; {
	case op == "block" || op == "loop" || op == "if":
		return b.open(items)
	case op == "end":
		if len(b.labels) > 0 {
			b.labels = b.labels[:len(b.labels)-1]
		}
	case op == "br" || op == "br_if":
		b.out = u32(b.out, b.label(next()))
	case op == "br_table":
		var targets []uint32
		for len(items) > 0 && (strings.HasPrefix(items[0].text, "$") || isNumber(items[0].text)) {
			targets = append(targets, b.label(next()))
		}
		b.out = u32(b.out, uint32(len(targets)-1))
		for _, t := range targets {
			b.out = u32(b.out, t)
		}
	case op == "call" || op == "ref.func":
		b.out = u32(b.out, b.m.index("func", next()))
	case op == "call_indirect":
		b.out = append(u32(b.out, uint32(b.m.typeIndex([]node{next()}))), 0)
	case strings.HasPrefix(op, "local."):
		b.out = u32(b.out, b.local(next()))
	case strings.HasPrefix(op, "global."):
		b.out = u32(b.out, b.m.index("global", next()))
	case op == "i32.const":
		b.out = signed(b.out, int64(int32(b.number(next(), 33))))
	case op == "i64.const":
		b.out = signed(b.out, b.number(next(), 64))
	case op == "ref.null":
		next()
		b.out = append(b.out, 0x70)
	case op == "i8x16.extract_lane_u":
		b.out = append(b.out, byte(b.number(next(), 9)))
	case isMemory(op):
		offset := uint32(0)
		if len(items) > 0 && strings.HasPrefix(items[0].text, "offset=") {
			v, err := strconv.ParseUint(strings.TrimPrefix(next().text, "offset="), 0, 32)
			if err != nil {
				b.m.fail(n, "offset: %v", err)
			}
			offset = uint32(v)
		}
		b.out = u32(append(b.out, 0), offset)
	}
	return items
}

// open reads the label and result of a block.
func (b *body) open(items []node) []node {
	label := ""
	if len(items) > 0 && strings.HasPrefix(items[0].text, "$") {
		label, items = items[0].text, items[1:]
	}
	b.labels = append(b.labels, label)
	if len(items) > 0 && items[0].is("result") {
		b.out = append(b.out, valTypes[items[0].word(1)])
		return items[1:]
	}
	b.out = append(b.out, 0x40)
	return items
}

func (b *body) label(n node) uint32 {
	if !strings.HasPrefix(n.text, "$") {
		return uint32(b.number(n, 32))
	}
	for i := len(b.labels) - 1; i >= 0; i-- {
		if b.labels[i] == n.text {
			return uint32(len(b.labels) - 1 - i)
		}
	}
	b.m.fail(n, "no label %s", n.text)
	return 0
}

func (b *body) local(n node) uint32 {
	if i, ok := b.locals[n.text]; ok {
		return uint32(i)
	}
	return uint32(b.number(n, 32))
}

func (b *body) number(n node, bits int) int64 {
	v, err := strconv.ParseInt(n.text, 0, bits)
	if err != nil {
		b.m.fail(n, "want a number, got %q", n.text)
	}
	return v
}

func isNumber(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}

func signed(b []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}
