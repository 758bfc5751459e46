package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// source uses features that are hard for a runtime: panics through wrappers, growing stacks,
// goroutines that wait for each other, garbage.
const source = `package main

import (
	"fmt"
	"reflect"
	"runtime"
	"sort"
	"strings"
	"sync"
)

type named struct{ name string }

func (n named) Name() string { return n.name }

type namer interface{ Name() string }

func caught(what string, do func()) {
	defer func() { fmt.Println(what+":", recover()) }()
	do()
}

func deep(n int, s string) int {
	var big [64]int
	big[n%64] = n
	if n == 0 {
		return len(s)
	}
	return deep(n-1, s) + big[n%64] - n
}

type closer interface{ Close() }

type guard struct{ what string }

func (g guard) Close() { fmt.Println(g.what+":", recover()) }

func stop() { fmt.Println("stopped:", recover()) }

// far is inlined into its wrapper: only the tree of inlined calls has its frame.
type far struct{}

func (far) Close() { stop() }

type tree struct {
	name        string
	left, right *tree
}

// grown keeps pointers on the stack only while garbage is collected.
func grown(depth int) (t *tree) {
	name := fmt.Sprint("tree ", depth)
	left := &tree{name: strings.Clone(name)}
	defer func() { t.name += "," + left.name }()
	if depth == 0 {
		runtime.GC()
		return &tree{name, left, nil}
	}
	right := grown(depth - 1)
	if depth%50 == 0 {
		runtime.GC()
	}
	return &tree{name, left, right}
}

func numbers(yield func(*int) bool) {
	for i := range 100 {
		if !yield(&i) {
			return
		}
	}
}

func main() {
	caught("close", func() { var c closer = &guard{"through a wrapper"}; defer c.Close(); panic("closed") })
	caught("far", func() { var c closer = &far{}; defer c.Close(); panic("not stopped") })
	caught("reflect", func() { reflect.ValueOf(1).Len() })
	caught("reflect nil", func() { reflect.ValueOf(1).IsNil() })
	caught("reflect set", func() { reflect.ValueOf(1).SetInt(2) })
	caught("iterator", func() { for p := range numbers { if *p == 50 { panic(*p) } } })
	sizes := 0
	for t := grown(200); t != nil; t = t.right {
		sizes += len(t.name) + len(t.left.name)
	}
	fmt.Println("grown", sizes)
	var none []int
	things := map[string]namer{"nil": (*named)(nil)}
	caught("index", func() { fmt.Println(none[len(none)]) })
	caught("wrapper", func() { fmt.Println(things["nil"].Name()) })
	caught("nil map", func() { var m map[string]int; m["x"] = 1 })
	caught("divide", func() { fmt.Println(1 / len(none)) })
	caught("nested", func() { defer func() { panic(fmt.Sprint("again ", recover())) }(); panic("first") })
	fmt.Println(deep(20000, "deep"))

	words := map[string]int{}
	for i, w := range strings.Fields(strings.Repeat("the quick brown fox jumps over the lazy dog ", 500)) {
		words[w] += i
	}
	var keys []string
	for k := range words {
		keys = append(keys, fmt.Sprintf("%s=%d", k, words[k]))
	}
	sort.Strings(keys)
	fmt.Println(keys)

	results, wait := make(chan uint64, 8), sync.WaitGroup{}
	for i := range 8 {
		wait.Go(func() {
			sum, x := uint64(0), 1.5
			for j := range 2000 {
				garbage := make([]byte, j)
				sum += uint64(len(garbage))*uint64(i) ^ uint64(int32(j)<<3)
				x = x*1.0001 + float64(uint8(j))
				if j%500 == 0 {
					runtime.Gosched()
				}
			}
			results <- sum + uint64(x)
		})
	}
	wait.Wait()
	runtime.GC()
	close(results)
	var sum uint64
	for r := range results {
		sum += r
	}
	fmt.Println(sum, int8(len(keys)-136)/int8(-1), uint32(1)<<31>>3, -7%3, 1<<uint(len(keys)))
}
`

