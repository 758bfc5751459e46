package document

import (
	"context"
	"fmt"
	"strings"

	"github.com/klippa-app/go-pdfium"
	"github.com/tetratelabs/wazero/api"
)

// pdf is a file inside the sandbox. Addresses and handles are those of its memory; nothing in it is freed, as it goes
// away with the file.
type pdf struct {
	ctx    context.Context
	limits *Limits
	module api.Module
}

func newPDF(ctx context.Context, limits *Limits, instance pdfium.Pdfium) (*pdf, error) {
	m, err := moduleOf(instance)
	return &pdf{ctx: ctx, limits: limits, module: m}, err
}

// call calls a function of pdfium. All that are used here give one 32-bit number.
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
	case int(p.module.Memory().Size()) > p.limits.Memory/10*9:
		return 0, tooMuch("bytes of memory", p.limits.Memory)
	}
	return 0, fmt.Errorf("%w: %s of pdfium fails on it", ErrDamaged, function)
}

// alloc is room for n bytes.
func (p *pdf) alloc(n int) (int32, error) {
	at, err := p.call("malloc", uint64(n))
	if err == nil && at == 0 {
		err = tooMuch("bytes of memory", p.limits.Memory)
	}
	return at, err
}

func (p *pdf) text(data []byte) (string, error) {
	document, err := p.load(data)
	if err != nil {
		return "", err
	}
	pages, err := p.call("FPDF_GetPageCount", uint64(uint32(document)))
	switch {
	case err != nil:
		return "", err
	case pages <= 0:
		return "", fmt.Errorf("%w: it has no pages", ErrDamaged)
	case int(pages) > p.limits.Pages:
		return "", tooMuch("pages", p.limits.Pages)
	}
	out, broken := &page{most: p.limits.Text}, 0
	for n := range pages {
		text, ok, err := p.page(document, n)
		if err != nil {
			return "", err
		}
		if !ok {
			broken++
		}
		if out.add(paragraph, text); out.over {
			break
		}
	}
	switch {
	case out.last == noBlock && broken > 0:
		return "", fmt.Errorf("%w: %d of %d pages cannot be read, and no other has text", ErrDamaged, broken, pages)
	case out.last == noBlock:
		return "", ErrNoText
	case broken > 0:
		out.add(paragraph, fmt.Sprintf("[%d of %d pages cannot be read]", broken, pages))
	}
	return out.result()
}

// load opens the file that it copies into the sandbox.
func (p *pdf) load(data []byte) (int32, error) {
	at, err := p.alloc(len(data))
	if err != nil {
		return 0, err
	}
	if !p.module.Memory().Write(uint32(at), data) {
		return 0, tooMuch("bytes of memory", p.limits.Memory)
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
	return 0, fmt.Errorf("%w: it is no PDF, or its end is missing", ErrDamaged)
}

// page is the text of a page; ok is false when the page is broken.
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

// free calls a function that gives nothing.
func (p *pdf) free(function string, handle int32) error {
	_, err := p.module.ExportedFunction(function).Call(p.ctx, uint64(uint32(handle)))
	if err != nil && p.ctx.Err() == nil {
		err = fmt.Errorf("%w: %s of pdfium fails on it", ErrDamaged, function)
	}
	return err
}

func (p *pdf) runes(page int32) (string, bool, error) {
	count, err := p.call("FPDFText_CountChars", uint64(uint32(page)))
	switch {
	case err != nil || count < 0:
		return "", false, err
	case count == 0:
		return "", true, nil
	case int(count) > p.limits.Text:
		return "", false, tooMuch("bytes of text", p.limits.Text)
	}
	size := 2 * (int(count) + 1) // UTF-16 with a zero at the end
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
	text := pdfLines(utf16Text(data, true))
	return text, true, p.free("free", at)
}

// pdfLines cleans the text of a page. pdfium puts U+0002 or U+FFFE where a word is divided at the end of a line.
func pdfLines(text string) string {
	text = lines(strings.ReplaceAll(text, "\x00", ""))
	for _, mark := range []string{"\x02", "\uFFFE"} {
		text = strings.ReplaceAll(strings.ReplaceAll(text, mark+"\n", ""), mark, "")
	}
	all := strings.Split(text, "\n")
	for i, line := range all {
		all[i] = strings.TrimRight(line, " \t")
	}
	return strings.TrimSpace(strings.Join(all, "\n"))
}
