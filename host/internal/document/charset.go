package document

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
	"golang.org/x/text/transform"
)

// Decode returns data as UTF-8 text with line ends \n and at most maxBytes bytes. It detects the
// encoding: by the byte order mark, then UTF-8, UTF-32 and UTF-16 without a mark, GB18030 (a
// superset of GBK), and else Windows-1252 (a superset of Latin-1). Control characters that do not
// occur in text files are dropped; data with more than a few of them is binary.
//
// Errors: [ErrFormat] for binary data, [ErrLimit].
func Decode(data []byte, maxBytes int) (string, error) {
	from, rest, err := encodingOf(data)
	if err != nil {
		return "", err
	}
	if from == nil && bytes.IndexByte(rest, '\r') < 0 {
		if len(rest) > maxBytes {
			return "", exceeded(LimitText, maxBytes, "bytes of text")
		}
		if firstControl(rest) < 0 {
			return string(rest), nil
		}
	}
	out := &decoded{maxBytes: maxBytes}
	out.text.Grow(min(len(rest), maxBytes))
	if from == nil {
		_, err = out.Write(rest)
	} else {
		_, err = io.CopyBuffer(out, transform.NewReader(bytes.NewReader(rest), from), make([]byte, 32<<10))
	}
	if err != nil {
		return "", err
	}
	if out.controls.binary() {
		return "", notText()
	}
	return out.text.String(), nil
}

// DecodeSource is like [Decode] but reads the bytes from s.
func DecodeSource(ctx context.Context, s Source, maxBytes int) (string, error) {
	data, unmap, err := s.bytes(ctx)
	if err != nil {
		return "", err
	}
	defer unmap()
	return Decode(data, maxBytes)
}

func notText() error {
	return fmt.Errorf("%w: %s can", ErrFormat, formats)
}

// decoded is a writer that collects text and normalizes line ends to \n.
type decoded struct {
	maxBytes int
	text     strings.Builder
	ended    bool // the previous piece ended with a carriage return
	controls controlCount
}

// Write appends a piece of UTF-8 text, which may end in the middle of a character.
func (d *decoded) Write(piece []byte) (int, error) {
	if len(piece) == 0 {
		return 0, nil
	}
	n := len(piece)
	piece = d.controls.drop(piece)
	for len(piece) > 0 {
		if d.ended && piece[0] == '\n' {
			piece, d.ended = piece[1:], false
			continue
		}
		line, rest, returns := bytes.Cut(piece, []byte{'\r'})
		if d.text.Len()+len(line) > d.maxBytes {
			return 0, exceeded(LimitText, d.maxBytes, "bytes of text")
		}
		d.text.Write(line)
		if returns {
			d.text.WriteByte('\n')
		}
		piece, d.ended = rest, returns
	}
	if d.text.Len() > d.maxBytes {
		return 0, exceeded(LimitText, d.maxBytes, "bytes of text")
	}
	return n, nil
}

// encodingOf returns the transformer that decodes data to UTF-8, or nil if it is UTF-8 already.
// rest is data without its byte order mark.
func encodingOf(data []byte) (from transform.Transformer, rest []byte, err error) {
	if from, rest, ok := marked(data); ok {
		return from, rest, nil
	}
	switch {
	case bytes.IndexByte(data, 0) >= 0:
		if little, found := unmarkedUTF32(data); found {
			return utf32From(little), data, nil
		}
		if little, found := unmarkedUTF16(data); found {
			return utf16From(little), data, nil
		}
		if !utf8.Valid(data) {
			return nil, nil, notText()
		}
		return nil, data, nil
	case utf8.Valid(data):
		return nil, data, nil
	case mostlyUTF8(data):
		return new(validUTF8), data, nil
	case mostlyChinese(data):
		return simplifiedchinese.GB18030.NewDecoder(), data, nil
	}
	return charmap.Windows1252.NewDecoder(), data, nil
}

