package plugin

import (
	"bytes"
	"mime"
	"regexp"
	"strings"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
)

// asUTF8 converts the text of a response to UTF-8, by the charset of its Content-Type or, in HTML
// and XML without one, by the declaration in the text. A response that is not text, or has an
// unknown charset, is left unchanged.
func (f *fetched) asUTF8() {
	const header = "Content-Type"
	kind, params, err := mime.ParseMediaType(f.Headers[header])
	if err != nil || !isTextType(kind) {
		return
	}
	from, name := encodingOf(kind, params["charset"], f.body)
	if from == nil || name == "utf-8" {
		return
	}
	text, err := from.NewDecoder().Bytes(f.body)
	if err != nil {
		return // readers of the text report the error
	}
	f.body = bytes.TrimPrefix(text, []byte("\uFEFF"))
	f.Headers[header] = kind + "; charset=utf-8"
}

// isTextType reports whether a media type means text with a charset.
func isTextType(kind string) bool {
	for _, part := range []string{"text/", "json", "xml", "html", "javascript", "x-www-form-urlencoded"} {
		if strings.Contains(kind, part) {
			return true
		}
	}
	return false
}

// declared finds the encoding that an XML text names in its first line.
var declared = regexp.MustCompile(`^\s*<\?xml[^>]{0,200}encoding=["']([A-Za-z0-9._:-]{1,40})["']`)

func encodingOf(kind, label string, body []byte) (encoding.Encoding, string) {
	if label == "" && strings.Contains(kind, "xml") {
		if found := declared.FindSubmatch(body); found != nil {
			label = string(found[1])
		}
	}
	if label == "" && strings.Contains(kind, "html") {
		from, name, _ := charset.DetermineEncoding(body, kind)
		return from, name
	}
	return charset.Lookup(label)
}
