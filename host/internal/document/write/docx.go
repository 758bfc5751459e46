package write

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// docx returns a Word document with the built-in styles of Word, so that a reader can change its
// looks in one place.
func docx(blocks []block, layout *Layout) ([]byte, error) {
	w := &word{rels: []relation{{"styles", "styles.xml", false}, {"numbering", "numbering.xml", false}}}
	var pictures []part
	if layout.Logo != nil {
		pictures = []part{{"word/media/logo.png", string(layout.Logo.png)}}
		w.logo(layout.Logo)
	}
	for i, b := range blocks {
		w.title = i == 0 && layout.Title
		w.block(b)
	}
	section, more := w.section(layout)
	more = append(more, pictures...)
	body := `<w:document ` + wordSpace + `><w:body>` +
		w.body.String() + section + `</w:body></w:document>`
	parts := append([]part{
		{"word/document.xml", body},
		{"word/_rels/document.xml.rels", relations(w.rels...)},
		{"word/styles.xml", wordStyles(layout)},
		{"word/numbering.xml", w.numbering()},
	}, more...)
	const kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	return pack("word/document.xml", kind, parts...)
}

// section describes the pages, and returns the parts that stand on each of them. Measures are
// twips, twentieths of a point.
func (w *word) section(layout *Layout) (string, []part) {
	var refs strings.Builder
	var parts []part
	add := func(kind, tag, text string, numbers bool) {
		name := kind + "1.xml"
		w.rels = append(w.rels, relation{kind, name, false})
		fmt.Fprintf(&refs, `<w:%sReference w:type="default" r:id="%s"/>`, kind, relationID(len(w.rels)-1))
		runs := `<w:r><w:t xml:space="preserve">` + escape(text) + `</w:t></w:r>`
		if numbers {
			runs += `<w:r><w:t xml:space="preserve">   </w:t></w:r><w:fldSimple ` +
				`w:instr="PAGE"><w:r><w:t>1</w:t></w:r></w:fldSimple>`
		}
		parts = append(
			parts,
			part{"word/" + name, `<w:` + tag + ` ` + wordSpace + `><w:p><w:pPr><w:jc w:val="center"/></w:pPr>` +
				runs + `</w:p></w:` + tag + `>`},
		)
	}
	if layout.Header != "" {
		add("header", "hdr", layout.Header, false)
	}
	if layout.Footer != "" || layout.PageNumbers {
		add("footer", "ftr", layout.Footer, layout.PageNumbers)
	}
	wide, high := 11906, 16838
	if layout.Letter {
		wide, high = 12240, 15840
	}
	turned := ""
	if layout.Landscape {
		wide, high, turned = high, wide, ` w:orient="landscape"`
	}
	m := layout.margins()
	twips := func(points float64) int { return int(20 * points) }
	return fmt.Sprintf(`<w:sectPr>%s<w:pgSz w:w="%d" w:h="%d"%s/><w:pgMar w:top="%d" w:right="%d" w:bottom="%d" `+
		`w:left="%d" w:header="%d" w:footer="%d" w:gutter="0"/></w:sectPr>`, refs.String(), wide, high, turned,
		twips(m.Top), twips(m.Right), twips(m.Bottom), twips(m.Left), twips(m.Top/2), twips(m.Bottom/2)), parts
}

const wordSpace = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" ` +
	`xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" ` +
	`xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" ` +
	`xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:pic="` + pictureSpace + `"`

const pictureSpace = "http://schemas.openxmlformats.org/drawingml/2006/picture"

func relationID(i int) string { return "rId" + strconv.Itoa(i+1) }

type word struct {
	body  strings.Builder
	rels  []relation
	lists []list // each list with numbers counts for itself
	open  []int  // open lists by level: index in lists, -1 in one without numbers
	title bool   // the block is the title
}

type list struct{ level, start int }

func (w *word) block(b block) {
	switch b.kind {
	case table:
		w.table(b)
	case rule:
		w.body.WriteString(
			`<w:p><w:pPr><w:pBdr><w:bottom w:val="single" w:sz="6" w:space="1" ` +
				`w:color="999999"/></w:pBdr></w:pPr></w:p>`,
		)
	default:
		w.body.WriteString("<w:p>" + w.properties(b))
		w.spans(b.spans)
		w.body.WriteString("</w:p>")
	}
}

// logo writes a paragraph with a picture. Measures are EMU, of which a point has 12,700.
func (w *word) logo(l *Logo) {
	w.rels = append(w.rels, relation{"image", "media/logo.png", false})
	width, height := l.size()
	extent := fmt.Sprintf(`cx="%d" cy="%d"`, int(width*12700), int(height*12700))
	fmt.Fprintf(&w.body, `<w:p><w:pPr><w:jc w:val="%s"/></w:pPr><w:r><w:drawing><wp:inline><wp:extent %s/>`+
		`<wp:docPr id="1" name="logo"/><a:graphic><a:graphicData uri="%s"><pic:pic><pic:nvPicPr><pic:cNvPr id="1" `+
		`name="logo"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:embed="%s"/><a:stretch><a:fillRect/>`+
		`</a:stretch></pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext %s/></a:xfrm>`+
		`<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline>`+
		`</w:drawing></w:r></w:p>`, cmp.Or(l.Align, "left"), extent, pictureSpace, relationID(len(w.rels)-1), extent)
}

