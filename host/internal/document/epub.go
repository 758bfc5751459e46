package document

import (
	"io"
	"net/url"
	"path"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// container is the part of an EPUB that names its package document.
const container = "meta-inf/container.xml"

// epub reads the chapters of a book in reading order.
func (o *office) epub(out *page) error {
	root := ""
	err := o.walk(container, func(e *element) error {
		if e.begins && e.name == "rootfile" && root == "" {
			root = e.attr("full-path")
		}
		return nil
	})
	if err != nil {
		return err
	}
	chapters, err := o.spine(root)
	if err != nil {
		return err
	}
	for _, chapter := range chapters {
		err := o.unpack(chapter, func(r io.Reader) error {
			utf8 := transform.NewReader(r, unicode.BOMOverride(unicode.UTF8.NewDecoder()))
			return htmlPage(o.ctx, o.limits, utf8, out, false)
		})
		if err != nil {
			return err
		}
		out.gap()
	}
	return nil
}

// spine returns the parts of the chapters that a package document lists.
func (o *office) spine(root string) ([]string, error) {
	targets := map[string]string{}
	var chapters []string
	err := o.walk(root, func(e *element) error {
		switch {
		case !e.begins:
		case e.name == "item" && strings.Contains(e.attr("media-type"), "html"):
			target, err := url.PathUnescape(e.attr("href"))
			if err != nil {
				target = e.attr("href") // it is not an escaped path
			}
			targets[e.attr("id")] = path.Join(path.Dir(root), target)
			return o.retain(len(e.attr("id")) + len(target))
		case e.name == "itemref":
			if len(chapters) == o.limits.Parts {
				return exceeded(LimitParts, o.limits.Parts, "chapters")
			}
			if target, ok := targets[e.attr("idref")]; ok {
				chapters = append(chapters, target)
			}
		}
		return nil
	})
	return chapters, err
}
