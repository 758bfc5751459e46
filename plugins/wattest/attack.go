package wattest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// Attack is a hostile plugin that aims at the parts of a host around the sandbox.
type Attack struct {
	Name   string
	Module func() []byte  // without a manifest
	Fields map[string]any // of the manifest
	Codes  []string       // that its load or call may end with; "" is success
}

// slow are the attacks that take seconds, up to a limit of processor time.
var slow = map[string]bool{
	"80 functions of 20,000 conditions": true, "15 functions of 30,000 branches": true,
	"400 functions of 8,000 nested blocks": true, "1,000,000 functions": true, "a start that never ends": true,
	"a start function that never ends": true, "a description that never ends": true,
}

// Slow reports whether a host may need seconds for it.
func (a Attack) Slow() bool { return slow[a.Name] }

// Imports are all functions of easel:host/v1, two of WASI, and a memory of one page.
const Imports = `
	(import "easel:host/v1" "input_len" (func $input_len (result i32)))
	(import "easel:host/v1" "input_read" (func $input_read (param i32 i32) (result i32)))
	(import "easel:host/v1" "output_write" (func $output_write (param i32 i32)))
	(import "easel:host/v1" "error_write" (func $error_write (param i32 i32)))
	(import "easel:host/v1" "log" (func $log (param i32 i32 i32)))
	(import "easel:host/v1" "emit" (func $emit (param i32 i32 i32) (result i32)))
	(import "easel:host/v1" "call" (func $call (param i32 i32 i32) (result i32)))
	(import "easel:host/v1" "result_read" (func $result_read (param i32 i32) (result i32)))
	(import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
	(import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
	(memory (export "memory") 1)`

// Instructions of generated code.
const (
	OpBlock = 0x02
	OpLoop  = 0x03
	OpEnd   = 0x0b
	OpDrop  = 0x1a
	OpI32   = 0x41

	opIf       = 0x04
	opBrTable  = 0x0e
	opLocalGet = 0x20
	opLocalSet = 0x21
	opEmpty    = 0x40
)

// Conditional is an if over the first two locals.
var Conditional = []byte{opLocalGet, 0, opIf, opEmpty, OpI32, 1, opLocalSet, 1, OpEnd}

// Section returns a section of a module.
func Section(id byte, content []byte) []byte {
	return append(binary.AppendUvarint([]byte{id}, uint64(len(content))), content...)
}

// Generated returns a module with n functions () -> i32 of the same code; the first is
// easel_invoke.
func Generated(n, locals int, code []byte) []byte {
	count := binary.AppendUvarint(nil, uint64(n))
	body := []byte{0}
	if locals > 0 {
		body = append(binary.AppendUvarint([]byte{1}, uint64(locals)), 0x7f)
	}
	body = append(append(body, code...), OpI32, 0, OpEnd)
	body = append(binary.AppendUvarint(nil, uint64(len(body))), body...)
	module := []byte("\x00asm\x01\x00\x00\x00")
	module = append(module, Section(1, []byte{1, 0x60, 0, 1, 0x7f})...)
	module = append(module, Section(3, append(bytes.Clone(count), make([]byte, n)...))...)
	module = append(module, Section(7, append([]byte("\x01\x0ceasel_invoke"), 0, 0))...)
	return append(module, Section(10, append(count, bytes.Repeat(body, n)...))...)
}

// Nested returns n blocks of the instruction op, each in the one before.
func Nested(op byte, n int) []byte {
	return append(bytes.Repeat([]byte{op, opEmpty}, n), bytes.Repeat([]byte{OpEnd}, n)...)
}

// Branches returns a block with a table of n branches.
func Branches(n int) []byte {
	code := binary.AppendUvarint([]byte{OpBlock, opEmpty, OpI32, 0, opBrTable}, uint64(n))
	return append(append(code, make([]byte, n+1)...), OpEnd)
}

// Escape writes a string as the data of a module's text.
func Escape(s string) string {
	var out strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&out, "\\%02x", s[i])
	}
	return out.String()
}

// filled returns a guest that writes prefix, n times piece, and suffix with an import of the type
// (i32 i32), which is output_write or error_write, and returns result.
func filled(write, prefix, piece string, n int, suffix string, result int) func() []byte {
	return func() []byte {
		at := func(text string, at int) string {
			return fmt.Sprintf(`(data (i32.const %d) "%s")`, at, Escape(text))
		}
		one := func(at int, text string) string {
			return fmt.Sprintf(" i32.const %d i32.const %d call $%s", at, len(text), write)
		}
		return Must(`(module` + Imports + at(prefix, 0) + at(piece, 20_000) + at(suffix, 60_000) + `
			(func (export "easel_invoke") (result i32) (local $i i32)` + one(0, prefix) + `
				i32.const ` + strconv.Itoa(n) + ` local.set $i
				loop $l` + one(20_000, piece) + ` local.get $i i32.const 1 i32.sub local.tee $i br_if $l end` +
			one(60_000, suffix) + ` i32.const ` + strconv.Itoa(result) + `))`)
	}
}

// endless returns a guest that repeats code; its call of 2 s ends at the deadline.
func endless(export, code string) func() []byte {
	return func() []byte {
		return Must(`(module` + Imports + `
			(import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
			(import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
			(import "extism:host/env" "free" (func $free (param i64)))
			(import "extism:host/env" "var_set" (func $var_set (param i64 i64)))
			(func (export "` + export + `") (result i32) i32.const 1000 memory.grow drop
				loop $l ` + code + ` br $l end i32.const 0)` + other(export) + `)`)
	}
}

func other(export string) string {
	if export == "easel_invoke" {
		return ""
	}
	return `(func (export "easel_invoke") (result i32) i32.const 0)`
}

