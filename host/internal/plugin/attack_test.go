//go:build linux

package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/wattest"
)

// An attack is a hostile module, and the codes that its load or call may end with; "" is success.
type attack struct {
	name   string
	wasm   func() []byte
	fields map[string]any // of the manifest
	codes  []contract.Code
}

// slowAttacks are those that take seconds up to a limit of processor time; with the tag soak they
// run too.
var slowAttacks = map[string]bool{
	"80 functions of 20,000 conditions": true, "15 functions of 30,000 branches": true,
	"400 functions of 8,000 nested blocks": true, "1,000,000 functions": true, "a start that never ends": true,
	"a start function that never ends": true, "a description that never ends": true,
}

// soak is set by the build tag of that name.
var soak bool

// What an attack may cost the host process and the compiler process, each.
const (
	attackSeconds = 10.2 // the limits of compilers and of first instances are 10 s
	attackMB      = 512
)

// filled returns a guest that writes prefix, n times piece, and suffix with an import of the type
// (i32 i32), which is output_write or error_write, and returns result.
func filled(write, prefix, piece string, n int, suffix string, result int) func() []byte {
	return func() []byte {
		at := func(text string, at int) string {
			return fmt.Sprintf(`(data (i32.const %d) "%s")`, at, escape(text))
		}
		one := func(at int, text string) string {
			return fmt.Sprintf(" i32.const %d i32.const %d call $%s", at, len(text), write)
		}
		return wattest.Must(`(module` + importAll + at(prefix, 0) + at(piece, 20_000) + at(suffix, 60_000) + `
			(func (export "easel_invoke") (result i32) (local $i i32)` + one(0, prefix) + `
				i32.const ` + strconv.Itoa(n) + ` local.set $i
				loop $l` + one(20_000, piece) + ` local.get $i i32.const 1 i32.sub local.tee $i br_if $l end` +
			one(60_000, suffix) + ` i32.const ` + strconv.Itoa(result) + `))`)
	}
}

// endless returns a guest that repeats code; its call of 2 s ends at the deadline.
func endless(export, code string) func() []byte {
	return func() []byte {
		return wattest.Must(`(module` + importAll + `
			(import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
			(import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
			(import "extism:host/env" "free" (func $free (param i64)))
			(import "extism:host/env" "var_set" (func $var_set (param i64 i64)))
			(func (export "` + export + `") (result i32) i32.const 1000 memory.grow drop
				loop $l ` + code + ` br $l end i32.const 0)` + other(export) + `)`)
	}
}

func other(export string) string {
	if export == exportInvoke {
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
		module := wattest.Must(fmt.Sprintf(`(module
			(import "easel:host/v1" "output_write" (func $output_write (param i32 i32)))
			(memory (export "memory") %d) (data (i32.const 0) %q)
			(func (export "easel_invoke") (result i32) i32.const 0 i32.const %d call $output_write i32.const 0))`,
			len(text)>>16+1, text, len(text)))
		return module
	}
}

// attacks are the hostile modules of the tests that aim at what the host does around the sandbox.
func attacks() []attack {
	over, late := []contract.Code{contract.OverLimit}, []contract.Code{contract.Timeout, contract.TooManyCalls}
	large := []contract.Code{contract.OutputTooLarge}
	bad := []contract.Code{contract.BadOutput, contract.OutputTooLarge}
	either := append(bad, "")
	said := func(prefix, piece string, n int, suffix string) func() []byte {
		return filled("output_write", `{"outputs":{`+prefix, piece, n, suffix, 0)
	}
	loops := func(code string) func() []byte { return endless(exportInvoke, code) }
	code := func(n, locals int, code []byte) func() []byte {
		return func() []byte { return generated(n, locals, code) }
	}
	short := map[string]any{"limits": map[string]any{"timeout_ms": 2000}}
	items := map[string]any{"type": "array", "items": map[string]any{"type": "object", "required": []string{"a"}}}
	typed := map[string]any{"outputs": map[string]any{"type": "object", "properties": map[string]any{"list": items}}}
	row := strings.Repeat(`,{"a": "`+strings.Repeat("x", 40)+`"}`, 200)
	longError := filled("error_write", `{"code":"internal","data":[1`, strings.Repeat(",[]", 5000), 1090, `]}`, 1)
	return []attack{
		{"12,000 nested loops", code(1, 0, nested(opLoop, 12_000)), nil, over},
		{"40,000 nested blocks", code(1, 0, nested(opBlock, 40_000)), nil, over},
		{"32,000 conditions, 1,000 locals", code(1, 1000, bytes.Repeat(conditional, 32_000)), nil, over},
		{"1,000,000 branch targets", code(1, 0, branches(1_000_000)), nil, over},
		{"3,000,000 custom sections", func() []byte {
			return append(generated(1, 0, nil), bytes.Repeat([]byte{0, 2, 1, 'a'}, 3_000_000)...)
		}, nil, over},
		{"3 MB in one function", code(1, 0, bytes.Repeat([]byte{opI32, 0, opDrop}, 1<<20)), nil, over},
		{"80 functions of 20,000 conditions", code(80, 100, bytes.Repeat(conditional, 20_000)), nil, over},
		{"15 functions of 30,000 branches", code(15, 0, branches(30_000)), nil, append(over, bad...)},
		{"400 functions of 8,000 nested blocks", code(400, 0, nested(opBlock, 8_000)), nil, append(over, bad...)},
		{"1,000,000 functions", code(1_000_000, 0, nil), nil, append(over, bad...)},
		{"a start that never ends", startless("_initialize"), nil, late},
		{"a start function that never ends", startless(""), nil, late},
		{"a description that never ends", endless(exportDescribe, ""), nil, late},
		{"100,000 outputs", outputs(100_000, func(i int) string { return fmt.Sprintf(`"k%d":%d`, i, i) }), nil, large},
		{"250 outputs of 64 KB", outputs(250, func(i int) string {
			return fmt.Sprintf(`"k%d":"%s"`, i, strings.Repeat("x", 64_000))
		}), nil, []contract.Code{""}},
		{"8,000,000 levels", said(`"a":`, strings.Repeat("[", 4000), 2000, ""), nil, bad},
		{"12 MB of empty objects", said(`"list":[{}`, strings.Repeat(",{}", 1000), 4000, "]}}"), nil, large},
		{"249,000 objects against a schema", said(`"list":[{"a":1}`, row, 600, "]}}"), typed, either},
		{"16 MB of one number", said(`"n":1`, strings.Repeat("0", 16_000), 1000, "}}"), nil, either},
		{"16 MB of escapes", said(`"text":"`, strings.Repeat(`\u00e9`, 2600), 1000, `"}}`), nil, either},
		{"16 MB that are not UTF-8", said(`"text":"`, strings.Repeat("\xff", 16_000), 1000, `"}}`), nil, either},
		{"an error of 16 MB", longError, nil, []contract.Code{contract.Internal}},
		{"log lines", loops("i32.const 2 i32.const 0 i32.const 60000 call $log"), short, late},
		{"pieces of 16 MB", loops("i32.const 1 i32.const 0 i32.const 16000000 call $emit drop"), short, late},
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
			return wattest.Must(`(module` + importAll + `(func $s loop $l br $l end) (start $s)` + other("") + `)`)
		}
		start := `(func (export "` + export + `") loop $l br $l end)`
		return wattest.Must(`(module` + importAll + start + other("") + `)`)
	}
}