// traced uses the execution tracer.
const traced = `package main

import (
	"bytes"
	"fmt"
	"runtime/trace"
)

func main() {
	var out bytes.Buffer
	fmt.Println(trace.Start(&out))
	done := make(chan bool)
	go func() { done <- true }()
	<-done
	trace.Stop()
	fmt.Println(out.Len() > 100)
}
`

// program compiles source to a WASI module.
func program(t *testing.T, source string) []byte {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o644))
	file := filepath.Join(dir, "program.wasm")
	cmd := exec.Command("go", "build", "-o", file, filepath.Join(dir, "main.go"))
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	module, err := os.ReadFile(file)
	require.NoError(t, err)
	return module
}

// TestSlimModuleIsEquivalent exercises the table, because a panic looks up the functions on the
// stack.
func TestSlimModuleIsEquivalent(t *testing.T) {
	fat := program(t, source)
	thin, err := slim(fat)
	require.NoError(t, err)
	require.Less(t, len(thin), len(fat)*4/5)
	want := output(t, fat)
	require.Contains(t, want, "index: runtime error: index out of range [0] with length 0\n")
	require.Contains(t, want, "wrapper: value method main.named.Name called using nil *named pointer\n")
	require.Contains(t, want, "nested: again first\n4\n")
	require.Contains(t, want, "through a wrapper: closed\nclose: <nil>\n")
	require.Contains(t, want, "stopped: <nil>\nfar: not stopped\n")
	require.Equal(t, want, output(t, thin))
}

func TestSlimKeepsATracerThatIsUsed(t *testing.T) {
	thin, err := slim(program(t, traced))
	require.NoError(t, err)
	require.Equal(t, "<nil>\ntrue\n", output(t, thin))
}

// output returns the standard output of a module.
func output(t *testing.T, module []byte) string {
	t.Helper()
	var out bytes.Buffer
	ctx := context.Background()
	rt := wazero.NewRuntime(ctx)
	wasi_snapshot_preview1.MustInstantiate(ctx, rt)
	_, err := rt.InstantiateWithConfig(ctx, module, wazero.NewModuleConfig().WithStdout(&out).WithStderr(&out))
	require.NoError(t, err, out.String())
	require.NoError(t, rt.Close(ctx))
	return out.String()
}

func TestSlimRemovesOnlyTheTable(t *testing.T) {
	fat := program(t, source)
	sections, err := readSections(fat)
	require.NoError(t, err)
	again, err := readSections(writeSections(sections))
	require.NoError(t, err)
	require.True(t, reflect.DeepEqual(sections, again), "a round trip changes the segments")
	segments, err := readSegments(find(sections, sectionData).body)
	require.NoError(t, err)
	mem := image(segments)
	table, ok := findTable(segments, mem)
	require.True(t, ok)

	got := bytes.Clone(mem)
	clear(got[table.base : table.base+table.entries*entrySize])
	got = append(image(split(got)), make([]byte, len(mem))...)[:len(mem)]
	for i := range table.entries {
		binary.LittleEndian.PutUint32(got[table.base+i*entrySize:], i>>perFuncLog)
	}
	require.True(t, bytes.Equal(mem, got), "the start function writes the removed table")
}

func TestNamesOfFunctions(t *testing.T) {
	text, err := names(program(t, source))
	require.NoError(t, err)
	require.Contains(t, string(text), " runtime.main\n")
	require.Contains(t, string(text), " main.deep\n")
	require.True(t, bytes.HasPrefix(text, []byte("0x1000 ")))
}

func TestSlimRejectsInvalidModules(t *testing.T) {
	fat := program(t, source)
	for _, bad := range [][]byte{nil, []byte("no module"), fat[:len(fat)/2], fat[:8]} {
		_, err := slim(bad)
		require.ErrorIs(t, err, errShape)
	}
}

func TestSignedNumbers(t *testing.T) {
	for _, v := range []int64{0, 1, -1, 63, 64, -64, -65, 1 << 20, -1 << 31, 1<<31 - 1} {
		got, n := signed(appendSigned(nil, v))
		require.Equal(t, v, got)
		require.Positive(t, n)
	}
	_, n := signed([]byte{0x80})
	require.Zero(t, n)
}
