package write

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"strings"
	"time"
)

// part is a file inside an Office document.
type part struct{ name, content string }

// xmlHead begins every part.
const xmlHead = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"

// pack makes an Office document from its parts. The list of their types comes first, as readers
// expect it.
func pack(main, mainType string, parts ...part) ([]byte, error) {
	var types strings.Builder
	types.WriteString(`<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
		`<Default Extension="xml" ContentType="application/xml"/>` +
		`<Default Extension="png" ContentType="image/png"/>` +
		`<Override PartName="/` + main + `" ContentType="` + mainType + `.main+xml"/>`)
	for _, p := range parts {
		if kind := partType(p.name); kind != "" {
			types.WriteString(
				`<Override PartName="/` + p.name + `" ContentType="application/vnd.openxmlformats-officedocument.` +
					kind + `+xml"/>`,
			)
		}
	}
	types.WriteString(`</Types>`)
	all := append([]part{
		{"[Content_Types].xml", types.String()},
		{"_rels/.rels", relations(relation{"officeDocument", main, false})},
	}, parts...)
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, p := range all {
		// A fixed time, so that the same text results in the same file.
		w, err := z.CreateHeader(
			&zip.FileHeader{Name: p.name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)},
		)
		if err != nil {
			return nil, err
		}
		content := p.content
		if !strings.HasSuffix(p.name, ".png") {
			content = xmlHead + content
		}
		if _, err := w.Write([]byte(content)); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func partType(name string) string {
	switch {
	case name == "word/styles.xml":
		return "wordprocessingml.styles"
	case name == "word/numbering.xml":
		return "wordprocessingml.numbering"
	case strings.HasPrefix(name, "word/header"):
		return "wordprocessingml.header"
	case strings.HasPrefix(name, "word/footer"):
		return "wordprocessingml.footer"
	case name == "xl/styles.xml":
		return "spreadsheetml.styles"
	case strings.HasPrefix(name, "xl/worksheets/"):
		return "spreadsheetml.worksheet"
	}
	return ""
}

// relation leads from a part to another, or to an address outside.
type relation struct {
	kind, target string
	outside      bool
}

// relations are numbered from rId1 on.
func relations(list ...relation) string {
	var b strings.Builder
	b.WriteString(`<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`)
	for i, r := range list {
		mode := ""
		if r.outside {
			mode = ` TargetMode="External"`
		}
		b.WriteString(
			`<Relationship Id="` + relationID(
				i,
			) + `" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/` + r.kind +
				`" Target="` + escape(
				r.target,
			) + `"` + mode + `/>`,
		)
	}
	b.WriteString(`</Relationships>`)
	return b.String()
}

// escape returns text for XML; characters that XML cannot have become U+FFFD.
func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder does not fail
	return b.String()
}