// cost is the processor time and the memory that an attack took.
type cost struct {
	Code                         contract.Code
	Message                      string
	HostSeconds, CompilerSeconds float64
	HostMB, CompilerMB           float64
}

// attackWork is the host process of one attack: it loads the module of a file, calls it and prints
// its cost.
func attackWork(file, self string) error {
	wasm, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	ctx, dir := context.Background(), filepath.Dir(file)
	compiler, log := []string{self, "plugin-compiler"}, slog.New(slog.DiscardHandler)
	h, err := New(ctx, Config{Compiler: compiler, CacheDir: dir, Log: log})
	if err != nil {
		return err
	}
	m, err := h.Load(ctx, wasm, LoadOptions{Granted: contract.Everything()})
	if err == nil {
		_, err = m.Invoke(ctx, Invocation{ID: "c"})
	}
	var c cost
	if err != nil {
		c.Code, c.Message = contract.AsError(err, contract.Internal).Code, err.Error()
	}
	if c.HostSeconds, _, err = used(syscall.RUSAGE_SELF); err == nil {
		c.CompilerSeconds, c.CompilerMB, err = used(syscall.RUSAGE_CHILDREN)
	}
	status, missing := os.ReadFile("/proc/self/status")
	if err = errors.Join(err, missing); err != nil {
		return err
	}
	_, rest, _ := bytes.Cut(status, []byte("\nVmHWM:"))
	kb, err := strconv.ParseFloat(string(bytes.Fields(rest)[0]), 64)
	if err != nil {
		return err
	}
	c.HostMB = kb / 1024
	return errors.Join(json.NewEncoder(os.Stdout).Encode(c), h.Close(ctx))
}

// used returns the processor time and the peak memory in MB of this process or of its children.
// The peak of a child counts from before its exec, so it is at least that of its parent then.
func used(who int) (seconds, mb float64, err error) {
	var u syscall.Rusage
	err = syscall.Getrusage(who, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds(), float64(u.Maxrss) / 1024, err
}

// TestAttacksAreBounded runs each attack in a host process of its own and prints what it cost.
func TestAttacksAreBounded(t *testing.T) {
	self := testCompiler(t)[0]
	table := &bytes.Buffer{}
	rows := tabwriter.NewWriter(table, 0, 0, 1, ' ', tabwriter.AlignRight|tabwriter.Debug)
	fmt.Fprintln(rows, "attack\thost s\thost MB\tcompiler s\tcompiler MB\tcode\t")
	for _, a := range attacks() {
		t.Run(a.name, func(t *testing.T) {
			if slowAttacks[a.name] && !soak {
				t.Skip("takes up to 10 s of processor time; make attack runs it")
			}
			file := filepath.Join(t.TempDir(), "plugin.wasm")
			require.NoError(t, os.WriteFile(file, pack(t, a.wasm(), a.fields), 0o600))
			out, err := exec.Command(self, "plugin-attack", file).Output()
			require.NoError(t, err, "the host process ended: %v", err)
			var c cost
			require.NoError(t, json.Unmarshal(out, &c), string(out))
			fmt.Fprintf(rows, "%s\t%.2f\t%.0f\t%.2f\t%.0f\t%s\t\n", a.name, c.HostSeconds, c.HostMB,
				c.CompilerSeconds, c.CompilerMB, c.Code)
			require.Contains(t, a.codes, c.Code, c.Message)
			require.Less(t, len(c.Message), 8<<10)
			require.Less(t, c.HostSeconds, attackSeconds)
			require.Less(t, c.CompilerSeconds, attackSeconds)
			require.Less(t, c.HostMB, float64(attackMB))
			require.Less(t, c.CompilerMB, float64(attackMB))
		})
	}
	require.NoError(t, rows.Flush())
	t.Logf("\n%s", table)
}