// marked returns the encoding of data that begins with a byte order mark.
func marked(data []byte) (from transform.Transformer, rest []byte, ok bool) {
	switch {
	case bytes.HasPrefix(data, []byte("\xEF\xBB\xBF")):
		if rest = data[3:]; !utf8.Valid(rest) {
			from = new(validUTF8)
		}
		return from, rest, true
	case bytes.HasPrefix(data, []byte("\xFF\xFE\x00\x00")) && len(data)%4 == 0:
		return utf32From(true), data[4:], true
	case bytes.HasPrefix(data, []byte("\x00\x00\xFE\xFF")):
		return utf32From(false), data[4 : len(data)&^3], true
	case bytes.HasPrefix(data, []byte("\xFF\xFE")):
		return utf16From(true), even(data[2:]), true
	case bytes.HasPrefix(data, []byte("\xFE\xFF")):
		return utf16From(false), even(data[2:]), true
	}
	return nil, data, false
}

// even drops a trailing half of a UTF-16 code unit.
func even(data []byte) []byte { return data[:len(data)&^1] }

func utf16From(little bool) transform.Transformer {
	order := unicode.BigEndian
	if little {
		order = unicode.LittleEndian
	}
	return unicode.UTF16(order, unicode.IgnoreBOM).NewDecoder()
}

func utf32From(little bool) transform.Transformer {
	order := utf32.BigEndian
	if little {
		order = utf32.LittleEndian
	}
	return utf32.UTF32(order, utf32.IgnoreBOM).NewDecoder()
}

// unmarkedUTF32 detects UTF-32 by its units: each is a character, and most are Western.
func unmarkedUTF32(data []byte) (little, ok bool) {
	if len(data)%4 != 0 {
		return false, false
	}
	head := data[:min(len(data), 64<<10)&^3]
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		western := 0
		for i := 0; i < len(head); i += 4 {
			unit := order.Uint32(head[i:])
			if unit > utf8.MaxRune || !utf8.ValidRune(rune(unit)) || unit < 0x80 && isControl(rune(unit)) {
				western = -1
				break
			}
			if unit < 0x100 {
				western++
			}
		}
		if western > 0 && 8*western >= len(head) {
			return order == binary.LittleEndian, true
		}
	}
	return false, false
}

// validUTF8 replaces each run of invalid UTF-8 bytes by U+FFFD, as [strings.ToValidUTF8] does.
type validUTF8 struct{ bad bool } // the previous byte was not UTF-8

// Reset implements transform.Transformer.
func (v *validUTF8) Reset() { v.bad = false }

// Transform implements transform.Transformer.
func (v *validUTF8) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	for nSrc < len(src) {
		rest := src[nSrc:]
		if !atEOF && !utf8.FullRune(rest) {
			return nDst, nSrc, transform.ErrShortSrc
		}
		r, n := utf8.DecodeRune(rest)
		bad := r == utf8.RuneError && n == 1
		piece := rest[:n]
		switch {
		case bad && v.bad:
			piece = nil
		case bad:
			piece = []byte("\uFFFD")
		}
		if nDst+len(piece) > len(dst) {
			return nDst, nSrc, transform.ErrShortDst
		}
		nDst += copy(dst[nDst:], piece)
		nSrc += n
		v.bad = bad
	}
	return nDst, nSrc, nil
}

// unmarkedUTF16 detects UTF-16 by its zero bytes: in Western letters, digits and line ends every
// second byte is zero, always on the same side. At least half of the characters must be of that
// kind.
func unmarkedUTF16(data []byte) (little, ok bool) {
	if len(data)%2 != 0 {
		return false, false
	}
	var zeros [2]int
	head := data[:min(len(data), 64<<10)]
	for i, b := range head {
		if b == 0 {
			zeros[i%2]++
		}
	}
	little = zeros[1] > zeros[0]
	return little, min(zeros[0], zeros[1]) == 0 && 4*max(zeros[0], zeros[1]) >= len(head)
}

