package docgen

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/document"
)

type shelf struct {
	name string
	data []byte
	err  error
	open []byte // the file of {"doc_id": "logo"}
}

func (s *shelf) Open(_ context.Context, file engine.Value) (document.Source, error) {
	if file.Get("doc_id").Str() != "logo" {
		return document.Source{}, errors.New("no such file")
	}
	open := func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(s.open)), nil }
	return document.Source{Name: "logo.png", Size: int64(len(s.open)), Open: open}, nil
}

func (s *shelf) Save(_ context.Context, name, format string, data []byte) (engine.Value, error) {
	s.name, s.data = name, data
	return engine.Object("doc_id", "d1", "format", format, "file_name", name), s.err
}

func noon() time.Time { return time.Date(2026, 2, 3, 12, 0, 0, 0, time.UTC) }

var arguments = engine.Object(
	"content",
	"Hello **world** — Привет, السلام, 漢字, 한국어.\n\n- one\n- two\n\n## Part\n\n|a|b|\n|-|-|\n|1|2|",
	"title",
	"Report\nof May",
	"subtitle",
	"by *us*",
	"header_text",
	"ACME",
	"footer_text",
	"confidential",
	"watermark_text",
	"DRAFT",
	"filename",
	"../../may report.pdf",
)

func TestEveryFormatHoldsItsText(t *testing.T) {
	r := new(document.Reader)
	defer func() { require.NoError(t, r.Close()) }()
	for name, extension := range map[string]string{
		"": ".pdf", "docx": ".docx", "txt": ".txt", "md": ".md", "html": ".html",
	} {
		s := new(shelf)
		out, err := (&Generator{Files: s, Now: noon}).Call(t.Context(), engine.Object("output_format", name), arguments)
		require.NoError(t, err, name)
		require.Equal(t, "may report"+extension, s.name)
		require.True(t, out.Get("success").Truthy())
		require.Equal(t, "d1", out.Get("doc_id").Text())
		download, err := engine.ParseJSONText(out.Get("download").Text())
		require.NoError(t, err)
		data, err := base64.StdEncoding.DecodeString(download.Get("base64").Text())
		require.NoError(t, err)
		require.Equal(t, s.data, data)
		if name == "" { // the text of PDF files is tested where they are written
			require.True(t, bytes.HasPrefix(data, []byte("%PDF-")))
			continue
		}
		text, err := r.Text(t.Context(), s.name, "", s.data)
		require.NoError(t, err)
		for _, want := range []string{
			"Report of May", "2026-02-03 12:00", "Hello", "Привет", "漢字", "한국어", "two", "Part",
		} {
			require.Contains(t, text, want, name)
		}
	}
}

// The description of the file states whether messages keep it in their text.
func TestDownloadSaysWhetherItStaysInText(t *testing.T) {
	for _, keep := range []bool{false, true} {
		params := engine.Object("output_format", "txt", "include_download_info_in_content", keep)
		out, err := (&Generator{Files: new(shelf), Now: noon}).Call(t.Context(), params, arguments)
		require.NoError(t, err)
		download, err := engine.ParseJSONText(out.Get("download").Text())
		require.NoError(t, err)
		require.Equal(t, keep, download.Get("include_download_info_in_content").True())
	}
}

func TestPagesFollowTheLayout(t *testing.T) {
	s := new(shelf)
	generate := func(params engine.Value) {
		_, err := (&Generator{Files: s, Now: noon}).Call(t.Context(), params, arguments)
		require.NoError(t, err)
	}
	generate(engine.Object("page_size", "Letter", "orientation", "landscape", "enable_toc", true, "font_size", 20))
	require.Contains(t, string(s.data), "792")
	require.Contains(t, string(s.data), "/Outlines")
	large := bytes.Count(s.data, []byte("/Type /Page\n"))
	generate(engine.Object("font_size", 8))
	require.LessOrEqual(t, bytes.Count(s.data, []byte("/Type /Page\n")), large)
}

