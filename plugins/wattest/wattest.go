// Package wattest assembles small WebAssembly modules from the text format, for tests. The easel
// program does not import it.
//
// It supports the part of the text format that test guests use: one module with imports, functions,
// one memory, tables, globals, data, elements, exports and a start function. Instructions are
// written in sequence, not folded:
//
//	(module
//	  (import "easel:host/v1" "input_len" (func $len (result i32)))
//	  (memory (export "memory") 1)
//	  (func (export "easel_invoke") (result i32)
//	    call $len))
//
// Blocks end with `end`; labels are names or depths. (custom "name" "bytes") adds a custom section.
// Types are not checked because tests need invalid modules too. Instructions that are not in the
// table are written as bytes: (byte 0x01 0xff).
package wattest

import "fmt"

// Assemble returns the binary form of text. Errors include the line.
func Assemble(text string) ([]byte, error) {
	p := &parser{tokens: scan(text)}
	root, err := p.list()
	if err != nil {
		return nil, err
	}
	if root.word(0) != "module" {
		return nil, fmt.Errorf("wattest: line %d: want (module …), got (%s …)", root.line, root.word(0))
	}
	m := newModule()
	if err := m.declare(root.items[1:]); err != nil {
		return nil, err
	}
	if err := m.define(); err != nil {
		return nil, err
	}
	return m.bytes(), nil
}

// Must is Assemble for literals in tests; it panics on errors.
func Must(text string) []byte {
	b, err := Assemble(text)
	if err != nil {
		panic(err)
	}
	return b
}
