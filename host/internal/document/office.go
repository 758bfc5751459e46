package document

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// officeText reads docx, xlsx, pptx or epub, detected from the parts of the archive, into out. It
// may use up to granted bytes. If the estimate exceeds asked, it reads nothing and returns the
// estimate. If sheets is not nil, the rows of a workbook are collected there instead.
func officeText(
	ctx context.Context, limits *Limits, data []byte, asked, granted int64, sheets *[]Sheet, out *page,
) (more int64, err error) {
	o, err := openOffice(ctx, limits, data)
	if err != nil {
		return 0, err
	}
	if more := o.estimate(); more > asked {
		return more, nil
	}
	o.work = granted
	if sheets != nil {
		*sheets, err = o.sheets()
		return 0, err
	}
	return 0, o.read(out)
}

// read reads the document.
func (o *office) read(out *page) error {
	main, err := o.mainPart()
	if err != nil {
		return err
	}
	switch {
	case strings.HasPrefix(main, "word/"):
		err = o.docx(main, out)
	case strings.HasPrefix(main, "xl/"):
		err = o.xlsx(main, out)
	case strings.HasPrefix(main, "ppt/"):
		err = o.pptx(main, out)
	case o.parts[container] != nil:
		err = o.epub(out)
	case o.parts[odfContent] != nil, o.parts["encrypted-package"] != nil:
		err = o.odf(out)
	default:
		return errArchive
	}
	if err != nil {
		return err
	}
	return out.err
}

var errArchive = fmt.Errorf("%w: it is an archive, but no docx, xlsx, pptx, epub or OpenDocument file", ErrFormat)

// office is an archive of XML parts, as ECMA-376 describes it.
type office struct {
	ctx       context.Context
	limits    *Limits
	parts     map[string]*zip.File
	remaining int64 // bytes that may still be unpacked
	work      int64 // bytes of memory allowed
	retained  int64 // bytes in lists, maps and strings that live until the document is read
}

