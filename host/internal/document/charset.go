package document

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// Decode is the text of bytes in the encoding they seem to have: that of their mark, UTF-8, UTF-16 without a mark,
// GB18030 (and so GBK), or Windows-1252 (and so Latin-1). Line ends become \n.
//
// Errors: [ErrFormat] for what no text editor would show.
func Decode(data []byte) (string, error) {
	text, ok := decodeMarked(data)
	switch {
	case ok:
	case bytes.IndexByte(data, 0) >= 0:
		little, found := unmarkedUTF16(data)
		if !found {
			return "", notText()
		}
		text = utf16Text(data, little)
	case utf8.Valid(data):
		text = string(data)
	default:
		legacy, err := decodeLegacy(data)
		if err != nil {
			return "", err
		}
		text = legacy
	}
	if hasControls(text) {
		return "", notText()
	}
	return lines(text), nil
}

func notText() error {
	return fmt.Errorf("%w: txt, md, html, csv, json, pdf, docx, xlsx and pptx can", ErrFormat)
}

func lines(text string) string {
	if !strings.Contains(text, "\r") {
		return text
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}

// decodeMarked reads what begins with a byte order mark.
func decodeMarked(data []byte) (string, bool) {
	switch {
	case bytes.HasPrefix(data, []byte("\xEF\xBB\xBF")):
		return strings.ToValidUTF8(string(data[3:]), "\uFFFD"), true
	case bytes.HasPrefix(data, []byte("\xFF\xFE")):
		return utf16Text(data[2:], true), true
	case bytes.HasPrefix(data, []byte("\xFE\xFF")):
		return utf16Text(data[2:], false), true
	}
	return "", false
}

func utf16Text(data []byte, little bool) string {
	high, low := 0, 1
	if little {
		high, low = 1, 0
	}
	units := make([]uint16, 0, len(data)/2)
	for i := 0; i+1 < len(data); i += 2 {
		units = append(units, uint16(data[i+high])<<8|uint16(data[i+low]))
	}
	return string(utf16.Decode(units))
}

// unmarkedUTF16 tells UTF-16 by its zero bytes: Western letters, digits and line ends have theirs at every second
// place, always on the same side. At least half of the text must be such.
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

// decodeLegacy reads bytes that are no valid UTF-8 and have no mark.
func decodeLegacy(data []byte) (string, error) {
	var from encoding.Encoding = charmap.Windows1252
	switch {
	case mostlyUTF8(data):
		return strings.ToValidUTF8(string(data), "\uFFFD"), nil
	case mostlyChinese(data):
		from = simplifiedchinese.GB18030
	}
	text, err := from.NewDecoder().Bytes(data)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return string(text), nil
}

// mostlyUTF8 holds for UTF-8 that was damaged here and there, as at a cut.
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

// mostlyChinese holds when every byte above ASCII is part of a pair as GB18030 has them, and most pairs are common
// characters or full-width marks. Western text in Latin-1 has neither.
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
		case trail >= '0' && trail <= '9': // four bytes
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

// hasControls finds characters that no text has. The end mark of DOS and the escapes of terminals pass.
func hasControls(text string) bool {
	text = strings.TrimSuffix(text, "\x1A")
	return strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' && !strings.ContainsRune("\t\n\v\f\r\b\x1B", r)
	})
}

// decodeHTML believes a mark or what the page says about itself, and otherwise reads as [Decode] does.
func decodeHTML(data []byte) (string, error) {
	if _, marked := decodeMarked(data); marked {
		return Decode(data)
	}
	if utf8.Valid(data) {
		return Decode(data) // a page that says otherwise was saved anew
	}
	declared, name, _ := charset.DetermineEncoding(data[:min(len(data), 1024)], "")
	if name == "windows-1252" || name == "utf-8" {
		return Decode(data) // the first is also said when nothing is known
	}
	text, err := declared.NewDecoder().Bytes(data)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if hasControls(string(text)) {
		return "", notText()
	}
	return lines(string(text)), nil
}
