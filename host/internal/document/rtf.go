package document

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/easel-canvas/easel/engine/block"
)

// rtfPage adds a document in Rich Text Format to out. It reads token by token; the cost does not
// depend on the depth of groups.
//
// Source: Rich Text Format specification 1.9.1.
func rtfPage(ctx context.Context, limits *Limits, data []byte, out *page) error {
	r := &rtf{flow: newFlow(out), limits: limits, data: data, fonts: map[int]int{}, styles: map[int]rtfStyle{}}
	r.rtfState = rtfState{fallback: 1, codePage: 1252, documentPage: 1252}
	for n := 0; r.at < len(r.data); n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := r.token(); err != nil {
			return err
		}
		if out.err != nil {
			return out.err
		}
	}
	if len(r.stack) > 0 && r.at > len(r.data) {
		return fmt.Errorf("%w: it ends in the middle", ErrDamaged)
	}
	r.endParagraph()
	r.endGrid(&r.grid)
	r.flushCode()
	return out.err
}

// rtf is the state of reading a document.
type rtf struct {
	flow
	limits *Limits
	data   []byte
	at     int // of the next byte
	stack  []rtfState
	rtfState

	pending []byte // text of the open code page
	high    rune   // first half of a character that \u has written
	ignore  int    // characters that stand for the last \u in old readers

	text     linked // the open paragraph
	number   string // of the open paragraph, as it is shown
	noteText strings.Builder
	notes    []string
	noteNo   int
	field    strings.Builder // instruction of the open field

	grid   gridTable
	edges  []gridEdge
	edge   gridEdge // the definition under way
	fonts  map[int]int
	font   int // under definition
	styles map[int]rtfStyle
	style  int // under definition
	name   strings.Builder
}

// rtfStyle is the part of a paragraph style that affects the text.
type rtfStyle struct {
	heading int
	code    bool
}

// rtfState is saved at the beginning of a group and restored at its end.
type rtfState struct {
	target       destination
	starred      bool // the next word names a destination that readers may ignore
	hidden       bool
	fallback     int // characters after each \u that are ignored
	codePage     int
	documentPage int
	heading      int
	isCode       bool
	level        int
	inTable      bool
	isField      bool
}

// destination is where the text of a group goes.
type destination int

const (
	toText destination = iota
	toNowhere
	toFonts
	toStyles
	toNumber
	toNote
	toField
	toAlternative // \upr: its first part is for readers without Unicode
)

// rtfSkipped are destinations without text of the document.
var rtfSkipped = map[string]bool{
	"pict": true, "info": true, "colortbl": true, "header": true, "headerl": true, "headerr": true, "headerf": true,
	"footer": true, "footerl": true, "footerr": true, "footerf": true, "objdata": true, "nonshppict": true, "xe": true,
	"tc": true, "tcn": true, "rxe": true, "txe": true, "bkmkstart": true, "bkmkend": true, "nonesttables": true,
	"listtable": true, "listoverridetable": true, "revtbl": true, "rsidtbl": true, "generator": true, "filetbl": true,
	"themedata": true, "datastore": true, "latentstyles": true, "xmlnstbl": true, "ftnsep": true, "ftnsepc": true,
	"ftncn": true, "aftnsep": true, "aftnsepc": true, "aftncn": true, "annotation": true, "atnid": true,
	"atnauthor": true, "pn": true, "do": true, "sp": true, "mmathPr": true, "stylerestrict": true,
}

// rtfSigns are control words that are a character.
var rtfSigns = map[string]string{
	"tab": "\t", "line": "\n", "lbr": "\n", "emdash": "—", "endash": "–", "emspace": " ", "enspace": " ",
	"qmspace": " ", "bullet": "•", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "zwj": "\u200D",
	"zwnj": "\u200C", "ltrmark": "\u200E", "rtlmark": "\u200F", "nestcell": "\n", "softline": "\n",
}

