package write

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"strings"
)

const (
	pageHead = `<!doctype html>
<html>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
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

// html returns a self-contained page: it makes no request when it is opened.
func html(markdown string, logo *Logo) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(pageHead)
	if logo != nil {
		width, height := logo.size()
		fmt.Fprintf(&b, `<p style="text-align:%s"><img alt="" style="width:%.0fpt;height:%.0fpt" `+
			`src="data:image/png;base64,%s"></p>`+"\n",
			cmp.Or(logo.Align, "left"), width, height, base64.StdEncoding.EncodeToString(logo.png))
	}
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
