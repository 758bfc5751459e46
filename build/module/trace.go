package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
)

// Go's table of functions (pclntab) has their names, and the file and line of every instruction. A
// program that runs needs neither: they are for the trace of a crash, which then shows addresses
// only; `-names` writes down what they mean. What the runtime itself looks up stays: where pointers
// are on the stack, and the names that it compares.

// tables of functions, as Go 1.20 and later write them (runtime: pcHeader and _func).
const (
	headMagic = 0xfffffff1
	headSize  = 72
	funcSize  = 44 // what comes before the two lists at its end

	atName, atSP, atFile, atLine, atTables, atUnit, atStart, atID = 4, 16, 20, 24, 28, 32, 36, 40
)

// functions is the table in memory.
type functions struct {
	mem                             []byte
	names, units, files, pcs, funcs int // where its parts begin
	count                           int
}

func findFunctions(mem []byte) (*functions, error) {
	head := binary.LittleEndian.AppendUint32(nil, headMagic)
	head = append(head, 0, 0, 1, 8) // in WebAssembly an instruction is one byte, a pointer eight
	at := bytes.Index(mem, head)
	if at < 0 || at+headSize > len(mem) {
		return nil, errShape
	}
	word := func(i int) int { return int(binary.LittleEndian.Uint64(mem[at+8*i:])) }
	f := &functions{mem: mem, count: word(1), names: at + word(4), units: at + word(5), files: at + word(6), pcs: at + word(7), funcs: at + word(8)}
	if f.names != at+headSize || f.units < f.names || f.files < f.units || f.pcs < f.files || f.funcs < f.pcs || f.funcs+8*f.count > len(mem) {
		return nil, errShape
	}
	return f, nil
}

// each yields the place of every function's description.
func (f *functions) each(yield func(at int) bool) {
	for i := range f.count {
		at := f.funcs + f.word(f.funcs+8*i+4)
		if at+funcSize > len(f.mem) || !yield(at) {
			return
		}
	}
}

func (f *functions) word(at int) int { return int(int32(binary.LittleEndian.Uint32(f.mem[at:]))) }

func (f *functions) name(at int) string {
	from := f.names + f.word(at+atName)
	end := bytes.IndexByte(f.mem[from:], 0)
	return string(f.mem[from : from+max(0, end)])
}

// all are the names of all functions, in order of their numbers.
func (f *functions) all() (list []string) {
	for at := range f.each {
		list = append(list, f.name(at))
	}
	return list
}

// names lists the functions of a module that was not slimmed, a line each: the upper half of the
// program counters in it, as a crash prints them (0x10a40003 is in 0x10a4), and its name.
func names(module []byte) ([]byte, error) {
	const first = 0x1000 // the linker's funcValueOffset
	sections, err := readSections(module)
	if err != nil {
		return nil, err
	}
	data := find(sections, sectionData)
	if data == nil {
		return nil, errShape
	}
	segments, err := readSegments(data.body)
	if err != nil {
		return nil, err
	}
	f, err := findFunctions(image(segments))
	if err != nil {
		return nil, err
	}
	var b []byte
	for i, name := range f.all() {
		b = fmt.Appendf(b, "%#x %s\n", first+i, name)
	}
	return b, nil
}

// forgetTraces takes names and lines out of a memory.
func forgetTraces(mem []byte) error {
	f, err := findFunctions(mem)
	if err != nil {
		return err
	}
	wrapper, err := f.wrapper()
	if err != nil {
		return err
	}
	keep := map[int]bool{} // bytes of names and of tables that somebody reads
	for at := range f.each {
		name := f.name(at)
		// A method called on a nil pointer by its wrapper panics with the wrapper's name.
		if runtimeAsks(name) || f.mem[at+atID] == wrapper {
			f.keep(keep, f.names+f.word(at+atName), len(name))
		}
		f.keepTable(keep, f.word(at+atSP))
		for i := range f.word(at + atTables) {
			f.keepTable(keep, f.word(at+funcSize+4*i))
		}
		for _, field := range [...]int{atFile, atLine, atUnit, atStart} {
			clear(mem[at+field : at+field+4])
		}
	}
	for at := f.names; at < f.funcs; at++ {
		if !keep[at] {
			mem[at] = 0
		}
	}
	return nil
}

// runtimeAsks reports whether the runtime compares names like this one.
func runtimeAsks(name string) bool {
	return strings.HasPrefix(name, "runtime.") || strings.HasPrefix(name, "internal/runtime/") || strings.HasPrefix(name, "reflect.")
}

// wrapper is the mark of methods that the compiler made; its number differs from version to
// version. It is what p.(*T).M has where there is a p.T.M.
func (f *functions) wrapper() (byte, error) {
	known := map[string]bool{}
	for _, name := range f.all() {
		known[name] = true
	}
	for at := range f.each {
		name := f.name(at)
		if value := strings.NewReplacer("(*", "", ")", "").Replace(name); value != name && known[value] && f.mem[at+atID] != 0 {
			return f.mem[at+atID], nil
		}
	}
	return 0, errShape
}

func (f *functions) keep(keep map[int]bool, at, size int) {
	for i := range size {
		keep[at+i] = true
	}
}

// keepTable keeps a table of values by program counter: pairs of numbers up to a zero. Offset 0 is
// no table.
func (f *functions) keepTable(keep map[int]bool, offset int) {
	at := f.pcs + offset
	if offset == 0 || keep[at] {
		return
	}
	for from := at; at < f.funcs; {
		value, n := binary.Uvarint(f.mem[at:])
		if n <= 0 || value == 0 && at > from {
			f.keep(keep, from, at+1-from)
			return
		}
		_, m := binary.Uvarint(f.mem[at+n:])
		at += n + m
	}
}
