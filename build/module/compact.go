package main

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"
)

// The tables that the runtime reads by program counter are kept: how far the stack pointer moves,
// and which words of the stack are pointers. compactFunctions drops what only crash traces and
// asynchronous preemption read, which WebAssembly does not have, and moves the rest together:
//
//   - names, files and lines; the names that the runtime compares stay;
//   - the trees of inlined calls, but for those of wrappers, which recover counts frames by;
//   - the places and the liveness of arguments.

// Numbers of the lists at the end of a description (internal/abi: PCDATA and FUNCDATA).
const (
	tableUnsafePoint, tableInlined, tableArgsLive = 0, 2, 3
	dataInlined, dataArgs, dataArgsLive           = 3, 5, 6

	noData = math.MaxUint32
)

// runtimeName replaces all names of functions of the runtime, whose prefix is all that it compares.
const runtimeName = "runtime."

// description is a function's entry in the table, read.
type description struct {
	head   []byte   // the part before the lists
	tables []int    // offsets of tables by program counter; 0: none
	data   []uint32 // offsets of data of the function; noData: none
}

func (f *functions) description(at int) description {
	d := description{head: bytes.Clone(f.mem[at : at+funcSize])}
	next := at + funcSize
	for range f.word(at + atTables) {
		d.tables = append(d.tables, f.word(next))
		next += 4
	}
	for range int(f.mem[at+atData]) {
		d.data = append(d.data, uint32(f.word(next)))
		next += 4
	}
	return d
}

// appendTo appends the description without empty entries at the ends of its lists.
func (d *description) appendTo(b []byte) []byte {
	for len(d.tables) > 0 && d.tables[len(d.tables)-1] == 0 {
		d.tables = d.tables[:len(d.tables)-1]
	}
	for len(d.data) > 0 && d.data[len(d.data)-1] == noData {
		d.data = d.data[:len(d.data)-1]
	}
	binary.LittleEndian.PutUint32(d.head[atTables:], uint32(len(d.tables)))
	d.head[atData] = byte(len(d.data))
	b = append(b, d.head...)
	for _, offset := range d.tables {
		b = binary.LittleEndian.AppendUint32(b, uint32(offset))
	}
	for _, offset := range d.data {
		b = binary.LittleEndian.AppendUint32(b, offset)
	}
	return b
}

// compactFunctions rewrites the table of functions in a memory.
func compactFunctions(mem []byte) error {
	f, err := findFunctions(mem)
	if err != nil {
		return err
	}
	wrapper, err := f.wrapper()
	if err != nil {
		return err
	}
	c := compaction{
		functions: f, wrapper: wrapper, first: f.funcs + f.word(f.funcs+4),
		names: pool{b: []byte{0}}, pcs: pool{b: []byte{0}}, used: map[uint32]bool{}, dropped: map[uint32]bool{},
	}
	if c.gofunc, err = f.dataBase(); err != nil {
		return err
	}
	if err := c.read(); err != nil {
		return err
	}
	c.clearData()
	if !replace(mem[f.names:f.units], c.names.b) || !replace(mem[f.pcs:f.funcs], c.pcs.b) ||
		!replace(mem[c.first:c.end], c.funcs) {
		return errShape
	}
	clear(mem[f.units:f.pcs]) // compilation units and files
	return nil
}

// compaction is the new table of functions.
type compaction struct {
	*functions
	wrapper       byte
	first, end    int // where the descriptions are
	gofunc        int // where the data of functions is
	names, pcs    pool
	funcs         []byte
	used, dropped map[uint32]bool // offsets of data
}

// read makes the new table.
func (c *compaction) read() error {
	var starts []int
	for at := range c.each {
		d := c.description(at)
		c.end = max(c.end, at+funcSize+4*len(d.tables)+4*len(d.data))
		wraps := d.head[atID] == c.wrapper
		d.strip(wraps, c.dropped)
		name := c.names.add(c.nameOf(at, wraps))
		binary.LittleEndian.PutUint32(d.head[atName:], uint32(name))
		for _, offset := range d.data {
			c.used[offset] = true
		}
		sp, err := c.table(c.word(at + atSP))
		if err != nil {
			return err
		}
		binary.LittleEndian.PutUint32(d.head[atSP:], uint32(sp))
		for i, offset := range d.tables {
			if d.tables[i], err = c.table(offset); err != nil {
				return err
			}
		}
		starts = append(starts, c.first-c.functions.funcs+len(c.funcs))
		c.funcs = d.appendTo(c.funcs)
	}
	if len(starts) != c.count || c.end > len(c.mem) {
		return errShape
	}
	for i, start := range starts {
		binary.LittleEndian.PutUint32(c.mem[c.functions.funcs+8*i+4:], uint32(start))
	}
	return nil
}

