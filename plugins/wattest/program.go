package wattest

import "strings"

// Program is a WASI program with the result of a call.
type Program struct {
	Name   string `json:"name"`
	Text   string `json:"text"`
	Input  string `json:"input"`
	Output string `json:"output"` // or the message of the error
	Code   string `json:"code"`   // of the error; "" is success
}

// programHead are the functions that programs use. $out and $err write n bytes at p to
// a standard stream, $in reads at most n bytes to p and returns how many.
const programHead = `
	(import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
	(import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
	(import "wasi_snapshot_preview1" "fd_close" (func $fd_close (param i32) (result i32)))
	(import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
	(import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
	(import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
	(import "wasi_snapshot_preview1" "path_open"
		(func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
	(memory (export "memory") 2)
	(global $served (mut i32) (i32.const 0))
	(func $write (param $fd i32) (param $p i32) (param $n i32) (result i32)
		i32.const 0 local.get $p i32.store i32.const 4 local.get $n i32.store
		local.get $fd i32.const 0 i32.const 1 i32.const 8 call $fd_write)
	(func $out (param $p i32) (param $n i32) i32.const 1 local.get $p local.get $n call $write drop)
	(func $err (param $p i32) (param $n i32) i32.const 2 local.get $p local.get $n call $write drop)
	(func $in (param $p i32) (param $n i32) (result i32)
		i32.const 0 local.get $p i32.store i32.const 4 local.get $n i32.store
		i32.const 0 i32.const 0 i32.const 1 i32.const 8 call $fd_read drop
		i32.const 8 i32.load)
	(func $copy (local $n i32)
		loop $l
			i32.const 1000 i32.const 4096 call $in local.tee $n
			if i32.const 1000 local.get $n call $out br $l end
		end)
	(func $digit (param $n i32)
		i32.const 900 local.get $n i32.const 48 i32.add i32.store8 i32.const 900 i32.const 1 call $out)`

// NewProgram returns the text of a command with data at 100 and the body of _start.
func NewProgram(data, body string) string {
	return `(module` + programHead + ` (data (i32.const 100) "` + data + `") (func (export "_start") ` + body + `))`
}

// longInput is longer than the buffer of a program.
var longInput = strings.Repeat("ab", 9000)

// Programs returns programs that use the services of a host, correctly and not. A panic is the
// fault of a program that has written to stderr.
func Programs() []Program {
	list := []struct{ name, data, body, input, output, code string }{
		{"returns", "", "call $copy", "żółw\n", "żółw\n", ""},
		{"long input", "", "call $copy", longInput, longInput, ""},
		{"never reads", "done", "i32.const 100 i32.const 4 call $out", longInput, "done", ""},
		{"reads past the end", "", "call $copy call $copy i32.const 0 i32.const 9 call $in call $digit", "a", "a0", ""},
		{
			"exit 0 in the middle",
			"ab", "i32.const 100 i32.const 1 call $out i32.const 0 call $exit i32.const 101 i32.const 1 call $out",
			"", "a", "",
		},
		{"exit 3, silent", "", "i32.const 3 call $exit", "", "the command ended with status 3", "exit"},
		{"exit 256", "", "i32.const 256 call $exit", "", "the command ended with status 256", "exit"},
		{"exit -1", "", "i32.const -1 call $exit", "", "the command ended with status 4294967295", "exit"},
		{
			"exit with a reason",
			"one\\0atwo \\1b[31mred\\0d\\0a\\0a",
			"i32.const 100 i32.const 16 call $err i32.const 1 call $exit", "", `two <U+001B>[31mred`, "exit",
		},
		{
			"stack trace",
			"panic: no\\0a\\0agoroutine 1 [running]:\\0amain.go:3\\0a",
			"i32.const 100 i32.const 45 call $err i32.const 2 call $exit", "", "panic: no", "exit",
		},
		{"unfinished line", "a\\0ab", "i32.const 100 i32.const 3 call $err i32.const 1 call $exit", "", "b", "exit"},
		{"traps", "why", "i32.const 100 i32.const 3 call $err unreachable", "", "why", "panic"},
		{"traps silently", "", "unreachable", "", "unreachable", "trap"},
		{
			"other files",
			"x", "i32.const 3 i32.const 100 i32.const 1 call $write call $digit " +
				"i32.const 0 i32.const 100 i32.const 1 call $write call $digit", "", "88", "",
		},
		{
			"opens a file",
			"/etc/passwd", "i32.const 3 i32.const 0 i32.const 100 i32.const 11 i32.const 0 i64.const -1 i64.const -1 " +
				"i32.const 0 i32.const 500 call $open i32.const 0 i32.ne call $digit", "", "1", "",
		},
		{
			"fresh instance",
			"", "global.get $served i32.const 1 i32.add global.set $served global.get $served call $digit",
			"", "1", "",
		},
		{
			"random and clock",
			"", "i32.const 500 i32.const 8 call $random call $digit " +
				"i32.const 0 i64.const 1 i32.const 600 call $clock call $digit " +
				"i32.const 500 i64.load i64.eqz call $digit i32.const 600 i64.load i64.eqz call $digit", "", "0000", "",
		},
	}
	out := make([]Program, len(list))
	for i, p := range list {
		out[i] = Program{p.name, NewProgram(p.data, p.body), p.input, p.output, p.code}
	}
	return out
}