func (r *rtf) token() error {
	switch c := r.data[r.at]; c {
	case '{':
		r.flush()
		if len(r.stack) == r.limits.Depth {
			return exceeded(LimitDepth, r.limits.Depth, "groups inside each other")
		}
		r.at++
		r.ignore = 0
		r.stack = append(r.stack, r.rtfState)
		r.starred = false
		if r.target == toStyles {
			r.style, r.heading = 0, 0
			r.name.Reset()
		}
	case '}':
		r.at++
		r.ignore = 0
		r.endGroup()
	case '\\':
		return r.control()
	case '\r', '\n':
		r.at++
	case 0: // padding at the end of a file
		r.at++
	default:
		end := r.at + 1
		for end < len(r.data) && r.ignore == 0 && !bytes.ContainsRune([]byte("{}\\\r\n\x00"), rune(r.data[end])) {
			end++
		}
		r.characters(r.data[r.at:end])
		r.at = end
	}
	return nil
}

// characters adds bytes of text, or ignores one.
func (r *rtf) characters(text []byte) {
	if r.ignore > 0 && len(text) > 0 {
		r.ignore--
		return
	}
	if r.target == toNowhere || r.target == toAlternative {
		return
	}
	if len(r.pending)+len(text) > r.limits.Block {
		r.flush()
	}
	r.pending = append(r.pending, text...)
}

// flush writes the pending bytes in their code page.
func (r *rtf) flush() {
	if len(r.pending) > 0 {
		text := decodeCodePage(r.codePage, r.pending)
		r.pending = r.pending[:0]
		r.write(text)
	}
}

// write adds text to where the open group sends it.
func (r *rtf) write(text string) {
	r.high = 0
	if r.hidden && r.target != toStyles {
		return
	}
	bounded := func(b *strings.Builder) {
		if b.Len()+len(text) <= 2*maxTarget {
			b.WriteString(text)
		}
	}
	switch r.target {
	case toText:
		if r.text.Len()+len(text) > r.page.block && r.page.err == nil {
			r.page.err = exceeded(LimitBlock, r.page.block, "bytes in one paragraph")
		}
		if r.page.err == nil {
			r.text.text = append(r.text.text, text...)
		}
	case toNumber:
		if len(r.number)+len(text) < 200 {
			r.number += text
		}
	case toNote:
		if r.noteText.Len()+len(text) > r.page.block && r.page.err == nil {
			r.page.err = exceeded(LimitBlock, r.page.block, "bytes in one note")
		}
		if r.page.err == nil {
			r.noteText.WriteString(text)
		}
	case toField:
		bounded(&r.field)
	case toStyles:
		bounded(&r.name)
	}
}

// endGroup restores the state before the open group.
func (r *rtf) endGroup() {
	r.flush()
	n := len(r.stack)
	if n == 0 {
		return
	}
	ended, wasField := r.target, r.isField
	if ended == toStyles {
		r.endStyle()
	}
	r.rtfState, r.stack = r.stack[n-1], r.stack[:n-1]
	switch {
	case ended == toNote && r.target != toNote:
		if text := block.Line(r.noteText.String()); text != "" {
			r.noteNo++
			mark := "[^f" + strconv.Itoa(r.noteNo) + "]"
			r.write(mark)
			r.notes = append(r.notes, mark+": "+text)
		}
		r.noteText.Reset()
	case ended == toField && r.target != toField:
		if target := fieldTarget(r.field.String()); target != "" && r.target == toText {
			r.text.begin(target)
		}
		r.field.Reset()
	case wasField && !r.isField:
		r.text.end()
	}
}

// endStyle stores the style whose group ends.
func (r *rtf) endStyle() {
	name := strings.ToLower(strings.TrimSuffix(strings.TrimSpace(r.name.String()), ";"))
	r.name.Reset()
	if name == "" || len(r.styles) >= 10_000 {
		return
	}
	style := rtfStyle{heading: r.heading, code: codeStyles[name]}
	if level, ok := strings.CutPrefix(name, "heading "); ok && style.heading == 0 {
		style.heading, _ = strconv.Atoi(level) // a name like "heading xyz" is not a heading
	} else if name == "title" {
		style.heading = 1
	}
	r.styles[r.style] = style
}

