package write

import (
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// linkSchemes are the schemes of addresses that a file may link to. Others start programs on the
// reader's machine, read its files, or run scripts, and an address without a scheme would be looked
// up next to the file.
var linkSchemes = []string{"http", "https", "mailto", "tel"}

// linkable returns an address that a file may link to, "" for any other. All writers use it.
func linkable(address string) string {
	scheme, rest, ok := strings.Cut(address, ":")
	if !ok || rest == "" || !slices.Contains(linkSchemes, strings.ToLower(scheme)) {
		return ""
	}
	return address
}

// inlinePictures begin the addresses of pictures that are part of the text.
var inlinePictures = []string{"data:image/png;", "data:image/jpeg;", "data:image/gif;", "data:image/webp;"}

// standalone renders links and pictures for a page that is opened from a disk: it makes no request
// until its reader follows a link. Pictures of other hosts are replaced by their description.
type standalone struct{}

// RegisterFuncs implements [renderer.NodeRenderer].
func (s standalone) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindLink, s.link)
	r.Register(ast.KindAutoLink, s.autoLink)
	r.Register(ast.KindImage, s.image)
}

func (standalone) link(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	n := node.(*ast.Link)
	if address := linkable(string(util.URLEscape(n.Destination, true))); address == "" {
		return ast.WalkContinue, nil
	} else if !entering {
		_, _ = w.WriteString("</a>") // the flush returns its error
	} else {
		openLink(w, address)
	}
	return ast.WalkContinue, nil
}

func (standalone) autoLink(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	n := node.(*ast.AutoLink)
	if !entering {
		return ast.WalkContinue, nil
	}
	address := linkable(string(util.URLEscape(n.URL(source), false)))
	if address != "" {
		openLink(w, address)
	}
	_, _ = w.Write(util.EscapeHTML(n.Label(source)))
	if address != "" {
		_, _ = w.WriteString("</a>")
	}
	return ast.WalkContinue, nil
}

// openLink begins a link that does not send the page's address, a path on the reader's disk.
func openLink(w util.BufWriter, address string) {
	_, _ = w.WriteString(`<a rel="noopener noreferrer" href="`)
	_, _ = w.Write(util.EscapeHTML([]byte(address)))
	_, _ = w.WriteString(`">`)
}

func (standalone) image(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	address := string(node.(*ast.Image).Destination)
	inline := func(prefix string) bool { return strings.HasPrefix(strings.ToLower(address), prefix) }
	if !entering || !slices.ContainsFunc(inlinePictures, inline) {
		return ast.WalkContinue, nil // its children are the description
	}
	_, _ = w.WriteString(`<img alt="`)
	_, _ = w.Write(util.EscapeHTML([]byte(plain((&parser{source: source}).spans(node)))))
	_, _ = w.WriteString(`" src="`)
	_, _ = w.Write(util.EscapeHTML(util.URLEscape([]byte(address), true)))
	_, _ = w.WriteString(`">`)
	return ast.WalkSkipChildren, nil
}
