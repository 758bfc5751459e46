package main

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// Section numbers.
const (
	sectionType     = 1
	sectionImport   = 2
	sectionFunction = 3
	sectionStart    = 8
	sectionCode     = 10
	sectionData     = 11
)

var magic = []byte("\x00asm\x01\x00\x00\x00")

type section struct {
	id   byte
	body []byte
}

// segment is an active data segment of memory 0.
type segment struct {
	at    uint32
	bytes []byte
}

func readSections(module []byte) ([]section, error) {
	rest, ok := bytes.CutPrefix(module, magic)
	if !ok {
		return nil, errShape
	}
	var list []section
	for len(rest) > 0 {
		size, n := binary.Uvarint(rest[1:])
		if n <= 0 || uint64(len(rest)-1-n) < size {
			return nil, errShape
		}
		list = append(list, section{rest[0], rest[1+n : 1+n+int(size)]})
		rest = rest[1+n+int(size):]
	}
	return list, nil
}

func writeSections(list []section) []byte {
	out := slices.Clone(magic)
	for _, s := range list {
		out = binary.AppendUvarint(append(out, s.id), uint64(len(s.body)))
		out = append(out, s.body...)
	}
	return out
}

func find(list []section, id byte) *section {
	for i := range list {
		if list[i].id == id {
			return &list[i]
		}
	}
	return nil
}

func readSegments(body []byte) ([]segment, error) {
	count, n := binary.Uvarint(body)
	if n <= 0 {
		return nil, errShape
	}
	body = body[n:]
	list := make([]segment, 0, count)
	for range count {
		// 0: memory 0; 0x41: i32.const address; 0x0b: end
		if len(body) < 4 || body[0] != 0 || body[1] != 0x41 {
			return nil, errShape
		}
		at, n := signed(body[2:])
		body = body[2+n:]
		size, m := binary.Uvarint(body[1:])
		if n == 0 || m <= 0 || body[0] != 0x0b || uint64(len(body)-1-m) < size {
			return nil, errShape
		}
		list = append(list, segment{uint32(at), body[1+m : 1+m+int(size)]})
		body = body[1+m+int(size):]
	}
	return list, nil
}

func writeSegments(list []segment) []byte {
	b := binary.AppendUvarint(nil, uint64(len(list)))
	for _, s := range list {
		b = append(appendSigned(append(b, 0, 0x41), int64(int32(s.at))), 0x0b)
		b = append(binary.AppendUvarint(b, uint64(len(s.bytes))), s.bytes...)
	}
	return b
}

// addStart adds a function without parameters as the start function.
func addStart(list []section, body []byte) ([]section, error) {
	index, err := addFunction(list, []byte{0x60, 0, 0}, body)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(list, func(s section) bool { return s.id > sectionStart })
	return slices.Insert(list, at, section{sectionStart, binary.AppendUvarint(nil, index)}), nil
}

// addFunction adds a function after all others and returns its index.
func addFunction(list []section, kind, body []byte) (uint64, error) {
	index, err := functionCount(list)
	if err != nil {
		return 0, err
	}
	types, functions, code := find(list, sectionType), find(list, sectionFunction), find(list, sectionCode)
	if types == nil || code == nil {
		return 0, errShape
	}
	grow(functions, binary.AppendUvarint(nil, grow(types, kind)))
	grow(code, append(binary.AppendUvarint(nil, uint64(len(body))), body...))
	return index, nil
}

// functionCount counts the functions of a module, imported ones included.
func functionCount(list []section) (uint64, error) {
	functions := find(list, sectionFunction)
	if functions == nil {
		return 0, errShape
	}
	imported, err := importedFunctions(find(list, sectionImport))
	if err != nil {
		return 0, err
	}
	own, n := binary.Uvarint(functions.body)
	if n <= 0 {
		return 0, errShape
	}
	return imported + own, nil
}

// grow adds an item to a section that starts with a count, and returns the item's index.
func grow(s *section, item []byte) uint64 {
	count, n := binary.Uvarint(s.body)
	s.body = slices.Concat(binary.AppendUvarint(nil, count+1), s.body[n:], item)
	return count
}

// importedFunctions counts the imports, which are all functions in Go's modules.
func importedFunctions(s *section) (uint64, error) {
	if s == nil {
		return 0, nil
	}
	count, n := binary.Uvarint(s.body)
	rest := s.body[n:]
	for range count {
		for range 2 { // module and name
			size, n := binary.Uvarint(rest)
			if n <= 0 || uint64(len(rest)-n) < size {
				return 0, errShape
			}
			rest = rest[n+int(size):]
		}
		if len(rest) < 2 || rest[0] != 0 {
			return 0, errShape
		}
		_, n := binary.Uvarint(rest[1:])
		rest = rest[1+n:]
	}
	return count, nil
}

// signed reads a LEB128 number; n is 0 if b does not start with a number.
func signed(b []byte) (v int64, n int) {
	for shift := 0; n < len(b) && n < 10; shift += 7 {
		c := b[n]
		n++
		v |= int64(c&0x7f) << shift
		if c < 0x80 {
			if c&0x40 != 0 && shift < 57 {
				v |= -1 << (shift + 7)
			}
			return v, n
		}
	}
	return 0, 0
}

func appendSigned(b []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}
