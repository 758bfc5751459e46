package model2vec

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// array is a tensor for a test file.
type array struct {
	kind  string
	shape []int
	data  any // a slice for binary.Write
}

// safetensors writes a file of arrays.
func safetensors(t *testing.T, arrays map[string]array) []byte {
	t.Helper()
	header := map[string]any{"__metadata__": map[string]string{"format": "pt"}}
	var body bytes.Buffer
	for name, a := range arrays {
		from := body.Len()
		require.NoError(t, binary.Write(&body, binary.LittleEndian, a.data))
		header[name] = map[string]any{"dtype": a.kind, "shape": a.shape, "data_offsets": [2]int{from, body.Len()}}
	}
	text, err := json.Marshal(header)
	require.NoError(t, err)
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(text)))
	return append(append(out, text...), body.Bytes()...)
}

const bert = `{"normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
		"lowercase": true},
	"pre_tokenizer": {"type": "BertPreTokenizer"},
	"model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
		"vocab": {"[UNK]": 0, "red": 1, "app": 2, "##le": 3, ",": 4, "cafe": 5, "退": 6, "##s": 7}}}`

const sentencePiece = `{"normalizer": {"type": "Sequence", "normalizers": [
		{"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}]},
	"pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true},
	"model": {"type": "Unigram", "unk_id": 0,
		"vocab": [["<unk>", 0], ["▁red", -1], ["▁", -2], ["re", -2.5], ["d", -2.5], ["▁app", -3], ["le", -3],
			["▁apple", -5], ["s", -2]]}}`

func tokens(t *testing.T, file, text string) (out []string) {
	t.Helper()
	k, err := readTokenizer([]byte(file))
	require.NoError(t, err)
	for _, id := range k.encode(text) {
		out = append(out, k.vocab[id])
	}
	return out
}

func TestWordPiece(t *testing.T) {
	require.Equal(t, []string{"red", "app", "##le", "##s", ",", "cafe", "退", "[UNK]"},
		tokens(t, bert, "Red\tAPPLES, Café退 unheard"))
	require.Equal(t, []string{"cafe", "cafe"}, tokens(t, bert, "cafe\u0301 ca\u0000fe"))
	require.Empty(t, tokens(t, bert, " "))
}

func TestUnigram(t *testing.T) {
	require.Equal(t, []string{"▁red", "▁apple", "s"}, tokens(t, sentencePiece, "red   apples"))
	require.Equal(t, []string{"▁", "<unk>", "re", "d"}, tokens(t, sentencePiece, "xred"),
		"the sum of the scores decides")
}

func TestCharsmap(t *testing.T) {
	// A trie with the one key "A" (0x41), which becomes "a".
	trie := make([]uint32, 0x100)
	trie[0] = 1 << 10                         // children at 1 xor byte
	trie[1^0x41] = 0x41 | 1<<8 | (0x40^2)<<10 // a leaf, its value at 2
	trie[2] = 0 | 1<<31
	data := binary.LittleEndian.AppendUint32(nil, uint32(4*len(trie)))
	for _, u := range trie {
		data = binary.LittleEndian.AppendUint32(data, u)
	}
	data = append(data, "a\x00"...)
	m, err := readCharsmap(data)
	require.NoError(t, err)
	require.Equal(t, "banana a", m.normalize("bAnana A\u0301"),
		"a known group loses its accents, as in the tokenizers library")
	file := fmt.Sprintf(`{"normalizer": {"type": "Precompiled", "precompiled_charsmap": %q},
		"model": {"type": "WordPiece", "unk_token": "u",
			"vocab": {"u": 0, "a": 1}}}`, base64.StdEncoding.EncodeToString(data))
	require.Equal(t, []string{"a"}, tokens(t, file, "A"))
	_, err = readCharsmap(data[:100])
	require.ErrorIs(t, err, errCharsmap)
}

func TestUnknownTypesAreNamed(t *testing.T) {
	for want, file := range map[string]string{
		`pre_tokenizer: unknown type "ByteLevel" (one of`:      `{"pre_tokenizer": {"type": "ByteLevel"}}`,
		`normalizer: unknown type "Nmt" (one of`:               `{"normalizer": {"type": "Nmt"}}`,
		`model: unknown type "BPE" (one of WordPiece, Unigram`: `{"model": {"type": "BPE"}}`,
		`unk_token "x" is not in the vocabulary`: `{"model": {"type": "WordPiece",
			"unk_token": "x", "vocab": {"u": 0}}}`,
		`unk_id 7 is not in the vocabulary of 1`: `{"model": {"type": "Unigram",
			"unk_id": 7, "vocab": [["u", 0]]}}`,
	} {
		_, err := readTokenizer([]byte(file))
		require.ErrorContains(t, err, want)
	}
}

