package main

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// Go's linker writes a table that leads from program counters to functions. In WebAssembly each function owns
// sixteen entries of twenty bytes which hold nothing but its number, and because the linker leaves zeros out, each
// entry becomes a data segment of its own: of a module of 7 MB they are 0.6 MB, and hard to compress. slim takes
// them out and adds a start function that writes the table when the module is instantiated, before any of its code
// runs.
//
// It also takes out the names of the project's own functions and of what is instantiated for them: 0.2 MB that only
// the trace of a crash would print, which has the file and the line of each call besides.

// table is where the numbers stand in memory.
type table struct{ base, entries uint32 }

const (
	entrySize  = 20
	perFuncLog = 4         // 1<<4 entries for each function
	minEntries = 1000      // fewer are no table
	noImage    = 256 << 20 // more memory than any module here needs
)

var errShape = errors.New("this is not a module as Go's linker writes it")

// slim gives the same module without the segments of the table. A module without a table that is regular comes back
// as it is.
func slim(module []byte) ([]byte, error) {
	sections, err := readSections(module)
	if err != nil {
		return nil, err
	}
	data := find(sections, sectionData)
	if data == nil || find(sections, sectionStart) != nil {
		return nil, errShape
	}
	segments, err := readSegments(data.body)
	if err != nil {
		return nil, err
	}
	t, ok := findTable(segments)
	if !ok {
		return module, nil
	}
	data.body = writeSegments(blankNames(without(segments, t)))
	sections, err = addStart(sections, fill(t))
	if err != nil {
		return nil, err
	}
	return writeSections(sections), nil
}

// image is the memory as the segments leave it.
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

// findTable looks for a place where the number of an entry becomes the next one: from there its base is known.
func findTable(segments []segment) (table, bool) {
	mem := image(segments)
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

// holds reports whether entry i is just the number of its function.
func (t table) holds(mem []byte, i uint32) bool {
	at := int(t.base) + int(i)*entrySize
	if at+entrySize > len(mem) {
		return false
	}
	var want [entrySize]byte
	binary.LittleEndian.PutUint32(want[:], i>>perFuncLog)
	return bytes.Equal(mem[at:at+entrySize], want[:])
}

// without cuts the table out of the segments.
func without(segments []segment, t table) []segment {
	from, to := t.base, t.base+t.entries*entrySize
	var kept []segment
	keep := func(at uint32, b []byte) {
		if len(b) > 0 {
			kept = append(kept, segment{at, b})
		}
	}
	for _, s := range segments {
		end := s.at + uint32(len(s.bytes))
		if end <= from || s.at >= to {
			keep(s.at, s.bytes)
			continue
		}
		if s.at < from {
			keep(s.at, s.bytes[:from-s.at])
		}
		if end > to {
			keep(to, s.bytes[to-s.at:])
		}
	}
	return kept
}

// fill is the body of a function that writes the table: for i := 0; i < entries; i++ { mem[base+20*i] = i >> 4 }.
func fill(t table) []byte {
	b := []byte{1, 2, 0x7f}                                                  // two locals: i, and p, where entry i stands
	b = append(appendSigned(append(b, 0x41), int64(int32(t.base))), 0x21, 1) // p = base
	b = append(b, 0x03, 0x40)                                                // loop
	b = append(b, 0x20, 1, 0x20, 0, 0x41, perFuncLog, 0x76, 0x36, 2, 0)      // mem[p] = i >> 4
	b = append(b, 0x20, 1, 0x41, entrySize, 0x6a, 0x21, 1)                   // p += 20
	b = append(b, 0x20, 0, 0x41, 1, 0x6a, 0x22, 0)                           // i += 1
	b = appendSigned(append(b, 0x41), int64(int32(t.entries)))
	return append(b, 0x49, 0x0d, 0, 0x0b, 0x0b) // while i < entries
}

// own occurs in the names that are taken out.
var own = []byte("easel-canvas/easel")

// blankNames takes names out of the table of functions: a run of texts with a zero behind each. The names of the
// runtime stay, because it asks for some of them.
func blankNames(segments []segment) []segment {
	for i, s := range segments {
		at := bytes.Index(s.bytes, []byte("\x00runtime.main\x00"))
		if at < 0 {
			continue
		}
		names := bytes.Clone(s.bytes)
		for begin := lastGap(names, at); begin < len(names); {
			end := bytes.IndexByte(names[begin:], 0)
			if end <= 0 {
				break
			}
			name := names[begin : begin+end]
			if bytes.Contains(name, own) && !bytes.HasSuffix(name, []byte(".go")) {
				clear(name)
			}
			begin += end + 1
		}
		segments[i].bytes = names
	}
	return split(segments)
}

// lastGap is where the run of texts around at begins: behind the last two zeros or other byte that is no text.
func lastGap(b []byte, at int) int {
	for ; at > 0; at-- {
		if b[at-1] == 0 && b[at] == 0 || b[at-1] != 0 && b[at-1] < ' ' {
			break
		}
	}
	if b[at] == 0 {
		at++
	}
	return at
}

// split leaves zeros out again where that makes the module smaller.
func split(segments []segment) []segment {
	const worth = 12 // a segment costs about as much
	var out []segment
	for _, s := range segments {
		for at, from := 0, 0; ; {
			zero := bytes.Index(s.bytes[at:], make([]byte, worth))
			if zero < 0 {
				out = append(out, segment{s.at + uint32(from), s.bytes[from:]})
				break
			}
			zero += at
			next := zero
			for next < len(s.bytes) && s.bytes[next] == 0 {
				next++
			}
			if zero > from {
				out = append(out, segment{s.at + uint32(from), s.bytes[from:zero]})
			}
			if next == len(s.bytes) {
				break
			}
			at, from = next, next
		}
	}
	return out
}