func openOffice(ctx context.Context, limits *Limits, data []byte) (*office, error) {
	// Count before the list of files is built: a list of a million names takes more memory than the
	// archive.
	if bytes.Count(data, []byte("PK\x01\x02")) > limits.Parts {
		return nil, exceeded(LimitParts, limits.Parts, "files in the archive")
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	o := &office{ctx: ctx, limits: limits, parts: make(map[string]*zip.File, len(z.File)), remaining: limits.Unpacked}
	for _, f := range z.File {
		if f.Flags&1 != 0 {
			return nil, ErrEncrypted
		}
		name := partName(f.Name)
		if _, twice := o.parts[name]; !twice {
			o.parts[name] = f
		}
	}
	return o, nil
}

// estimate returns the memory needed according to the sizes declared in the directory; a part that
// is larger than declared fails.
func (o *office) estimate() int64 {
	declared := uint64(0)
	for name, f := range o.parts {
		if !isMedia(name) {
			declared += min(f.UncompressedSize64, uint64(o.limits.Work))
		}
	}
	return min(o.limits.Work, minWork+perXML*int64(min(declared, uint64(o.limits.Work))))
}

// isMedia reports whether a part is a picture, a sound or an embedded file, by its name. Such parts
// are never opened.
func isMedia(name string) bool {
	switch path.Ext(name) {
	case ".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".svg", ".emf", ".wmf", ".wdp", ".bin", ".mp3",
		".mp4", ".wav",
		".odttf", ".fntdata", ".ttf", ".docx", ".xlsx", ".pptx", ".pdf":
		return true
	}
	return false
}

// overhead is the cost of a list or map entry beyond its text: string headers and spare capacity.
const overhead = 160

// retain counts an entry with n bytes of text that lives until the document is read.
func (o *office) retain(n int) error {
	if o.retained += int64(n) + overhead; o.retained > o.work {
		return exceeded(LimitMemory, o.work, "bytes of memory")
	}
	return nil
}

// partName returns the lookup key of a part: part names are case-insensitive.
func partName(name string) string {
	return strings.ToLower(strings.TrimPrefix(strings.ReplaceAll(name, `\`, "/"), "/"))
}

// mainPart returns the name of the main document part: the target of the archive's relationships,
// or the conventional name.
func (o *office) mainPart() (string, error) {
	list, err := o.relations("")
	if err != nil {
		return "", err
	}
	for _, r := range list {
		if strings.HasSuffix(r.kind, "/officeDocument") {
			return r.target, nil
		}
	}
	for _, name := range []string{"word/document.xml", "xl/workbook.xml", "ppt/presentation.xml"} {
		if o.parts[name] != nil {
			return name, nil
		}
	}
	return "", nil
}

// linkKind is the kind of relationships whose target is the address of a link, not a part.
const linkKind = "link"

// relation is a relationship from one part to another.
type relation struct{ id, kind, target string }

// relations returns the relationships of a part, or of the archive for "".
func (o *office) relations(part string) ([]relation, error) {
	dir, file := path.Split(part)
	var out []relation
	err := o.walk(dir+"_rels/"+file+".rels", func(e *element) error {
		if e.begins && e.name == "Relationship" && e.attr("TargetMode") == "External" {
			if !strings.HasSuffix(e.attr("Type"), "/hyperlink") || len(e.attr("Target")) > maxTarget {
				return nil
			}
			out = append(out, relation{e.attr("Id"), linkKind, e.attr("Target")})
			return o.retain(len(e.attr("Id")) + len(e.attr("Target")))
		}
		if e.begins && e.name == "Relationship" {
			target := e.attr("Target")
			if !strings.HasPrefix(target, "/") {
				target = path.Join(dir, target)
			}
			r := relation{e.attr("Id"), e.attr("Type"), partName(target)}
			out = append(out, r)
			return o.retain(len(r.id) + len(r.kind) + len(r.target))
		}
		return nil
	})
	if errors.Is(err, errNoPart) {
		err = nil
	}
	return out, err
}

// errNoPart means that a part is missing from the archive.
var errNoPart = fmt.Errorf("%w: a part is missing", ErrDamaged)

// element is an event of a walk over a part: the start or the end of an element, or text (name is
// "").
type element struct {
	begins bool
	name   string // without its namespace
	attrs  []xml.Attr
	text   string
}

// attr returns an attribute by its local name; "" if absent.
func (e *element) attr(name string) string {
	for _, a := range e.attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// related returns the relationship ID of an element (r:id), which may also have an id attribute
// without a namespace.
func (e *element) related() string {
	for _, a := range e.attrs {
		if a.Name.Local == "id" && a.Name.Space != "" {
			return a.Value
		}
	}
	return ""
}

// walk parses a part and calls visit for each element and text. The element is valid until visit
// returns.
func (o *office) walk(part string, visit func(*element) error) error {
	return o.unpack(part, func(r io.Reader) error { return o.steps(r, visit) })
}

// unpack calls read with the content of a part.
func (o *office) unpack(part string, read func(io.Reader) error) error {
	f := o.parts[partName(part)]
	if f == nil || isMedia(part) {
		return fmt.Errorf("%w: %s", errNoPart, part)
	}
	r, err := f.Open()
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrDamaged, part, err)
	}
	defer r.Close()
	if o.remaining -= opening; o.remaining < 0 {
		return exceeded(LimitUnpacked, o.limits.Unpacked, "bytes after unpacking")
	}
	err = read(&unpacking{r: r, o: o})
	switch {
	case err == nil, errors.Is(err, ErrLimit), o.ctx.Err() != nil:
		return err
	case errors.Is(err, ErrDamaged):
		return fmt.Errorf("%s: %w", part, err)
	}
	return fmt.Errorf("%w: %s: %w", ErrDamaged, part, err)
}

// opening is counted as unpacked each time a part is opened, because slides and sheets may refer to
// the same part repeatedly.
const opening = 1 << 10

func (o *office) steps(r io.Reader, visit func(*element) error) error {
	in := newTokens(transform.NewReader(r, unicode.BOMOverride(transform.Nop)), o.limits)
	d := xml.NewDecoder(in)
	d.CharsetReader = func(label string, raw io.Reader) (io.Reader, error) {
		if strings.HasPrefix(strings.ToLower(label), "utf-16") {
			return raw, nil // the byte order mark was consumed already
		}
		converted, err := charset.NewReaderLabel(label, raw)
		in = newTokens(converted, o.limits)
		return in, err
	}
	var e element
	depth := 0
	for n := 0; ; n++ {
		if n%1024 == 0 && o.ctx.Err() != nil {
			return o.ctx.Err()
		}
		in.next()
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			if depth != 0 {
				return fmt.Errorf("%w: it ends in the middle", ErrDamaged)
			}
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if depth++; depth > o.limits.Depth {
				return exceeded(LimitDepth, o.limits.Depth, "elements inside each other")
			}
			e = element{begins: true, name: t.Name.Local, attrs: t.Attr}
		case xml.EndElement:
			if depth--; depth < 0 {
				return fmt.Errorf("%w: an element ends that did not begin", ErrDamaged)
			}
			e = element{name: t.Name.Local}
		case xml.CharData:
			e = element{text: string(t)}
		case xml.Directive:
			// Office files have no document type, and its entities could expand without bound.
			return fmt.Errorf("%w: it declares a document type", ErrDamaged)
		default:
			continue
		}
		if err := visit(&e); err != nil {
			return err
		}
	}
}

// unpacking limits the unpacked bytes of all parts of an archive.
type unpacking struct {
	r io.Reader
	o *office
}

func (u *unpacking) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if u.o.remaining -= int64(n); u.o.remaining < 0 {
		return n, exceeded(LimitUnpacked, u.o.limits.Unpacked, "bytes after unpacking")
	}
	return n, err
}
