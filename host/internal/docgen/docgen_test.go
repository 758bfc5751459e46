package docgen

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
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
	"../may report.pdf",
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
		"font_size 2 is not between 4 and 72 points":                  {with("font_size", 2), new(shelf)},
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