// Sizes, colors and margins of the params reach the pages.
func TestStyleOfPages(t *testing.T) {
	params := engine.Object("output_format", "docx", "title_font_size", 30, "heading2_font_size", "17", "font_size", 9,
		"line_spacing", 1.5, "margin_left", 0.5, "margin_top", 2, "text_color", "#336699", "title_color", "#AA0000")
	s := new(shelf)
	out, err := (&Generator{Files: s, Now: noon}).Call(t.Context(), params, arguments)
	require.NoError(t, err)
	require.Equal(t, base64.StdEncoding.EncodeToString(s.data), out.Get("pdf_base64").Text())
	archive, err := zip.NewReader(bytes.NewReader(s.data), int64(len(s.data)))
	require.NoError(t, err)
	text := func(name string) string {
		f, err := archive.Open(name)
		require.NoError(t, err)
		defer f.Close()
		data, err := io.ReadAll(f)
		require.NoError(t, err)
		return string(data)
	}
	styles := text("word/styles.xml")
	for _, want := range []string{
		`<w:color w:val="336699"/><w:sz w:val="18"/>`, `w:line="360"`,
		`<w:name w:val="Title"/>`, `<w:color w:val="AA0000"/><w:sz w:val="60"/>`, `<w:sz w:val="34"/>`,
	} {
		require.Contains(t, styles, want)
	}
	require.Contains(t, text("word/document.xml"), `<w:pStyle w:val="Title"/>`)
	require.Contains(t, text("word/document.xml"), `w:top="2880" w:right="1440" w:bottom="1440" w:left="720"`)

	narrow, wide := new(shelf), new(shelf)
	for margin, s := range map[float64]*shelf{0.2: narrow, 3: wide} {
		_, err := (&Generator{Files: s, Now: noon}).Call(t.Context(), engine.Object("margin_left", margin,
			"margin_right", margin, "margin_top", margin, "margin_bottom", margin, "line_spacing", 3), arguments)
		require.NoError(t, err)
	}
	pages := func(s *shelf) int { return bytes.Count(s.data, []byte("/Type /Page\n")) }
	require.Less(t, pages(narrow), pages(wide))
}

func TestWrongParams(t *testing.T) {
	full := errors.New("disk full")
	with := func(name string, v any) engine.Value { return engine.Object(name, v) }
	for want, c := range map[string]struct {
		params engine.Value
		shelf  *shelf
	}{
		`output_format "odt" (one of pdf, docx, txt, markdown, html)`: {with("output_format", "odt"), new(shelf)},
		`page_size "A0" (one of A4, Letter)`:                          {with("page_size", "A0"), new(shelf)},
		`orientation "up" (one of portrait, landscape)`:               {with("orientation", "up"), new(shelf)},
		`font_size "2" is not a number from 4 to 72`:                  {with("font_size", 2), new(shelf)},
		`margin_left "wide" is not a number from 0 to 3`:              {with("margin_left", "wide"), new(shelf)},
		`line_spacing "9" is not a number from 0.8 to 4`:              {with("line_spacing", 9), new(shelf)},
		`line_spacing "NaN" is not a number`:                          {with("line_spacing", "NaN"), new(shelf)},
		`text_color "red" is not a color`:                             {with("text_color", "red"), new(shelf)},
		"save document: disk full":                                    {engine.Null, &shelf{err: full}},
	} {
		_, err := (&Generator{Files: c.shelf, Now: noon}).Call(t.Context(), c.params, arguments)
		require.ErrorContains(t, err, want)
	}
}

func TestFileNames(t *testing.T) {
	for wanted, want := range map[string]string{
		"": "document_20260203_120000", "a/b\\c.pdf": "c", "..": "document_20260203_120000", "x.y": "x.y",
		"/": "document_20260203_120000",
	} {
		require.Equal(t, want, fileName(wanted, noon()), wanted)
	}
}