// control reads a control word or sign.
func (r *rtf) control() error {
	r.at++
	if r.at == len(r.data) {
		return nil
	}
	c := r.data[r.at]
	if c < 'A' || c > 'z' || c > 'Z' && c < 'a' {
		r.at++
		r.sign(c)
		return nil
	}
	start := r.at
	for r.at < len(r.data) && r.at-start < 32 && (r.data[r.at]|0x20) >= 'a' && (r.data[r.at]|0x20) <= 'z' {
		r.at++
	}
	word := string(r.data[start:r.at])
	start = r.at
	if r.at < len(r.data) && r.data[r.at] == '-' {
		r.at++
	}
	for r.at < len(r.data) && r.at-start < 11 && r.data[r.at] >= '0' && r.data[r.at] <= '9' {
		r.at++
	}
	n, err := strconv.Atoi(string(r.data[start:r.at]))
	if r.at < len(r.data) && r.data[r.at] == ' ' {
		r.at++
	}
	r.word(word, n, err == nil)
	return nil
}

// sign handles a control sign.
func (r *rtf) sign(c byte) {
	switch c {
	case '\'':
		if r.at+2 > len(r.data) {
			r.at = len(r.data)
			return
		}
		b, err := strconv.ParseUint(string(r.data[r.at:r.at+2]), 16, 8)
		r.at += 2
		if err == nil {
			r.characters([]byte{byte(b)})
		}
	case '*':
		r.starred = true
	case '\\', '{', '}':
		r.characters([]byte{c})
	case '~':
		r.put(" ")
	case '_':
		r.put("-")
	case '\r', '\n':
		r.word("par", 0, false)
	}
}

// put adds the character of a control.
func (r *rtf) put(text string) {
	if r.ignore > 0 {
		r.ignore--
		return
	}
	r.flush()
	r.write(text)
}

func (r *rtf) word(word string, n int, hasN bool) {
	if sign := rtfSigns[word]; sign != "" {
		r.put(sign)
		return
	}
	switch word {
	case "u":
		r.unicode(n)
		return
	case "bin":
		r.at += min(max(n, 0), len(r.data)-r.at)
		return
	}
	r.flush()
	if r.starred || rtfSkipped[word] && r.target != toStyles {
		r.begin(word)
		return
	}
	switch word {
	case "fonttbl":
		r.target = toFonts
	case "stylesheet":
		r.target = toStyles
	case "listtext", "pntext":
		if r.target == toText {
			r.target, r.number = toNumber, ""
		}
	case "footnote":
		if r.target == toText {
			r.target = toNote
		}
	case "upr":
		r.target = toAlternative
	case "field":
		r.isField = true
	case "v", "deleted":
		r.hidden = !hasN || n != 0
	case "ansicpg":
		r.codePage, r.documentPage = n, n
	case "mac":
		r.codePage, r.documentPage = 10000, 10000
	case "pc":
		r.codePage, r.documentPage = 437, 437
	case "pca":
		r.codePage, r.documentPage = 850, 850
	case "uc":
		r.fallback = min(max(n, 0), 16)
	case "f":
		r.setFont(n)
	case "fcharset":
		if r.target == toFonts && len(r.fonts) < 10_000 {
			r.fonts[r.font] = fontCodePage(n)
		}
	case "plain":
		r.codePage, r.hidden = r.documentPage, false
	default:
		r.layout(word, n, hasN)
	}
}

func (r *rtf) setFont(n int) {
	r.font = n
	if r.target == toFonts {
		return
	}
	r.codePage = r.documentPage
	if page := r.fonts[n]; page != 0 && page != 1252 {
		r.codePage = page
	}
}

// begin begins a destination that is skipped, or one of those that are not.
func (r *rtf) begin(word string) {
	starred := r.starred
	r.starred = false
	switch {
	case word == "fldinst" && r.target == toText:
		r.target = toField
		r.field.Reset()
	case word == "footnote" && r.target == toText:
		r.target = toNote
	case word == "ud" && r.target == toAlternative:
		r.target = r.before(toAlternative)
	case starred && (word == "cs" || word == "ts") && r.target == toStyles, word == "shppict" && starred:
		r.target = toNowhere
	case word == "shptxt", word == "shpinst", word == "result", word == "fldrslt", word == "pnseclvl":
	default:
		r.target = toNowhere
	}
}

