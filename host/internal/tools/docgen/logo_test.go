package docgen

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// picture returns a red picture of 40 by 10 pixels.
func picture(t *testing.T, encode func(w io.Writer, m image.Image) error) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, 40, 10))
	for i := range 400 {
		m.Set(i%40, i/40, color.RGBA{200, 10, 10, 255})
	}
	var b bytes.Buffer
	require.NoError(t, encode(&b, m))
	return b.Bytes()
}

// A logo is a file or base64; it stands in PDF, Word and HTML, in its own proportions.
func TestLogo(t *testing.T) {
	asPNG := picture(t, png.Encode)
	asJPEG := picture(t, func(w io.Writer, m image.Image) error { return jpeg.Encode(w, m, nil) })
	for name, logo := range map[string]engine.Value{
		"file":         engine.Object("doc_id", "logo"),
		"list":         engine.List(engine.Object("doc_id", "logo")),
		"base64":       engine.String(base64.StdEncoding.EncodeToString(asJPEG)),
		"data address": engine.String("data:image/png;base64," + base64.StdEncoding.EncodeToString(asPNG)),
	} {
		made := map[string][]byte{}
		for _, format := range []string{"pdf", "docx", "html"} {
			s := &shelf{open: asPNG}
			params := engine.Object("output_format", format, "logo_position", "center",
				"logo_width", "3", "logo_height", 2)
			out, err := (&Generator{Files: s, Now: noon}).Call(t.Context(), params, arguments.With("logo_image", logo))
			require.NoError(t, err, name)
			require.Equal(t, out.Get("filename"), out.Get("file_path"))
			made[format] = s.data
		}
		require.Contains(t, string(made["pdf"]), "/Subtype /Image", name)
		const centred = `<p style="text-align:center"><img alt="" style="width:216pt;height:54pt"`
		require.Contains(t, string(made["html"]), centred)
		archive, err := zip.NewReader(bytes.NewReader(made["docx"]), int64(len(made["docx"])))
		require.NoError(t, err)
		media, err := archive.Open("word/media/logo.png")
		require.NoError(t, err)
		m, err := png.Decode(media)
		require.NoError(t, err)
		require.Equal(t, image.Pt(40, 10), m.Bounds().Size())
		red, green, _, _ := m.At(20, 5).RGBA()
		require.Greater(t, red>>8, uint32(180))
		require.Less(t, green>>8, uint32(40))
		document, err := archive.Open("word/document.xml")
		require.NoError(t, err)
		text, err := io.ReadAll(document)
		require.NoError(t, err)
		require.Contains(t, string(text), `<wp:extent cx="2743200" cy="685800"/>`)
		require.Contains(t, string(text), `<w:jc w:val="center"/>`)
	}
}

func TestWrongLogos(t *testing.T) {
	huge := bytes.Clone(picture(t, png.Encode))
	copy(huge[16:24], []byte{0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff}) // its width and height
	usual := picture(t, png.Encode)
	inline := func(data []byte) engine.Value { return engine.String(base64.StdEncoding.EncodeToString(data)) }
	for want, c := range map[string]struct{ logo, params engine.Value }{
		"logo_image: no such file":                              {engine.Object("doc_id", "other"), engine.Object()},
		"logo_image: it is neither a file nor base64":           {engine.String("/etc/passwd!"), engine.Object()},
		"logo_image: logo: it is neither a PNG nor a JPEG":      {inline([]byte("GIF89a")), engine.Object()},
		"logo_image: logo: it is neither a PNG nor a JPEG pict": {inline(huge), engine.Object()},
		`logo_width "0" is not a number from 0.1 to 20`:         {inline(usual), engine.Object("logo_width", 0)},
		`logo_position "up" (one of left, center, right)`:       {inline(usual), engine.Object("logo_position", "up")},
	} {
		g := &Generator{Files: &shelf{}, Now: noon}
		_, err := g.Call(t.Context(), c.params, arguments.With("logo_image", c.logo))
		require.ErrorIs(t, err, ErrInput)
		require.ErrorContains(t, err, want)
	}
}