// outputs returns the outputs of n pieces made by a function of their number.
func outputs(n int, piece func(i int) string) func() []byte {
	var b strings.Builder
	b.WriteString(`{"outputs":{`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(piece(i))
	}
	b.WriteString(`}}`)
	text := b.String()
	return func() []byte {
		module := Must(fmt.Sprintf(`(module
			(import "easel:host/v1" "output_write" (func $output_write (param i32 i32)))
			(memory (export "memory") %d) (data (i32.const 0) %q)
			(func (export "easel_invoke") (result i32) i32.const 0 i32.const %d call $output_write i32.const 0))`,
			len(text)>>16+1, text, len(text)))
		return module
	}
}

// Attacks returns the hostile plugins of the tests of all hosts.
func Attacks() []Attack {
	over, late := []string{"over_limit"}, []string{"timeout", "too_many_calls"}
	large := []string{"output_too_large"}
	bad := []string{"bad_output", "output_too_large"}
	either := append(bad, "")
	said := func(prefix, piece string, n int, suffix string) func() []byte {
		return filled("output_write", `{"outputs":{`+prefix, piece, n, suffix, 0)
	}
	loops := func(code string) func() []byte { return endless("easel_invoke", code) }
	code := func(n, locals int, code []byte) func() []byte {
		return func() []byte { return Generated(n, locals, code) }
	}
	conditions := code(80, 100, bytes.Repeat(Conditional, 20_000))
	short := map[string]any{"limits": map[string]any{"timeout_ms": 2000}}
	items := map[string]any{"type": "array", "items": map[string]any{"type": "object", "required": []string{"a"}}}
	typed := map[string]any{"outputs": map[string]any{"type": "object", "properties": map[string]any{"list": items}}}
	row := strings.Repeat(`,{"a": "`+strings.Repeat("x", 40)+`"}`, 200)
	longError := filled("error_write", `{"code":"internal","data":[1`, strings.Repeat(",[]", 5000), 1090, `]}`, 1)
	return []Attack{
		{"12,000 nested loops", code(1, 0, Nested(OpLoop, 12_000)), nil, over},
		{"40,000 nested blocks", code(1, 0, Nested(OpBlock, 40_000)), nil, over},
		{"32,000 conditions, 1,000 locals", code(1, 1000, bytes.Repeat(Conditional, 32_000)), nil, over},
		{"1,000,000 branch targets", code(1, 0, Branches(1_000_000)), nil, over},
		{"3,000,000 custom sections", func() []byte {
			return append(Generated(1, 0, nil), bytes.Repeat([]byte{0, 2, 1, 'a'}, 3_000_000)...)
		}, nil, over},
		{"3 MB in one function", code(1, 0, bytes.Repeat([]byte{OpI32, 0, OpDrop}, 1<<20)), nil, over},
		{"80 functions of 20,000 conditions", conditions, nil, append(over, bad...)},
		{"15 functions of 30,000 branches", code(15, 0, Branches(30_000)), nil, append(over, bad...)},
		{"400 functions of 8,000 nested blocks", code(400, 0, Nested(OpBlock, 8_000)), nil, append(over, bad...)},
		{"1,000,000 functions", code(1_000_000, 0, nil), nil, append(over, bad...)},
		{"a start that never ends", startless("_initialize"), short, late},
		{"a start function that never ends", startless(""), short, late},
		{"a description that never ends", endless("easel_describe", ""), nil, late},
		{"100,000 outputs", outputs(100_000, func(i int) string { return fmt.Sprintf(`"k%d":%d`, i, i) }), nil, large},
		{"250 outputs of 64 KB", outputs(250, func(i int) string {
			return fmt.Sprintf(`"k%d":"%s"`, i, strings.Repeat("x", 64_000))
		}), nil, []string{""}},
		{"8,000,000 levels", said(`"a":`, strings.Repeat("[", 4000), 2000, ""), nil, bad},
		{"12 MB of empty objects", said(`"list":[{}`, strings.Repeat(",{}", 1000), 4000, "]}}"), nil, large},
		{"249,000 objects against a schema", said(`"list":[{"a":1}`, row, 600, "]}}"), typed, either},
		{"16 MB of one number", said(`"n":1`, strings.Repeat("0", 16_000), 1000, "}}"), nil, either},
		{"16 MB of escapes", said(`"text":"`, strings.Repeat(`\u00e9`, 2600), 1000, `"}}`), nil, either},
		{"16 MB that are not UTF-8", said(`"text":"`, strings.Repeat("\xff", 16_000), 1000, `"}}`), nil, either},
		{"an error of 16 MB", longError, nil, append(large, "internal")},
		{"log lines", loops("i32.const 2 i32.const 0 i32.const 60000 call $log"), short, late},
		{"pieces of 16 MB", loops("i32.const 1 i32.const 0 i32.const 16000000 call $emit drop"), short, large},
		{"pieces of 1 MB", loops("i32.const 1 i32.const 0 i32.const 1000000 call $emit drop"), short, late},
		{"requests of 4 MB", loops("i32.const 0 i32.const 32 i32.const 4194304 call $call drop"), short, late},
		{"random numbers", loops("i32.const 0 i32.const 60000000 call $random drop"), short, late},
		{"kernel memory", loops("i64.const 60000000 call $alloc call $free"), short, late},
		{"endless computing", loops(""), short, late},
	}
}

// startless returns a guest whose export, or for "" whose start function, never ends.
func startless(export string) func() []byte {
	return func() []byte {
		if export == "" {
			return Must(`(module` + Imports + `(func $s loop $l br $l end) (start $s)` + other("") + `)`)
		}
		start := `(func (export "` + export + `") loop $l br $l end)`
		return Must(`(module` + Imports + start + other("") + `)`)
	}
}
