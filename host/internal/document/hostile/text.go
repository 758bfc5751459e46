package hostile

import (
	"bytes"
	"strings"
)

// repeated returns a file of head and repeated unit.
func repeated(name, head, unit string, times int) File {
	return File{name, func() []byte {
		return append([]byte(head), bytes.Repeat([]byte(unit), times)...)
	}}
}

// texts returns files that are read as plain text.
func texts() []File {
	return []File{
		repeated("commas.csv", "a,b\n", ",", 15*mega),
		repeated("one-line.csv", "a,b\n", "x", 60*mega),
		repeated("open-quote.csv", "a,b\n\"", "x\n", 30*mega),
		repeated("quotes.csv", "a,b\n", "\"\n", 30*mega),
		repeated("long-head.csv", strings.Repeat("x", mega)+"\n", "y\n", 7*mega),
		repeated("numbers.json", "[", "0,", 30*mega),
		repeated("deep.json", "", "[", 60*mega),
		repeated("long-key.json", `{"`+strings.Repeat("k", mega)+`":[`, "1,", 7*mega),
		repeated("long-heading.md", "# "+strings.Repeat("x", 64<<10)+"\n\n", strings.Repeat("y ", 400)+"\n\n", 10_000),
		repeated("latin1.txt", "", "\xe9 \x93\x94", 15*mega),
		repeated("utf16.txt", "\xff\xfe", "\x00\x4e", 30*mega),
		repeated("unmarked-utf16.txt", "", "a\x00", 30*mega),
		repeated("gb18030.txt", "", "\xcd\xcb\xbb\xf5", 15*mega),
		repeated("broken-utf8.txt", "\xef\xbb\xbf", "\xff", 60*mega),
		repeated("returns.txt", "", "\r", 60*mega),
	}
}

// pages returns HTML files.
func pages() []File {
	return []File{
		repeated("nested.html", "", "<div><ul><table><tr><td>", 2*mega),
		repeated("one-attribute.html", `<p a="`, "x", 60*mega),
		repeated("attributes.html", `<p`, " a=b", 15*mega),
		repeated("one-text.html", `<p>`, "x", 60*mega),
		repeated("open-comment.html", `<!--`, "x", 60*mega),
		repeated("tags.html", ``, "<b>x", 15*mega),
		repeated("cells.html", "<table><tr>", "<td>", 15*mega),
		repeated("latin1.html", "<meta charset=shift_jis>", "\xb1", 60*mega),
		repeated("preformatted.html", "<pre>", "x\n", 30*mega),
		repeated("entities.html", "<p>", "&amp;", 12*mega),
	}
}
