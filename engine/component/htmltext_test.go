package component

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHTMLText(t *testing.T) {
	for _, c := range []struct{ name, page, want string }{
		{"block elements become lines", "<h1>Title</h1><p>Body  of\n it</p>", "Title\nBody of\nit"},
		{"scripts and styles are skipped", "<style>x{}</style><SCRIPT>if (a < b) {}</Script >a", "a"},
		{"inline elements do not break a line", "a <b>bold</b><i>er</i> word", "a bolder word"},
		{"a > in an attribute", `<a title="x > y">link</a>`, "link"},
		{"comments and declarations are skipped", "<!doctype html><!-- <p>no</p> -->yes", "yes"},
		{"entities are decoded once", "&lt;b&gt; &amp;lt; &#65;&#x42; &nope; &", "<b> &lt; AB &nope; &"},
		{"a < that starts no tag is text", "1 < 2 <3", "1 < 2 <3"},
		{"an unclosed tag", "a<b", "a"},
		{"an unclosed script", "a<script>b", "a"},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, htmlText(c.page)) })
	}
}

func FuzzHTMLText(f *testing.F) {
	for _, s := range []string{"<p>a</p>", "<!--", "<script", "&#x110000;", "<a b='", "</", "&amp"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, page string) {
		if text := htmlText(page); strings.Contains(text, "\n\n") {
			t.Fatalf("empty line in %q", text)
		}
	})
}