// properties of a paragraph. Lists and quotations stand 360 twips, a quarter of an inch, further in
// per level.
func (w *word) properties(b block) string {
	if b.kind != item {
		w.open = nil
	}
	switch b.kind {
	case heading:
		if w.title {
			return `<w:pPr><w:pStyle w:val="Title"/></w:pPr>`
		}
		return `<w:pPr><w:pStyle w:val="Heading` + strconv.Itoa(b.level) + `"/></w:pPr>`
	case quotation:
		return fmt.Sprintf(`<w:pPr><w:pStyle w:val="Quote"/><w:ind w:left="%d"/></w:pPr>`, 360*b.level)
	case code:
		return fmt.Sprintf(`<w:pPr><w:pStyle w:val="Code"/><w:ind w:left="%d"/></w:pPr>`, 360*b.level)
	case item:
		if b.first {
			return fmt.Sprintf(
				`<w:pPr><w:numPr><w:ilvl w:val="%d"/><w:numId w:val="%d"/></w:numPr></w:pPr>`,
				min(b.level-1, 8),
				w.listID(b),
			)
		}
		return fmt.Sprintf(`<w:pPr><w:ind w:left="%d"/></w:pPr>`, 360*(b.level+1))
	}
	return ""
}

// listID returns the number of the list that an item belongs to: 1 is every list without numbers.
func (w *word) listID(b block) int {
	if len(w.open) > b.level {
		w.open = w.open[:b.level]
	}
	for len(w.open) < b.level {
		w.open = append(w.open, -2) // not seen yet
	}
	at := &w.open[b.level-1]
	switch {
	case b.number == 0:
		*at = -1
		return 1
	case *at < 0:
		*at = len(w.lists)
		w.lists = append(w.lists, list{min(b.level-1, 8), b.number})
	}
	return *at + 2
}

func (w *word) spans(spans []span) {
	for _, s := range spans {
		if s.link != "" {
			w.rels = append(w.rels, relation{"hyperlink", s.link, true})
			w.body.WriteString(`<w:hyperlink r:id="` + relationID(len(w.rels)-1) + `">`)
		}
		w.run(s)
		if s.link != "" {
			w.body.WriteString("</w:hyperlink>")
		}
	}
}

func (w *word) run(s span) {
	w.body.WriteString("<w:r><w:rPr>")
	for _, p := range []struct {
		on  bool
		xml string
	}{
		{s.link != "", `<w:rStyle w:val="Hyperlink"/>`},
		{s.mono, `<w:rFonts w:ascii="Courier New" w:hAnsi="Courier New" w:cs="Courier New"/>`},
		{s.bold, "<w:b/>"},
		{s.italic, "<w:i/>"},
		{s.struck, "<w:strike/>"},
	} {
		if p.on {
			w.body.WriteString(p.xml)
		}
	}
	w.body.WriteString("</w:rPr>")
	for i, line := range strings.Split(s.text, "\n") {
		if i > 0 {
			w.body.WriteString("<w:br/>")
		}
		if line != "" {
			w.body.WriteString(`<w:t xml:space="preserve">` + escape(line) + "</w:t>")
		}
	}
	w.body.WriteString("</w:r>")
}

func (w *word) table(b block) {
	w.open = nil
	w.body.WriteString(
		`<w:tbl><w:tblPr><w:tblStyle w:val="TableGrid"/><w:tblW w:w="0" w:type="auto"/></w:tblPr><w:tblGrid>`,
	)
	w.body.WriteString(strings.Repeat("<w:gridCol/>", columns(b)) + "</w:tblGrid>")
	for i, row := range b.rows {
		w.body.WriteString("<w:tr>")
		if i == 0 {
			w.body.WriteString("<w:trPr><w:tblHeader/></w:trPr>") // it is repeated on every page
		}
		for _, cell := range row {
			w.body.WriteString("<w:tc><w:p>")
			if i == 0 {
				cell = bold(cell)
			}
			w.spans(cell)
			w.body.WriteString("</w:p></w:tc>")
		}
		w.body.WriteString("</w:tr>")
	}
	w.body.WriteString("</w:tbl><w:p/>") // two tables without a paragraph between them become one
}

func columns(b block) int {
	n := 0
	for _, row := range b.rows {
		n = max(n, len(row))
	}
	return n
}

func bold(spans []span) []span {
	out := make([]span, len(spans))
	for i, s := range spans {
		s.bold = true
		out[i] = s
	}
	return out
}

