package write

import (
	"bytes"
	"strings"
)

const (
	pageHead = `<!doctype html>
<html>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<style>
body { max-width: 46em; margin: 2em auto; padding: 0 1em; font: 16px/1.5 system-ui, sans-serif }
table { border-collapse: collapse } th, td { border: 1px solid #bbb; padding: .3em .6em; text-align: left }
pre { overflow: auto; padding: .8em; background: #f4f4f4 } blockquote { margin-left: 0; padding-left: 1em; border-left: 3px solid #ccc }
</style>
</head>
<body>
`
	pageFoot = "</body>\n</html>\n"
)

// html returns a page that needs nothing else.
func html(markdown string) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(pageHead)
	if err := reader.Convert([]byte(strings.ToValidUTF8(markdown, "\uFFFD")), &b); err != nil {
		return nil, err
	}
	b.WriteString(pageFoot)
	return bytes.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' {
			return -1 // no page may have these
		}
		return r
	}, b.Bytes()), nil
}