// strip removes what running the function does not require, and notes which data that was.
func (d *description) strip(wraps bool, dropped map[uint32]bool) {
	for _, field := range [...]int{atFile, atLine, atUnit, atStart} {
		clear(d.head[field : field+4])
	}
	for i := range d.tables {
		if i == tableUnsafePoint || i == tableInlined && !wraps || i == tableArgsLive {
			d.tables[i] = 0
		}
	}
	for i := range d.data {
		if i == dataInlined && !wraps || i == dataArgs || i == dataArgsLive {
			dropped[d.data[i]] = true
			d.data[i] = noData
		}
	}
}

// nameOf returns the shortened name of a function. A method called on a nil pointer by its wrapper
// panics with the name of the wrapper, and reflect with those of its methods.
func (c *compaction) nameOf(at int, wraps bool) []byte {
	switch name := c.name(at); {
	case wraps, strings.HasPrefix(name, "reflect."):
		return append([]byte(name), 0)
	case strings.HasPrefix(name, runtimeName):
		return append([]byte(runtimeName), 0)
	}
	return nil
}

// table adds a table of values by program counter, pairs of numbers up to a zero, and returns its
// new offset. Offset 0 means no table.
func (c *compaction) table(offset int) (int, error) {
	if offset == 0 {
		return 0, nil
	}
	from := c.functions.pcs + offset
	for at := from; at < c.functions.funcs; {
		value, n := binary.Uvarint(c.mem[at:])
		if n <= 0 {
			break
		}
		if value == 0 && at > from {
			return c.pcs.add(c.mem[from : at+1]), nil
		}
		_, m := binary.Uvarint(c.mem[at+n:])
		if m <= 0 {
			break
		}
		at += n + m
	}
	return 0, errShape
}

// clearData clears the data that nothing reads. An item ends where another begins.
func (c *compaction) clearData() {
	var all []uint32
	for _, set := range []map[uint32]bool{c.used, c.dropped} {
		for offset := range set {
			if offset != noData {
				all = append(all, offset)
			}
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	for i, offset := range all {
		if !c.used[offset] && i+1 < len(all) {
			clear(c.mem[c.gofunc+int(offset) : c.gofunc+int(all[i+1])])
		}
	}
}

// dataBase finds the data of functions: the runtime's moduledata starts with the addresses of the
// parts of the table of functions, and has that of the data in its forty-first word.
func (f *functions) dataBase() (int, error) {
	const (
		wordNames, wordUnits, wordFuncs = 1, 4, 13
		wordData, wordEnd               = 40, 41
	)
	head := binary.LittleEndian.AppendUint64(nil, uint64(f.head))
	head = binary.LittleEndian.AppendUint64(head, uint64(f.names))
	at := bytes.Index(f.mem, head)
	if at < 0 || at+8*(wordEnd+1) > len(f.mem) {
		return 0, errShape
	}
	word := func(i int) int { return int(binary.LittleEndian.Uint64(f.mem[at+8*i:])) }
	if word(wordUnits) != f.units || word(wordFuncs) != f.funcs || word(wordEnd) < f.funcs ||
		word(wordEnd) > len(f.mem) || word(wordData) <= 0 || word(wordData) >= len(f.mem) {
		return 0, errShape
	}
	return word(wordData), nil
}

// pool is bytes that several places share.
type pool struct {
	b  []byte
	at map[string]int
}

// add returns the offset of an item; 0 for an empty one.
func (p *pool) add(item []byte) int {
	if len(item) == 0 {
		return 0
	}
	at, ok := p.at[string(item)]
	if !ok {
		if p.at == nil {
			p.at = map[string]int{}
		}
		at = len(p.b)
		p.at[string(item)] = at
		p.b = append(p.b, item...)
	}
	return at
}

// replace overwrites a part of a memory with at most as many bytes, and clears the rest.
func replace(part, b []byte) bool {
	if len(b) > len(part) {
		return false
	}
	clear(part[copy(part, b):])
	return true
}
