package component

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// htmlText returns the text of a web page: without markup, scripts and styles, one line per block.
// It accepts any bytes; everything that is not a tag is text.
func htmlText(page string) string {
	var b strings.Builder
	for page != "" {
		i := strings.IndexByte(page, '<')
		if i < 0 {
			b.WriteString(page)
			break
		}
		b.WriteString(page[:i])
		page = page[i:]
		name, rest, ok := htmlTag(page)
		if !ok {
			b.WriteByte('<')
			page = page[1:]
			continue
		}
		page = rest
		switch name {
		case "script", "style", "head", "noscript", "template", "svg", "iframe", "textarea":
			page = afterElement(page, name)
		}
		if !inlineTags[strings.TrimPrefix(name, "/")] {
			b.WriteByte('\n')
		}
	}
	return tidy(entities(b.String()))
}

// inlineTags do not start a new line.
var inlineTags = map[string]bool{
	"a": true, "abbr": true, "b": true, "bdi": true, "cite": true, "code": true, "em": true, "font": true, "i": true,
	"kbd": true, "label": true, "mark": true, "q": true, "s": true, "small": true, "span": true, "strong": true,
	"sub": true, "sup": true, "time": true, "u": true, "var": true, "wbr": true, "!": true,
}

// htmlTag reads the tag at the start of s: its name in lower case, with a leading slash for a
// closing tag. Comments and declarations have the name "!".
func htmlTag(s string) (name, rest string, ok bool) {
	if strings.HasPrefix(s, "<!--") {
		_, rest, _ := strings.Cut(s[4:], "-->")
		return "!", rest, true
	}
	if strings.HasPrefix(s, "<!") || strings.HasPrefix(s, "<?") {
		_, rest, _ := strings.Cut(s, ">")
		return "!", rest, true
	}
	i := 1
	if strings.HasPrefix(s[1:], "/") {
		i++
	}
	if i >= len(s) || !isLetter(s[i]) {
		return "", s, false
	}
	end := i
	for end < len(s) && (isLetter(s[end]) || s[end] >= '0' && s[end] <= '9') {
		end++
	}
	name = strings.ToLower(s[1:end])
	quote := byte(0)
	for ; end < len(s); end++ {
		switch c := s[end]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return name, s[end+1:], true
		}
	}
	return name, "", true
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// afterElement returns the rest of s after the end of an element without text content.
func afterElement(s, name string) string {
	i := indexFold(s, "</"+name)
	if i < 0 {
		return ""
	}
	_, rest, _ := strings.Cut(s[i:], ">")
	return rest
}

// namedEntities are common in running text; others stay as written.
const namedEntities = `;amp=&;lt=<;gt=>;quot=";apos=';nbsp= ;ensp= ;emsp= ;thinsp= ;copy=©;reg=®;trade=™;` +
	"hellip=…;ndash=–;mdash=—;lsquo=‘;rsquo=’;ldquo=“;rdquo=”;laquo=«;raquo=»;bull=•;" +
	"middot=·;deg=°;euro=€;pound=£;yen=¥;cent=¢;sect=§;times=×;divide=÷;plusmn=±;frac12=½;" +
	"auml=ä;ouml=ö;uuml=ü;Auml=Ä;Ouml=Ö;Uuml=Ü;szlig=ß;eacute=é;egrave=è;ecirc=ê;agrave=à;" +
	"aacute=á;acirc=â;ccedil=ç;ntilde=ñ;iacute=í;oacute=ó;ocirc=ô;uacute=ú;aring=å;aelig=æ;" +
	"oslash=ø;larr=←;rarr=→;shy=;zwj=;zwnj=;"

// entities replaces &name; &#12; and &#x1f; in one pass.
func entities(s string) string {
	if !strings.Contains(s, "&") {
		return s
	}
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '&')
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = s[i:]
		end := strings.IndexByte(s[:min(len(s), 12)], ';')
		if text, ok := entity(s, end); ok {
			b.WriteString(text)
			s = s[end+1:]
			continue
		}
		b.WriteByte('&')
		s = s[1:]
	}
}

func entity(s string, end int) (string, bool) {
	if end < 2 {
		return "", false
	}
	name := s[1:end]
	if name[0] != '#' {
		_, rest, ok := strings.Cut(namedEntities, ";"+name+"=")
		text, _, _ := strings.Cut(rest, ";")
		return text, ok
	}
	digits, base := name[1:], 10
	if len(digits) > 0 && (digits[0] == 'x' || digits[0] == 'X') {
		digits, base = digits[1:], 16
	}
	n, err := strconv.ParseInt(digits, base, 32)
	if err != nil || n <= 0 || !utf8.ValidRune(rune(n)) {
		return "", false
	}
	return string(rune(n)), true
}

// tidy collapses spaces inside lines and drops empty lines. It avoids strings.Fields, whose result
// takes many times the size of the text.
func tidy(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		begun := false
		for word := range strings.FieldsSeq(line) {
			switch {
			case begun:
				b.WriteByte(' ')
			case b.Len() > 0:
				b.WriteByte('\n')
			}
			b.WriteString(word)
			begun = true
		}
	}
	return b.String()
}
