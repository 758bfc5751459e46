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

// program is a small Go module for WASI.
func program(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(`package main

import "fmt"

func main() {
	defer func() { fmt.Println("caught", recover()) }()
	var none []int
	fmt.Println(none[len(none)])
}
`), 0o644))
	file := filepath.Join(dir, "program.wasm")
	cmd := exec.Command("go", "build", "-o", file, filepath.Join(dir, "main.go"))
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	module, err := os.ReadFile(file)
	require.NoError(t, err)
	return module
}

// TestSlimModuleRuns needs the table: a panic looks up the functions it passes through.
func TestSlimModuleRuns(t *testing.T) {
	fat := program(t)
	thin, err := slim(fat)
	require.NoError(t, err)
	require.Less(t, len(thin), len(fat)*19/20)
	for _, module := range [][]byte{fat, thin} {
		var out bytes.Buffer
		ctx := context.Background()
		rt := wazero.NewRuntime(ctx)
		wasi_snapshot_preview1.MustInstantiate(ctx, rt)
		_, err := rt.InstantiateWithConfig(ctx, module, wazero.NewModuleConfig().WithStdout(&out))
		require.NoError(t, err)
		require.Equal(t, "caught runtime error: index out of range [0] with length 0\n", out.String())
		require.NoError(t, rt.Close(ctx))
	}
}

func TestSlimTakesOutTheTableOnly(t *testing.T) {
	fat := program(t)
	sections, err := readSections(fat)
	require.NoError(t, err)
	again, err := readSections(writeSections(sections))
	require.NoError(t, err)
	require.True(t, reflect.DeepEqual(sections, again), "writing and reading changes nothing")
	segments, err := readSegments(find(sections, sectionData).body)
	require.NoError(t, err)
	table, ok := findTable(segments)
	require.True(t, ok)

	want, got := image(segments), make([]byte, len(image(segments)))
	copy(got, image(without(segments, table)))
	for i := range table.entries {
		binary.LittleEndian.PutUint32(got[table.base+i*entrySize:], i>>perFuncLog)
	}
	require.True(t, bytes.Equal(want, got), "the start function writes what was taken out")
	require.True(t, bytes.Equal(want, append(image(split(segments)), make([]byte, len(want)-len(image(split(segments))))...)))
}

func TestSlimRefusesWhatIsNoModule(t *testing.T) {
	fat := program(t)
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
