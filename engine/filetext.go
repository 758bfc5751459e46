package engine

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
)

// FileText returns the JSON of a file as UTF-8. Editors and shells of Windows write a byte order
// mark or UTF-16, and Python writes NaN and Infinity, which JSON lacks: outside of strings they
// become null. Other data is returned as it is, also what is not JSON.
func FileText(data []byte) []byte {
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		data = data[3:]
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		data = fromUTF16(data[2:], binary.LittleEndian)
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		data = fromUTF16(data[2:], binary.BigEndian)
	}
	if !bytes.Contains(data, []byte("NaN")) && !bytes.Contains(data, []byte("Infinity")) {
		return data
	}
	return withoutNaN(data)
}

func fromUTF16(data []byte, order binary.ByteOrder) []byte {
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = order.Uint16(data[2*i:])
	}
	return []byte(string(utf16.Decode(units)))
}

// notNumbers are the words for numbers that JSON lacks.
var notNumbers = []string{"NaN", "-Infinity", "Infinity"}

// withoutNaN replaces the words of notNumbers outside of strings.
func withoutNaN(data []byte) []byte {
	out := make([]byte, 0, len(data))
	inside := false
scan:
	for i := 0; i < len(data); i++ {
		c := data[i]
		switch {
		case inside && c == '\\' && i+1 < len(data):
			out = append(out, c)
			i++
			c = data[i]
		case c == '"':
			inside = !inside
		case !inside && (c == 'N' || c == '-' || c == 'I'):
			for _, word := range notNumbers {
				if bytes.HasPrefix(data[i:], []byte(word)) {
					out = append(out, "null"...)
					i += len(word) - 1
					continue scan
				}
			}
		}
		out = append(out, c)
	}
	return out
}