// mostlyUTF8 reports whether data is UTF-8 with few invalid bytes, such as a truncated file.
func mostlyUTF8(data []byte) bool {
	good, bad := 0, 0
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		switch {
		case r == utf8.RuneError && n == 1:
			bad++
		case n > 1:
			good++
		}
		data = data[n:]
	}
	return good > 8*bad
}

// mostlyChinese reports whether every byte above ASCII is part of a valid GB18030 pair and most
// pairs are common characters or full-width punctuation. Western text in Latin-1 meets neither
// condition.
func mostlyChinese(data []byte) bool {
	pairs, common := 0, 0
	for i := 0; i < len(data); {
		lead := data[i]
		if lead < 0x80 {
			i++
			continue
		}
		if lead == 0x80 || lead == 0xFF || i+1 == len(data) {
			return false
		}
		trail := data[i+1]
		switch {
		case trail >= '0' && trail <= '9': // a four-byte sequence
			if i+3 >= len(data) || data[i+2] < 0x81 || data[i+3] < '0' || data[i+3] > '9' {
				return false
			}
			i += 2
		case trail < 0x40, trail == 0x7F, trail == 0xFF:
			return false
		case trail >= 0xA1 && (lead >= 0xB0 && lead <= 0xD7 || lead >= 0xA1 && lead <= 0xA3):
			common++
		}
		pairs++
		i += 2
	}
	return 10*common >= 7*pairs
}

// isControl reports the control characters that do not occur in text files; terminal escapes do.
func isControl(r rune) bool {
	switch r {
	case '\t', '\n', '\v', '\f', '\r', '\b', '\x1B':
		return false
	}
	return r >= 0 && r < ' '
}

// firstControl returns the index of the first control character, or -1.
func firstControl(text []byte) int {
	for i, b := range text {
		if b < ' ' && isControl(rune(b)) {
			return i
		}
	}
	return -1
}

// controlCount drops control characters from a text and counts them.
type controlCount struct {
	total, controls int
	zero            bool // one of them was zero
}

// drop returns piece without its control characters. piece is not changed.
func (c *controlCount) drop(piece []byte) []byte {
	c.total += len(piece)
	at := firstControl(piece)
	if at < 0 {
		return piece
	}
	out := append(make([]byte, 0, len(piece)), piece[:at]...)
	for _, b := range piece[at:] {
		if !isControl(rune(b)) {
			out = append(out, b)
			continue
		}
		c.controls++
		c.zero = c.zero || b == 0
	}
	return out
}

// binary reports whether there are too many control characters for a text: more than one in a
// hundred bytes. A single one is damage, such as an end-of-file mark.
func (c *controlCount) binary() bool {
	return (c.controls > 1 || c.zero) && 100*c.controls > c.total
}

// decodeHTML returns the UTF-8 text of an HTML page. The byte order mark determines the encoding,
// else the declaration in the page, else [Decode]. Text is decoded as it is read.
//
// Errors: [ErrFormat], also from the reader.
func decodeHTML(data []byte) (io.Reader, error) {
	from, rest, ok := marked(data)
	if !ok && !utf8.Valid(data) { // valid UTF-8 that declares another encoding was converted later
		declared, name, _ := charset.DetermineEncoding(data[:min(len(data), 1024)], "")
		// DetermineEncoding also returns windows-1252 if the page declares no encoding.
		if from, ok = declared.NewDecoder(), name != "windows-1252" && name != "utf-8"; !ok {
			from = nil
		}
	}
	if !ok {
		var err error
		if from, rest, err = encodingOf(data); err != nil {
			return nil, err
		}
	}
	var in io.Reader = bytes.NewReader(rest)
	if from != nil {
		in = transform.NewReader(in, from)
	}
	return &controls{in: in}, nil
}

// controls is a reader that drops control characters and fails if there are too many.
type controls struct {
	in    io.Reader
	count controlCount
}

func (c *controls) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	n = copy(p, c.count.drop(p[:n]))
	if (err != nil || c.count.total >= 1024) && c.count.binary() {
		return 0, notText()
	}
	return n, err
}
