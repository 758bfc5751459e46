package main

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// Go's linker optimizes a module for the speed of linking, not of loading. slim writes a smaller,
// equivalent module:
//
//   - the table from program counters to functions is written at instantiation; see table;
//   - names and lines used only in crash traces are removed; see compact.go;
//   - the execution tracer, which nothing starts, is removed; see tracer.go;
//   - instructions are encoded in fewer bytes; see shorten.go.

// slim returns the smaller module. A module without a regular table is returned unchanged.
func slim(module []byte) ([]byte, error) {
	sections, err := readSections(module)
	if err != nil {
		return nil, err
	}
	data, code := find(sections, sectionData), find(sections, sectionCode)
	if data == nil || code == nil || find(sections, sectionStart) != nil {
		return nil, errShape
	}
	segments, err := readSegments(data.body)
	if err != nil {
		return nil, err
	}
	mem := image(segments)
	t, ok := findTable(segments, mem)
	if !ok {
		return module, nil
	}
	clear(mem[t.base : t.base+t.entries*entrySize])
	unused, err := tracer(mem)
	if err != nil {
		return nil, err
	}
	if err := compactFunctions(mem); err != nil {
		return nil, err
	}
	data.body = writeSegments(split(mem))
	next, err := functionCount(sections)
	if err != nil {
		return nil, err
	}
	if code.body, err = shortenCode(code.body, next, unused); err != nil {
		return nil, err
	}
	if _, err = addFunction(sections, pusherType, pusher); err != nil {
		return nil, err
	}
	if sections, err = addStart(sections, fill(t)); err != nil {
		return nil, err
	}
	return writeSections(sections), nil
}

// table maps program counters to functions. In WebAssembly each function owns sixteen entries of
// twenty bytes that contain only its number, and because the linker omits zeros, each entry becomes
// a separate data segment: 0.6 MB of a module of 7 MB, and hard to compress. A start function
// writes the table when the module is instantiated, before any other code runs.
type table struct{ base, entries uint32 }

const (
	entrySize  = 20
	perFuncLog = 4         // 1<<4 entries for each function
	minEntries = 1000      // fewer entries are not a table
	noImage    = 256 << 20 // more memory than any module here requires
)

var errShape = errors.New("this is not a module as Go's linker writes it")

// image returns the memory after all segments are applied.
func image(segments []segment) []byte {
	var mem []byte
	for _, s := range segments {
		if end := int(s.at) + len(s.bytes); end > len(mem) {
			if end > noImage {
				return nil
			}
			mem = append(mem, make([]byte, end-len(mem))...)
		}
		copy(mem[s.at:], s.bytes)
	}
	return mem
}

// findTable looks for two adjacent entries with consecutive numbers, which determine the base of
// the table.
func findTable(segments []segment, mem []byte) (table, bool) {
	for _, s := range segments {
		if len(s.bytes) > 4 || int(s.at)+2*entrySize > len(mem) {
			continue
		}
		v := binary.LittleEndian.Uint32(mem[s.at:])
		next := binary.LittleEndian.Uint32(mem[s.at+entrySize:])
		before := uint64(v+1) << perFuncLog * entrySize
		if v == 0 || next != v+1 || before > uint64(s.at)+entrySize {
			continue
		}
		t := table{base: s.at + entrySize - uint32(before)}
		for t.holds(mem, t.entries) {
			t.entries++
		}
		if t.entries >= minEntries {
			return t, true
		}
	}
	return table{}, false
}

// holds reports whether entry i contains only the number of its function.
func (t table) holds(mem []byte, i uint32) bool {
	at := int(t.base) + int(i)*entrySize
	if at+entrySize > len(mem) {
		return false
	}
	var want [entrySize]byte
	binary.LittleEndian.PutUint32(want[:], i>>perFuncLog)
	return bytes.Equal(mem[at:at+entrySize], want[:])
}

// fill returns the body of a function that writes the table: for i := 0; i < entries; i++ {
// mem[base+20*i] = i >> 4 }.
func fill(t table) []byte {
	// two locals: i, and p, the address of entry i
	b := []byte{1, 2, 0x7f}
	b = append(appendSigned(append(b, 0x41), int64(int32(t.base))), 0x21, 1) // p = base
	b = append(b, 0x03, 0x40)                                                // loop
	b = append(b, 0x20, 1, 0x20, 0, 0x41, perFuncLog, 0x76, 0x36, 2, 0)      // mem[p] = i >> 4
	b = append(b, 0x20, 1, 0x41, entrySize, 0x6a, 0x21, 1)                   // p += 20
	b = append(b, 0x20, 0, 0x41, 1, 0x6a, 0x22, 0)                           // i += 1
	b = appendSigned(append(b, 0x41), int64(int32(t.entries)))
	return append(b, 0x49, 0x0d, 0, 0x0b, 0x0b) // while i < entries
}

// split returns the segments of a memory; runs of zeros longer than the header of a segment are
// omitted.
func split(mem []byte) []segment {
	const worth = 12
	var out []segment
	gap := make([]byte, worth)
	for at := 0; ; {
		for at < len(mem) && mem[at] == 0 {
			at++
		}
		if at == len(mem) {
			return out
		}
		end := bytes.Index(mem[at:], gap)
		if end < 0 {
			end = len(bytes.TrimRight(mem[at:], "\x00"))
		}
		out = append(out, segment{uint32(at), mem[at : at+end]})
		at += end
	}
}
