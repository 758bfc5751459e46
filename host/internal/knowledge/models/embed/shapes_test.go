package embed

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/model/embedding"
	"github.com/easel-canvas/easel/host/internal/testing/modeltest"
)

func TestShapesOfServers(t *testing.T) {
	for _, e := range modeltest.Embedders() {
		if e.Format {
			continue // the vectors of a dataset's server are always requested as numbers
		}
		t.Run(e.Name, func(t *testing.T) {
			server := httptest.NewServer(e)
			t.Cleanup(server.Close)
			s, err := newServer(server.URL+"/v1", Options{Model: "m", Batch: 64})
			require.NoError(t, err)
			texts := make([]string, 100)
			for i := range texts {
				texts[i] = strings.Repeat("x", i+1)
			}
			texts[70] = strings.Repeat("long ", 1400)
			cut := map[int]int{}
			got, err := s.Embed(embedding.WithCuts(t.Context(), func(i, bytes int) { cut[i] = bytes }), texts)
			if e.Fails != "" {
				require.ErrorContains(t, err, e.Fails)
				return
			}
			require.NoError(t, err)
			require.Len(t, got, len(texts))
			if e.Length > 0 {
				require.Len(t, cut, 1)
				require.LessOrEqual(t, cut[70], e.Length)
				require.Equal(t, float32(cut[70]), got[70][0])
				got[70] = modeltest.Vector(texts[70])
			}
			for i, text := range texts {
				require.Equal(t, modeltest.Vector(text), got[i], i)
			}
		})
	}
}
