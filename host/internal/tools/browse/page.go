package browse

import (
	"fmt"
	"io"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Page is a web page as a model reads it.
type Page struct {
	URL    string
	Status int // of HTTP; 0 when it is not known
	Title  string
	Text   string   // of the content; a link is followed by its number in brackets
	Links  []string // addresses by number, from 1
	Forms  []Form   // by number, from 1
}

// readPage reads HTML, or text of any other kind unchanged.
func readPage(base *url.URL, from io.Reader, kind string) (*Page, error) {
	page := &Page{URL: base.String()}
	if kind != "" && !strings.Contains(kind, "html") {
		text, err := io.ReadAll(from)
		page.Text = cut(string(text))
		return page, err
	}
	doc, err := html.Parse(from)
	if err != nil {
		return nil, err
	}
	if title := find(doc, func(n *html.Node) bool { return n.DataAtom == atom.Title }); title != nil {
		page.Title = strings.Join(strings.Fields(textOf(title)), " ")
	}
	if element := find(doc, func(n *html.Node) bool { return n.DataAtom == atom.Base }); element != nil {
		if u, err := base.Parse(attribute(element, "href")); err == nil {
			base = u
		}
	}
	page.Forms = readForms(doc, base)
	w := &textWriter{page: page, base: base, numbers: map[string]int{}}
	w.write(content(doc))
	page.Text = cut(strings.TrimSpace(w.out.String()))
	return page, nil
}

// cut bounds the text of a page.
func cut(text string) string {
	if runes := []rune(text); len(runes) > longestText {
		return string(runes[:longestText]) + fmt.Sprintf("\n(%d more characters)", len(runes)-longestText)
	}
	return text
}

// leastContent is the minimum text, in bytes, of an element that counts as the content of a page.
const leastContent = 200

// content returns the element with the content of a page: main or article, or else all of it.
func content(doc *html.Node) *html.Node {
	main := find(doc, func(n *html.Node) bool {
		return (n.DataAtom == atom.Main || n.DataAtom == atom.Article || attribute(n, "role") == "main") &&
			len(textOf(n)) >= leastContent
	})
	if main != nil {
		return main
	}
	if body := find(doc, func(n *html.Node) bool { return n.DataAtom == atom.Body }); body != nil {
		return body
	}
	return doc
}

// find returns the first element for which is holds. The parser bounds how deep elements are
// nested.
func find(n *html.Node, is func(*html.Node) bool) *html.Node {
	if n.Type == html.ElementNode && is(n) {
		return n
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if found := find(c, is); found != nil {
			return found
		}
	}
	return nil
}

func textOf(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	if skipped[n.DataAtom] {
		return ""
	}
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		b.WriteString(textOf(c))
	}
	return b.String()
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// skipped are elements that are not content.
var skipped = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Noscript: true, atom.Template: true, atom.Svg: true, atom.Iframe: true,
	atom.Object: true, atom.Head: true, atom.Nav: true, atom.Footer: true, atom.Aside: true, atom.Select: true,
}

// blocks are elements that begin on a new line.
var blocks = map[atom.Atom]string{
	atom.P: "\n\n", atom.Div: "\n", atom.Section: "\n", atom.Article: "\n", atom.Table: "\n\n", atom.Tr: "\n",
	atom.Ul: "\n", atom.Ol: "\n", atom.Li: "\n- ", atom.Br: "\n", atom.Hr: "\n", atom.Pre: "\n\n",
	atom.Blockquote: "\n\n> ", atom.H1: "\n\n# ", atom.H2: "\n\n## ", atom.H3: "\n\n### ", atom.H4: "\n\n#### ",
	atom.H5: "\n\n##### ", atom.H6: "\n\n###### ", atom.Dt: "\n", atom.Dd: "\n  ", atom.Figure: "\n", atom.Header: "\n",
}

// textWriter writes the text of a page.
type textWriter struct {
	page    *Page
	base    *url.URL
	numbers map[string]int // of links
	out     strings.Builder
}

func (w *textWriter) write(n *html.Node) {
	switch {
	case n.Type == html.TextNode:
		w.words(n.Data)
		return
	case skipped[n.DataAtom] || isHidden(n):
		return
	}
	w.out.WriteString(blocks[n.DataAtom])
	if n.DataAtom == atom.Td || n.DataAtom == atom.Th {
		w.out.WriteString("| ")
	}
	if n.DataAtom == atom.Img && attribute(n, "alt") != "" {
		w.words(" (picture: " + attribute(n, "alt") + ") ")
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		w.write(c)
	}
	if n.DataAtom == atom.A {
		w.link(attribute(n, "href"))
	}
	if before := blocks[n.DataAtom]; before != "" && n.DataAtom != atom.Br {
		w.out.WriteString("\n")
	}
}

func isHidden(n *html.Node) bool {
	for _, a := range n.Attr {
		if a.Key == "hidden" || a.Key == "aria-hidden" && a.Val == "true" {
			return true
		}
	}
	return false
}

// words writes text with single blanks.
func (w *textWriter) words(text string) {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return
	}
	if last := w.out.String(); last != "" && !strings.HasSuffix(last, "\n") && !strings.HasSuffix(last, " ") &&
		strings.TrimLeft(text, " \t\r\n") != text {
		w.out.WriteString(" ")
	}
	w.out.WriteString(strings.Join(fields, " "))
	if strings.TrimRight(text, " \t\r\n") != text {
		w.out.WriteString(" ")
	}
}

// link writes the number of an address.
func (w *textWriter) link(href string) {
	u, err := w.base.Parse(strings.TrimSpace(href))
	if href == "" || err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return
	}
	u.Fragment = ""
	address := u.String()
	number, known := w.numbers[address]
	if !known {
		if len(w.page.Links) == mostLinks {
			return
		}
		w.page.Links = append(w.page.Links, address)
		number = len(w.page.Links)
		w.numbers[address] = number
	}
	fmt.Fprintf(&w.out, " [%d]", number)
}
