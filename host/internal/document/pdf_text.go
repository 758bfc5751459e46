package document

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/tetratelabs/wazero/api"

	"github.com/easel-canvas/easel/host/internal/document/layout"
)

// pdf is a file inside the sandbox. Addresses and handles refer to the sandbox memory, which is
// released as a whole.
type pdf struct {
	ctx     context.Context
	limits  *Limits
	module  api.Module
	sandbox *sandbox
	ocr     OCR              // may be nil
	known   layout.Compounds // of the pages up to now
}

// call calls an exported function of pdfium that returns one 32-bit integer.
func (p *pdf) call(function string, args ...uint64) (int32, error) {
	f := p.module.ExportedFunction(function)
	if f == nil {
		return 0, fmt.Errorf("reader of PDF: there is no %s", function)
	}
	out, err := f.Call(p.ctx, args...)
	switch {
	case err == nil:
		return int32(out[0]), nil
	case p.ctx.Err() != nil:
		return 0, p.ctx.Err()
	case p.sandbox.full:
		return 0, p.outOfMemory()
	}
	return 0, fmt.Errorf("%w: %s of pdfium fails on it", ErrDamaged, function)
}

func (p *pdf) outOfMemory() error {
	return exceeded(LimitMemory, len(p.sandbox.room), "bytes of memory")
}

// alloc allocates n bytes in the sandbox.
func (p *pdf) alloc(n int) (int32, error) {
	at, err := p.call("malloc", uint64(n))
	if err == nil && at == 0 {
		err = p.outOfMemory()
	}
	return at, err
}

// read adds the file to out.
func (p *pdf) read(data []byte, out *page) error {
	if err := p.do("FPDF_InitLibrary"); err != nil {
		return err
	}
	document, err := p.load(data)
	if err != nil {
		return err
	}
	pages, err := p.call("FPDF_GetPageCount", uint64(uint32(document)))
	switch {
	case err != nil:
		return err
	case pages <= 0:
		return fmt.Errorf("%w: it has no pages", ErrDamaged)
	case int(pages) > p.limits.Pages:
		return exceeded(LimitPages, p.limits.Pages, "pages")
	}
	if out.drawn != nil {
		return p.drawFirst(document, out.drawn)
	}
	broken := 0
	if out.blocks != nil {
		broken, err = p.blocks(document, int(pages), out)
	} else {
		broken, err = p.text(document, pages, out)
	}
	switch {
	case err != nil:
		return err
	case out.added == 0 && broken > 0:
		return fmt.Errorf("%w: %d of %d pages cannot be read, and no other has text", ErrDamaged, broken, pages)
	case out.added == 0:
		return ErrNoText
	case broken > 0:
		out.add(paragraph, "", fmt.Sprintf("[%d of %d pages cannot be read]", broken, pages))
	}
	return out.err
}

// text adds the text of the pages to out and returns how many pages cannot be read.
func (p *pdf) text(document, pages int32, out *page) (broken int, err error) {
	for n := range pages {
		text, ok, err := p.page(document, n)
		if err != nil {
			return broken, err
		}
		if !ok {
			broken++
		}
		if out.add(paragraph, "", text); out.err != nil {
			break
		}
	}
	return broken, nil
}

// load copies the file into the sandbox and opens it.
func (p *pdf) load(data []byte) (int32, error) {
	at, err := p.alloc(len(data))
	if err != nil {
		return 0, err
	}
	if !p.module.Memory().Write(uint32(at), data) {
		return 0, p.outOfMemory()
	}
	document, err := p.call("FPDF_LoadMemDocument", uint64(uint32(at)), uint64(len(data)), 0)
	if err != nil || document != 0 {
		return document, err
	}
	code, err := p.call("FPDF_GetLastError")
	const password, security = 4, 5 // FPDF_ERR_PASSWORD, FPDF_ERR_SECURITY
	switch {
	case err != nil:
		return 0, err
	case code == password, code == security:
		return 0, ErrEncrypted
	}
	return 0, fmt.Errorf("%w: it is not a PDF, or its end is missing", ErrDamaged)
}