// folder returns a model with vectors of two dimensions.
func folder(t *testing.T, config string, arrays map[string]array) fstest.MapFS {
	return fstest.MapFS{
		"tokenizer.json":    {Data: []byte(bert)},
		"model.safetensors": {Data: safetensors(t, arrays)},
		"config.json":       {Data: []byte(config)},
	}
}

var rows = []float32{9, 9, 3, 0, 0, 4, 0, 0, 1, 1, 2, 2, 0, 1, 1, 0}

func TestEmbed(t *testing.T) {
	m, err := Load(folder(t, `{"normalize": false}`, map[string]array{"embeddings": {"F32", []int{8, 2}, rows}}))
	require.NoError(t, err)
	require.Equal(t, 2, m.Dims())
	require.Equal(t, []float32{1, 4.0 / 3}, m.Embed("red apple unheard"), "unknown words do not count")
	require.Equal(t, []float32{0, 0}, m.Embed("unheard"))

	m, err = Load(folder(t, `{}`, map[string]array{"embeddings": {"F32", []int{8, 2}, rows}}))
	require.NoError(t, err)
	require.InDeltaSlice(t, []float32{0.6, 0.8}, m.Embed("red apple"), 1e-6)
}

func TestMappingAndWeights(t *testing.T) {
	m, err := Load(folder(t, `{"normalize": false}`, map[string]array{
		"embeddings": {"I8", []int{2, 2}, []int8{1, 2, -3, 4}},
		"mapping":    {"I64", []int{8}, []int64{0, 1, 1, 0, 0, 0, 0, 0}},
		"weights":    {"F64", []int{8}, []float64{1, 2, 0.5, 1, 1, 1, 1, 1}},
	}))
	require.NoError(t, err)
	require.InDeltaSlice(t, []float32{(-6 - 1.5 + 1) / 3, (8 + 2 + 2) / 3.0}, m.Embed("red apple"), 1e-6)
}

func TestHalfFloats(t *testing.T) {
	for bits, want := range map[uint16]float32{
		0: 0, 0x3C00: 1, 0xC000: -2, 0x3555: 0.33325195, 1: 5.9604645e-08,
		0x7C00: float32(math.Inf(1)),
	} {
		require.Equal(t, want, half(bits))
	}
}

func TestDamagedFiles(t *testing.T) {
	good := folder(t, `{}`, map[string]array{"embeddings": {"F32", []int{8, 2}, rows}})
	for want, change := range map[string]func(fstest.MapFS){
		"too short for a header": func(f fstest.MapFS) { f["model.safetensors"] = &fstest.MapFile{Data: []byte{1}} },
		"its header has": func(f fstest.MapFS) {
			f["model.safetensors"] = &fstest.MapFile{Data: bytes.Repeat([]byte{0x7F}, 9)}
		},
		"does not fit bytes": func(f fstest.MapFS) {
			f["model.safetensors"] = &fstest.MapFile{Data: safetensors(t,
				map[string]array{"embeddings": {"F32", []int{1 << 40, 1 << 40}, rows}})}
		},
		"embeddings for 2 tokens, tokenizer.json has 8": func(f fstest.MapFS) {
			f["model.safetensors"] = &fstest.MapFile{Data: safetensors(t,
				map[string]array{"embeddings": {"F32", []int{2, 2}, rows[:4]}})}
		},
		`no tensor "embeddings"`: func(f fstest.MapFS) {
			f["model.safetensors"] = &fstest.MapFile{Data: safetensors(t,
				map[string]array{"other": {"F32", []int{8, 2}, rows}})}
		},
		"tokenizer.json: ": func(f fstest.MapFS) { f["tokenizer.json"] = &fstest.MapFile{Data: []byte("{")} },
		"config.json: ":    func(f fstest.MapFS) { f["config.json"] = &fstest.MapFile{Data: []byte("{")} },
	} {
		files := fstest.MapFS{}
		for name, f := range good {
			files[name] = f
		}
		change(files)
		_, err := Load(files)
		require.ErrorContains(t, err, want)
	}
}

// Texts of any bytes become tokens of the vocabulary, in either model.
func FuzzEncode(f *testing.F) {
	f.Add("Red apples, Café退 \xff")
	f.Fuzz(func(t *testing.T, text string) {
		for _, file := range []string{bert, sentencePiece} {
			k, err := readTokenizer([]byte(file))
			require.NoError(t, err)
			for _, id := range k.encode(text) {
				require.GreaterOrEqual(t, id, 0)
				require.Less(t, id, k.size())
			}
		}
	})
}