// before returns the destination outside the groups of d.
func (r *rtf) before(d destination) destination {
	for i := len(r.stack) - 1; i >= 0; i-- {
		if r.stack[i].target != d {
			return r.stack[i].target
		}
	}
	return toText
}

// unicode adds a character by its number, of which those above 32,767 are stored as negative.
func (r *rtf) unicode(n int) {
	r.flush()
	if n < 0 {
		n += 1 << 16
	}
	r.ignore = r.fallback
	c, high := rune(n), r.high
	switch {
	case utf16.IsSurrogate(c) && c < 0xDC00:
		r.high = c
	case utf16.IsSurrogate(c):
		if high != 0 {
			r.write(string(utf16.DecodeRune(high, c)))
		}
	case c >= 0xF000 && c < 0xF100: // a sign of a symbol font
		r.write("•")
	case c >= ' ' || c == '\t':
		r.write(string(c))
	}
}

// layout handles the words of paragraphs, tables and styles.
func (r *rtf) layout(word string, n int, hasN bool) {
	switch word {
	case "par", "sect", "page", "column":
		r.endParagraph()
	case "pard":
		r.heading, r.level, r.inTable, r.isCode = 0, 0, false, false
	case "s":
		if r.target == toStyles {
			r.style = n
			r.name.Reset()
		} else if style, ok := r.styles[n]; ok {
			r.heading, r.isCode = style.heading, style.code
		}
	case "outlinelevel":
		r.heading = outline(strconv.Itoa(n))
	case "ilvl":
		r.level = min(max(n, 0), 8)
	case "intbl":
		r.inTable = true
	case "trowd":
		r.edges, r.edge = r.edges[:0], gridEdge{}
	case "clmrg":
		r.edge.joins = true
	case "clvmrg":
		r.edge.continues = true
	case "cellx":
		r.edge.right = n
		if len(r.edges) < maxRowCells {
			r.edges = append(r.edges, r.edge)
		}
		r.edge = gridEdge{}
	case "cell":
		if r.target == toText {
			r.addCell(&r.grid, r.paragraph())
		}
	case "row":
		if r.target == toText {
			r.endGridRow(&r.grid, r.edges)
		}
	}
}

// paragraph returns the open paragraph with its notes, and begins the next.
func (r *rtf) paragraph() string {
	open, target := r.text.open, r.text.target
	r.text.end()
	text := strings.TrimSpace(r.text.String())
	if len(r.notes) > 0 {
		text += "\n" + strings.Join(r.notes, "\n")
	}
	if number := strings.TrimSpace(r.number); r.inTable && number != "" {
		text = itemMark(shownNumber(number)) + text
	}
	r.number, r.notes = "", nil
	if r.text.Reset(); open {
		r.text.begin(target)
	}
	return text
}

// shownNumber returns the number of a list item, "" for a bullet.
func shownNumber(number string) string {
	number = strings.TrimSpace(strings.Trim(number, "\t"))
	isSign := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }
	if strings.TrimFunc(number, isSign) == "" || number == "o" { // o is a bullet of Word
		return ""
	}
	return number
}

// endParagraph ends a paragraph of the document, of a note or of a cell.
func (r *rtf) endParagraph() {
	r.flush()
	switch {
	case r.target == toNote:
		r.write(" ")
	case r.target == toStyles, r.target != toText:
	case r.inTable: // of a cell, which continues
		r.write("\n")
	default:
		r.endGrid(&r.grid)
		number, heads := shownNumber(r.number), r.heading > 0
		isItem := strings.TrimSpace(r.number) != ""
		raw := r.text.String()
		text := r.paragraph()
		if !r.isCode {
			r.flushCode()
		}
		switch {
		case text == "" && !r.isCode:
		case r.isCode:
			r.addCode(raw)
		case heads:
			r.page.gap()
			head, notes, _ := strings.Cut(text, "\n[^f")
			r.add(heading, strings.Repeat("#", min(r.heading, 6))+" ", block.Line(number+" "+head))
			if notes != "" {
				r.add(paragraph, "", "[^f"+notes)
			}
		case isItem:
			r.add(item, strings.Repeat("  ", r.level)+itemMark(number), text)
		default:
			r.add(paragraph, "", text)
		}
	}
}
