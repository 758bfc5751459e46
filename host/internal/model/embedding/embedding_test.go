package embedding

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// Vectors are read from the members in which servers put them, whatever the first number is.
func TestVectors(t *testing.T) {
	want := [][]float32{{1, 1}, {2, 1}}
	for _, text := range []string{
		`{"data":[{"index":0,"embedding":[1,1]},{"index":1,"embedding":[2,1]}]}`,
		`{"data":[{"index":1,"embedding":[2,1]},{"index":0,"embedding":[1,1]}]}`,
		`{"data":[{"index":1,"embedding":[1,1]},{"index":2,"embedding":[2,1]}]}`,
		`{"data":[{"index":0,"embedding":[1,1]},{"index":0,"embedding":[2,1]}]}`,
		`{"data":[{"index":"0","embedding":["1","1"]},{"index":"1","embedding":["2","1"]}]}`,
		`[{"index":0,"embedding":[[1,1]]},{"index":1,"embedding":[[2,1]]}]`,
		`[[1,1],[2,1]]`,
		`{"embeddings":[[1,1],[2,1]]}`,
		`{"embeddings":[{"values":[1,1]},{"values":[2,1]}]}`,
		`{"embeddings":{"float":[[1,1],[2,1]]}}`,
		`{"result":{"shape":[2,2],"data":[[1,1],[2,1]]},"success":true}`,
		`{"output":{"embeddings":[{"text_index":1,"embedding":[2,1]},{"text_index":0,"embedding":[1,1]}]}}`,
	} {
		v, err := engine.ParseJSONText(text)
		require.NoError(t, err)
		got, err := Vectors(v, 2)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{
		`{}`, `[]`, `{"data":[]}`, `{"data":[{"embedding":[1,1]}]}`, `{"data":[{"embedding":[1,1]},{"embedding":[]}]}`,
		`{"data":[{"embedding":[1,1]},{"embedding":[1]}]}`, `{"data":[{"embedding":[null,1]},{"embedding":[1,1]}]}`,
		`{"data":[{"index":0,"embedding":[1,1]},{"index":7,"embedding":[1,1]}]}`,
		`{"data":[{"embedding":["x",1]},{"embedding":[1,1]}]}`, `{"data":{"data":{"data":"x"}}}`,
	} {
		v, err := engine.ParseJSONText(text)
		require.NoError(t, err)
		_, err = Vectors(v, 2)
		require.ErrorIs(t, err, ErrVectors, text)
	}
}

func FuzzVectors(f *testing.F) {
	f.Add(`{"data":[{"index":0,"embedding":[1,1]},{"index":1,"embedding":[2,1]}]}`)
	f.Add(`{"embeddings":{"float":[[1,1],[2,1]]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := engine.ParseJSONText(text)
		if err != nil {
			return
		}
		if got, err := Vectors(v, 2); err == nil {
			require.Len(t, got, 2)
			require.Len(t, got[1], len(got[0]))
		}
	})
}
