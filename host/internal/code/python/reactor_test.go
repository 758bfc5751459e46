package python

import (
	"encoding/binary"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/plugins/wattest"
)

// talking is the part of a reactor that stands in for an interpreter: it reads its call and writes
// a fixed answer; it ends with the code that RESULT leaves.
const talking = `
	(import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
	(import "wasi_snapshot_preview1" "path_open"
		(func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
	(import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
	(import "host" "call" (func $call (param i32) (result i32)))
	(memory (export "memory") 1)
	(global $ready (mut i32) (i32.const 0))
	(data (i32.const 100) ".result")
	(data (i32.const 200) "{\22value\22: {\22version\22: \223.15\22, \22modules\22: []}}")
	(func (export "_initialize") i32.const 1 global.set $ready)
	(func $answer
		global.get $ready i32.eqz if unreachable end
		i32.const 0 i32.const 1024 i32.store
		i32.const 4 i32.const 8000 i32.store
		i32.const 0 i32.const 0 i32.const 1 i32.const 8 call $read drop
		i32.const 3 i32.const 0 i32.const 100 i32.const 7 i32.const 1
		i64.const 64 i64.const 64 i32.const 0 i32.const 12 call $open drop
		i32.const 0 i32.const 200 i32.store
		i32.const 4 i32.const 45 i32.store
		i32.const 12 i32.load i32.const 0 i32.const 1 i32.const 8 call $write drop)`

// A reactor is initialized, then its function runs the interpreter, with its command line if it
// takes one: argv[0] is python, argv[1] begins with -, and argv[argc] is null.
func TestReactor(t *testing.T) {
	for name, functions := range map[string]string{
		"without a command line": `(func (export "run") (result i32) call $answer i32.const 0)`,
		"with a command line": `
			(func (export "malloc") (param i32) (result i32) i32.const 10000)
			(func (export "run") unreachable)
			(func (export "Py_BytesMain") (param i32 i32) (result i32)
				local.get 0 i32.const 4 i32.ne if unreachable end
				local.get 1 i32.const 10000 i32.ne if unreachable end
				local.get 1 i32.load i32.load i32.const 0x68747970 i32.ne if unreachable end
				local.get 1 i32.load i32.load offset=4 i32.const 0x2d006e6f i32.ne if unreachable end
				local.get 1 i32.load offset=16 if unreachable end
				call $answer i32.const 0)`,
	} {
		t.Run(name, func(t *testing.T) {
			reactor := wattest.Must("(module" + talking + functions + ")")
			m, err := Add(t.Context(), workerOf(t), t.TempDir(), Source{File: reactor})
			require.NoError(t, err)
			require.Equal(t, About{Version: "3.15", Modules: []string{}}, m.About)
		})
	}
}

// CPython as a reactor: the interpreter of make, whose _start is exported as run, with an empty
// _initialize, runs scripts like the original command.
func TestCPythonAsReactor(t *testing.T) {
	command, err := os.ReadFile(interpreter(t))
	require.NoError(t, err)
	path := t.TempDir() + "/" + moduleName
	require.NoError(t, os.WriteFile(path, asReactor(t, command), 0o600))
	r := &Runner{Limits: Limits{Time: patience}, Worker: workerOf(t), Find: func() (*Module, error) {
		return &Module{Path: path, Cache: built + "/" + cacheName}, nil
	}}
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	res, err := r.RunCode(t.Context(), script(strings.Join([]string{
		"import json, sys", "def main():", "    print('log')", "    open('artifacts/a.csv', 'w').write('x')",
		"    return [sys.version_info[0], json.loads('[1.5]'), 2 ** 70]",
	}, "\n")))
	require.NoError(t, err)
	require.Equal(t, "[3, [1.5], 1180591620717411303424]", res.Value.Text(), res.Stderr)
	require.Equal(t, "log\n", res.Stdout)
	require.Len(t, res.Artifacts, 1)
	res, err = r.RunCode(t.Context(), script("import sys\ndef main(): sys.exit(3)"))
	require.NoError(t, err)
	require.Contains(t, res.Stderr, "3")
}

// asReactor exports _start of a module as run, and an empty function as _initialize.
func asReactor(t *testing.T, module []byte) []byte {
	out := slices.Clone(module[:8])
	functions, imported := uint64(0), uint64(0)
	var empty uint64 // the type of a function without parameters and results
	for rest := module[8:]; len(rest) > 0; {
		size, n := binary.Uvarint(rest[1:])
		id, body := rest[0], rest[1+n:1+n+int(size)]
		rest = rest[1+n+int(size):]
		count, at := binary.Uvarint(body)
		switch id {
		case 1:
			empty = emptyType(t, body)
		case 2:
			imported = importedFunctions(body)
		case 3:
			functions = imported + count
			body = append(append(binary.AppendUvarint(nil, count+1), body[at:]...), byte(empty))
		case 7:
			body = []byte(strings.Replace(string(body[at:]), "\x06_start", "\x03run", 1))
			body = append(binary.AppendUvarint(nil, count+1), body...)
			body = binary.AppendUvarint(append(body, "\x0b_initialize\x00"...), functions)
		case 10:
			body = append(append(binary.AppendUvarint(nil, count+1), body[at:]...), 2, 0, 0x0b)
		}
		out = append(binary.AppendUvarint(append(out, id), uint64(len(body))), body...)
	}
	return out
}

// emptyType returns the index of the type () -> () in a section of types.
func emptyType(t *testing.T, types []byte) uint64 {
	count, at := binary.Uvarint(types)
	for i := range count {
		params := int(types[at+1])
		results := int(types[at+2+params])
		if params == 0 && results == 0 {
			return i
		}
		at += 3 + params + results
	}
	require.Fail(t, "no function of this module takes and returns nothing")
	return 0
}

// importedFunctions counts the functions in a section of imports, which has nothing else.
func importedFunctions(imports []byte) uint64 {
	count, _ := binary.Uvarint(imports)
	return count
}