// page returns the text of page n; ok is false if the page is malformed.
func (p *pdf) page(document, n int32) (text string, ok bool, err error) {
	page, err := p.call("FPDF_LoadPage", uint64(uint32(document)), uint64(n))
	if err != nil || page == 0 {
		return "", false, err
	}
	runes, err := p.call("FPDFText_LoadPage", uint64(uint32(page)))
	if err != nil || runes == 0 {
		return "", false, err
	}
	text, ok, err = p.runes(runes)
	if err != nil {
		return "", false, err
	}
	if err := p.free("FPDFText_ClosePage", runes); err != nil {
		return "", false, err
	}
	return text, ok, p.free("FPDF_ClosePage", page)
}

// do calls an exported function without a result.
func (p *pdf) do(function string, args ...uint64) error {
	f := p.module.ExportedFunction(function)
	if f == nil {
		return fmt.Errorf("reader of PDF: there is no %s", function)
	}
	_, err := f.Call(p.ctx, args...)
	switch {
	case err == nil, p.ctx.Err() != nil:
		return err
	case p.sandbox.full:
		return p.outOfMemory()
	}
	return fmt.Errorf("%w: %s of pdfium fails on it", ErrDamaged, function)
}

// free releases a handle.
func (p *pdf) free(function string, handle int32) error {
	return p.do(function, uint64(uint32(handle)))
}

func (p *pdf) runes(page int32) (string, bool, error) {
	count, err := p.call("FPDFText_CountChars", uint64(uint32(page)))
	switch {
	case err != nil || count < 0:
		return "", false, err
	case count == 0:
		return "", true, nil
	case int(count) > p.limits.Block:
		return "", false, exceeded(LimitBlock, p.limits.Block, "characters on one page")
	}
	size := 2 * (int(count) + 1) // UTF-16 with a terminating zero
	at, err := p.alloc(size)
	if err != nil {
		return "", false, err
	}
	written, err := p.call("FPDFText_GetText", uint64(uint32(page)), 0, uint64(count), uint64(uint32(at)))
	if err != nil || written <= 0 || int(written) > int(count)+1 {
		return "", false, err
	}
	data, ok := p.module.Memory().Read(uint32(at), uint32(2*written))
	if !ok {
		return "", false, nil
	}
	text := p.lines(utf16Text(data))
	return text, true, p.free("free", at)
}

// utf16Text converts little-endian UTF-16 to UTF-8.
func utf16Text(data []byte) string {
	var b strings.Builder
	b.Grow(len(data) / 2)
	for i := 0; i+1 < len(data); i += 2 {
		r := rune(data[i]) | rune(data[i+1])<<8
		if utf16.IsSurrogate(r) {
			second := rune(unicode.ReplacementChar)
			if i+3 < len(data) {
				second = rune(data[i+2]) | rune(data[i+3])<<8
			}
			if r = utf16.DecodeRune(r, second); r != unicode.ReplacementChar {
				i += 2
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}

func isLineEnd(r rune) bool { return r == '\n' || r == 2 }

var lineEnds = strings.NewReplacer("\x00", "", "\r\n", "\n", "\r", "\n", "\uFFFE", "\x02")

// lines normalizes the text of a page. pdfium marks a hyphen at the end of a line with U+0002 or
// U+FFFE and joins the next line to it, but leaves U+2010 unchanged.
func (p *pdf) lines(text string) string {
	text = strings.ReplaceAll(lineEnds.Replace(text), "\x02\n", "\x02")
	for line := range strings.FieldsFuncSeq(text, isLineEnd) {
		p.known.Add(line)
	}
	var b strings.Builder
	for len(text) > 0 {
		line, rest := text, ""
		marked, end := false, strings.IndexAny(text, "\n\x02")
		if end >= 0 {
			line, rest, marked = text[:end], text[end+1:], text[end] == 2
		}
		if text = rest; marked {
			line += "-"
		}
		line = strings.TrimRight(line, " \t")
		switch drop, glue := layout.LineEnd(line, rest, &p.known); {
		case drop > 0:
			b.WriteString(line[:len(line)-drop])
		case marked:
			b.WriteString(line + glue)
		default:
			b.WriteString(line + "\n")
		}
	}
	return strings.TrimSpace(b.String())
}
