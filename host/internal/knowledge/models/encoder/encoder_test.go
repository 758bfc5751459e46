package encoder

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"encoding/binary"
	"io"
	"math"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	//go:embed testdata/golden.txt
	goldenTexts string
	// Vectors of the float32 model, as the JavaScript package makes them, in 16 bits.
	//go:embed testdata/golden.bin
	goldenVectors []byte
)

// built returns the encoder that `make encoder` has put into the program.
var built = sync.OnceValues(func() (*Encoder, error) {
	data, err := dist.ReadFile(file)
	if err != nil {
		return nil, err
	}
	w, err := Read(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return New(w), nil
})

func builtEncoder(t testing.TB) *Encoder {
	t.Helper()
	e, err := built()
	if os.IsNotExist(err) {
		t.Skip("the encoder is not built in: make encoder")
	}
	require.NoError(t, err)
	return e
}

func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}

func golden() (texts []string, vectors [][]float32) {
	texts = strings.Split(strings.TrimSpace(goldenTexts), "\n")
	vectors = make([][]float32, len(texts))
	for i := range vectors {
		for k := range width {
			v := int16(binary.LittleEndian.Uint16(goldenVectors[2*(i*width+k):]))
			vectors[i] = append(vectors[i], float32(v)/math.MaxInt16)
		}
	}
	return texts, vectors
}

func TestGoldenVectors(t *testing.T) {
	e := builtEncoder(t)
	texts, want := golden()
	got, err := e.Embed(t.Context(), texts)
	require.NoError(t, err)
	for i, text := range texts {
		require.GreaterOrEqual(t, cosine(want[i], got[i]), 0.999, text)
		alone, err := e.Embed(t.Context(), []string{text})
		require.NoError(t, err)
		require.InDeltaSlice(t, got[i], alone[0], 1e-4, "alone and in a batch: %s", text)
	}
}

// EASEL_TEST_USE is the folder of the npm package, unpacked.
func TestPackageIsRead(t *testing.T) {
	dir := os.Getenv("EASEL_TEST_USE")
	if dir == "" {
		t.Skip("EASEL_TEST_USE is not set")
	}
	w, err := ReadPackage(os.DirFS(dir + "/dist"))
	require.NoError(t, err)
	texts, want := golden()
	got, err := New(w).Embed(t.Context(), texts)
	require.NoError(t, err)
	for i := range texts {
		require.GreaterOrEqual(t, cosine(want[i], got[i]), 0.99999, texts[i])
	}
}

// sample returns small random weights: a vocabulary of single letters.
func sample() *Weights {
	w := newWeights()
	for i := range pieces {
		w.pieces, w.scores = append(w.pieces, string(rune('a'+i))), append(w.scores, -float64(i%9))
	}
	seed := uint32(1)
	for _, t := range w.tensors() {
		t.floats = make([]float32, t.rows*t.columns)
		for i := range t.floats {
			seed = seed*1664525 + 1013904223
			t.floats[i] = (float32(seed>>8)/(1<<24) - 0.5) / 8
		}
	}
	return w
}

func TestBytesComeNearFloats(t *testing.T) {
	w := sample()
	texts := []string{"abc", strings.Repeat("hello ", 30), "", "q", "退货退货"}
	want, err := New(w).Embed(t.Context(), texts)
	require.NoError(t, err)
	w.Quantize()
	var file bytes.Buffer
	require.NoError(t, w.Write(&file))
	again, err := Read(bytes.NewReader(file.Bytes()))
	require.NoError(t, err)
	require.Equal(t, w, again)
	e := New(again)
	got, err := e.Embed(t.Context(), texts)
	require.NoError(t, err)
	e.kernel = portable
	plain, err := e.Embed(t.Context(), texts)
	require.NoError(t, err)
	for i := range texts {
		require.InDeltaSlice(t, plain[i], got[i], 1e-4, "kernels: %s", texts[i])
	}
	for _, i := range []int{0, 1, 3} {
		require.GreaterOrEqual(t, cosine(want[i], got[i]), 0.99, texts[i])
	}
	for _, i := range []int{2, 4} { // without a token, and of another script
		require.Equal(t, make([]float32, width), got[i])
	}
	for _, n := range []int{0, 100, file.Len() / 2, file.Len() - 1} {
		_, err := Read(bytes.NewReader(file.Bytes()[:n]))
		require.ErrorIs(t, err, ErrFormat)
	}
	_, err = Read(io.MultiReader(bytes.NewReader(file.Bytes()), bytes.NewReader(file.Bytes())))
	require.ErrorContains(t, err, "bytes follow the weights")
}

func TestEmbedEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(io.ErrClosedPipe)
	_, err := New(sample()).Embed(ctx, []string{"a", "b"})
	require.ErrorIs(t, err, io.ErrClosedPipe)
}

func TestReads(t *testing.T) {
	for text, want := range map[string]bool{
		"How may I return shoes?": true, "Straße": true, "退货": false, "如何重置 SAP": false, "4711": true,
		"如何 reset password": true, "Как дела": false, "": true,
	} {
		require.Equal(t, want, Reads(text), text)
	}
}

func FuzzRead(f *testing.F) {
	zip := func(data string) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, err := io.WriteString(z, data)
		require.NoError(f, err)
		require.NoError(f, z.Close())
		return b.Bytes()
	}
	f.Add([]byte("x"))
	f.Add(zip(""))
	f.Add(zip(signature + "12345678\xff\xff"))
	f.Add(zip(signature + "12345678\x01\x00a"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := Read(bytes.NewReader(data)); err != nil {
			require.ErrorIs(t, err, ErrFormat)
		}
	})
}
