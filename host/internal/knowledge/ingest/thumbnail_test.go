package ingest_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/testing/datasettest"
)

// Images have a small picture after their first parse, also after one that failed.
func TestThumbnails(t *testing.T) {
	f := datasettest.New(t, datasettest.Options{})
	ds := f.Dataset(dataset.Dataset{Name: "shop"})
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 128, 32))))
	for name, c := range map[string]struct {
		text  string
		state dataset.State
		size  image.Point // zero for no thumbnail
	}{
		"a.png": {b.String(), dataset.Failed, image.Pt(64, 16)}, // there is no OCR
		"b.png": {"text", dataset.Done, image.Point{}},
		"a.txt": {"text", dataset.Done, image.Point{}},
	} {
		d := f.Parsed(ds.ID, name, c.text)
		require.Equal(t, c.state, d.State, "%s: %s", name, d.Messages)
		if c.size == (image.Point{}) {
			require.Empty(t, d.Thumbnail, name)
			continue
		}
		text, ok := strings.CutPrefix(d.Thumbnail, "data:image/jpeg;base64,")
		require.True(t, ok, name)
		data, err := base64.StdEncoding.DecodeString(text)
		require.NoError(t, err)
		m, err := jpeg.Decode(bytes.NewReader(data))
		require.NoError(t, err)
		require.Equal(t, c.size, m.Bounds().Size(), name)
	}
}