// numbering describes the bullets, as list 1, and each list with numbers.
func (w *word) numbering() string {
	var b strings.Builder
	b.WriteString(`<w:numbering xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">`)
	for id, format := range []string{"bullet", "decimal"} {
		fmt.Fprintf(&b, `<w:abstractNum w:abstractNumId="%d"><w:multiLevelType w:val="multilevel"/>`, id)
		for level := range 9 {
			text := "•"
			if format == "decimal" {
				text = fmt.Sprintf("%%%d.", level+1)
			}
			fmt.Fprintf(
				&b,
				`<w:lvl w:ilvl="%d"><w:start w:val="1"/><w:numFmt w:val="%s"/><w:lvlText w:val="%s"/><w:lvlJc `+
					`w:val="left"/><w:pPr><w:ind w:left="%d" w:hanging="360"/></w:pPr></w:lvl>`,
				level,
				format,
				text,
				360*(level+2),
			)
		}
		b.WriteString("</w:abstractNum>")
	}
	b.WriteString(`<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>`)
	for i, l := range w.lists {
		fmt.Fprintf(
			&b,
			`<w:num w:numId="%d"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="%d"><w:startOverride `+
				`w:val="%d"/></w:lvlOverride></w:num>`,
			i+2,
			l.level,
			l.start,
		)
	}
	b.WriteString("</w:numbering>")
	return b.String()
}

func wordStyles(layout *Layout) string {
	// halves is a size in half points.
	halves := func(points, other float64) int { return int(2 * cmp.Or(points, other)) }
	color := func(c Color) string {
		if c == (Color{}) {
			return ""
		}
		return fmt.Sprintf(`<w:color w:val="%02X%02X%02X"/>`, c[0], c[1], c[2])
	}
	var b strings.Builder
	b.WriteString(`<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">` +
		`<w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii="Calibri" w:hAnsi="Calibri" w:eastAsia="SimSun" ` +
		`w:cs="Calibri"/>` + color(layout.Color))
	fmt.Fprintf(&b, `<w:sz w:val="%d"/></w:rPr></w:rPrDefault>`+
		`<w:pPrDefault><w:pPr><w:spacing w:after="120" w:line="%d" `+
		`w:lineRule="auto"/></w:pPr></w:pPrDefault></w:docDefaults>`+
		`<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style>`,
		halves(layout.FontSize, bodySize), int(240*cmp.Or(layout.LineSpacing, 1.1)))
	style := func(id, name string, level, size int, color string) {
		fmt.Fprintf(&b, `<w:style w:type="paragraph" w:styleId="%s"><w:name w:val="%s"/><w:basedOn w:val="Normal"/>`+
			`<w:next w:val="Normal"/><w:pPr><w:keepNext/><w:spacing w:before="240"/><w:outlineLvl w:val="%d"/></w:pPr>`+
			`<w:rPr><w:b/>%s<w:sz w:val="%d"/></w:rPr></w:style>`, id, name, level, color, size)
	}
	for level, size := range []float64{18, 15, 13, 12, 11, 11} {
		n := strconv.Itoa(level + 1)
		style("Heading"+n, "heading "+n, level, halves(layout.HeadingSizes[level], size), "")
	}
	style("Title", "Title", 0, halves(layout.TitleSize, 18), color(layout.TitleColor))
	b.WriteString(
		`<w:style w:type="paragraph" w:styleId="Quote"><w:name w:val="Quote"/><w:basedOn ` +
			`w:val="Normal"/><w:rPr><w:i/><w:color w:val="555555"/></w:rPr></w:style>` +
			`<w:style w:type="paragraph" w:customStyle="1" w:styleId="Code"><w:name w:val="Code"/><w:basedOn ` +
			`w:val="Normal"/><w:pPr><w:shd w:val="clear" w:fill="F2F2F2"/></w:pPr><w:rPr><w:sz ` +
			`w:val="20"/></w:rPr></w:style>` +
			`<w:style w:type="character" w:styleId="Hyperlink"><w:name w:val="Hyperlink"/><w:rPr><w:color ` +
			`w:val="0563C1"/><w:u w:val="single"/></w:rPr></w:style>` +
			`<w:style w:type="table" w:styleId="TableGrid"><w:name w:val="Table Grid"/><w:tblPr><w:tblBorders>`,
	)
	for _, side := range []string{"top", "left", "bottom", "right", "insideH", "insideV"} {
		b.WriteString(`<w:` + side + ` w:val="single" w:sz="4" w:space="0" w:color="999999"/>`)
	}
	b.WriteString(
		`</w:tblBorders><w:tblCellMar><w:left w:w="108" w:type="dxa"/><w:right w:w="108" ` +
			`w:type="dxa"/></w:tblCellMar></w:tblPr></w:style></w:styles>`,
	)
	return b.String()
}
