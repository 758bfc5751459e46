package chunkfile

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
)

func written(t testing.TB, chunks ...Chunk) []byte {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b)
	for i := range chunks {
		require.NoError(t, w.Write(&chunks[i]))
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func read(data []byte) (out []Chunk, err error) {
	for c, err := range Read(bytes.NewReader(data)) {
		if err != nil {
			return out, err
		}
		out = append(out, c)
	}
	return out, nil
}

var sample = []Chunk{
	{ID: "1", Content: "退货 <b>\x00", Text: "searched", Keywords: []string{"k"}, Positions: [][]float64{{
		1, 2, 3, 4,
		5,
	}}},
	{ID: "2", Content: strings.Repeat("x", 300_000), Vector: []float32{1, -0.5, 3e-9}, Tokens: 7, Created: 9},
	{},
}

func TestChunksComeBackWhole(t *testing.T) {
	out, err := read(written(t, sample...))
	require.NoError(t, err)
	require.Equal(t, sample, out)
	out, err = read(written(t))
	require.NoError(t, err)
	require.Empty(t, out)
}

// All fields come back.
func TestFields(t *testing.T) {
	whole := Chunk{
		ID: "1", Content: "c", Text: "t", Keywords: []string{"k", ""}, Questions: []string{"q"}, Tags: []string{"t"},
		Image: "i", Kind: "image", Positions: [][]float64{{1, 2.5, -3, 4, 5}, {}}, Parent: "p", Hidden: true, Tokens: 7,
		Created: -9, Vector: []float32{1},
	}
	out, err := read(written(t, whole))
	require.NoError(t, err)
	require.Equal(t, []Chunk{whole}, out)
	v := reflect.ValueOf(whole)
	for i := range v.NumField() {
		require.False(t, v.Field(i).IsZero(), "the test has no %s", v.Type().Field(i).Name)
	}

	out, err = read(written(t, Chunk{Content: "a\xff\xfeb"}))
	require.NoError(t, err)
	require.Equal(t, "a\uFFFDb", out[0].Content, "text is valid UTF-8")
}

// A text that is the content below headings is stored as what it has before the content.
func TestTextsThatEndWithTheContent(t *testing.T) {
	content := strings.Repeat("content ", 100)
	chunks := []Chunk{
		{Content: content, Text: "headings\n" + content},
		{Content: content, Text: content},
		{Content: content, Text: content + "after"},
		{Text: "only searched"},
		{Content: content, Text: "x"},
	}
	for _, c := range chunks {
		out, err := read(written(t, c))
		require.NoError(t, err)
		require.Equal(t, []Chunk{c}, out)
	}
	require.Less(t, len(written(t, chunks[0])), len(content)+100)
}

// A record with a field that this version does not know is read without it.
func TestUnknownFields(t *testing.T) {
	record := appendRecord(nil, &Chunk{ID: "1", Content: "c"})
	record = protowire.AppendString(protowire.AppendTag(record, 99, protowire.BytesType), "new")
	record = protowire.AppendVarint(protowire.AppendTag(record, 100, protowire.VarintType), 5)
	var c Chunk
	require.NoError(t, readRecord(record, &c))
	require.Equal(t, Chunk{ID: "1", Content: "c"}, c)
}

// A file that is cut anywhere but between two records is damaged, and yields no chunk twice.
func TestCutFile(t *testing.T) {
	data := written(t, sample[0], sample[0], sample[2])
	whole := 0
	for n := range data {
		out, err := read(data[:n])
		if err == nil {
			whole++
		} else {
			require.ErrorIs(t, err, ErrDamaged, n)
		}
		require.LessOrEqual(t, len(out), 3)
	}
	require.Equal(t, 3, whole, "after the header and after two records")
}

func FuzzRead(f *testing.F) {
	f.Add(written(f, sample[0], sample[2]))
	f.Add(written(f, Chunk{Content: "c", Text: "lead c"}))
	f.Add([]byte(header + "\xff\xff\xff\xff\xff\xff\xff\xff\x7f"))
	f.Fuzz(func(t *testing.T, data []byte) {
		out, err := read(data)
		if err == nil {
			again, err := read(written(t, out...))
			require.NoError(t, err)
			require.Len(t, again, len(out))
		}
	})
}

func TestID(t *testing.T) {
	require.Len(t, ID("a", "b"), 16)
	require.Equal(t, ID("ab", ""), ID("a", "b"), "the hash is that of both texts joined")
	require.NotEqual(t, ID("a", "b"), ID("a", "c"))
}
