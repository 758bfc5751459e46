package document

import (
	"strconv"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
)

// codePage returns the encoding of a code page of Windows or DOS. Unknown ones are Windows-1252.
func codePage(n int) encoding.Encoding {
	switch n {
	case 437:
		return charmap.CodePage437
	case 850, 858:
		return charmap.CodePage858
	case 852:
		return charmap.CodePage852
	case 855:
		return charmap.CodePage855
	case 860:
		return charmap.CodePage860
	case 862:
		return charmap.CodePage862
	case 863:
		return charmap.CodePage863
	case 865:
		return charmap.CodePage865
	}
	label := map[int]string{
		866: "ibm866", 874: "windows-874", 932: "shift_jis", 936: "gbk", 949: "euc-kr", 950: "big5",
		10000: "macintosh", 10007: "x-mac-cyrillic", 20866: "koi8-r", 28591: "windows-1252", 54936: "gb18030",
		65001: "utf-8",
	}[n]
	if label == "" {
		label = "windows-" + strconv.Itoa(n)
	}
	if enc, _ := charset.Lookup(label); enc != nil {
		return enc
	}
	return charmap.Windows1252
}

// symbols is the code page of fonts of signs.
const symbols = 2

// fontCodePage returns the code page of a character set of fonts, 0 for the one of the document.
func fontCodePage(set int) int {
	return map[int]int{
		0: 1252, 2: symbols, 77: 10000, 128: 932, 129: 949, 134: 936, 136: 950, 161: 1253, 162: 1254, 163: 1258,
		177: 1255, 178: 1256, 186: 1257, 204: 1251, 222: 874, 238: 1250, 254: 437, 255: 850,
	}[set]
}

// decodeCodePage returns text of a code page as UTF-8.
func decodeCodePage(page int, text []byte) string {
	if page == symbols {
		out := make([]rune, len(text))
		for i, b := range text {
			if out[i] = rune(b); b >= 0x80 {
				out[i] = '•'
			}
		}
		return string(out)
	}
	ascii := true
	for _, b := range text {
		ascii = ascii && b < 0x80
	}
	if ascii {
		return string(text)
	}
	out, err := codePage(page).NewDecoder().Bytes(text)
	if err != nil {
		return string(text) // the decoders replace what is invalid
	}
	return string(out)
}
