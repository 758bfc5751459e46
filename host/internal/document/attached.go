package document

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine/block"
)

// attached reads the documents that are attached to a message, and to the messages inside it.
type attached struct {
	reader *Reader
	limits *Limits
	asked  attempt // by the message
	held   attempt // its work may be less than asked for, and includes that of the documents
	needed attempt // by a document that needs more
	base   int64   // bytes of memory for the message itself
	depth  int     // of attached messages
	count  int
	bytes  int64
}

// maxAttached bounds the attached documents that are read, in all messages inside each other.
const maxAttached = 200

// errMore means that an attached document needs more than the message holds. The message is read
// again with it.
var errMore = errors.New("an attached document needs more memory")

// errUnread means that an attached document is named only, as it cannot have text.
var errUnread = errors.New("the document is a picture or binary data")

// message reads an e-mail with its attached documents, or a compound file, which may be one. If
// next differs from a, it must be read again with next.
func (r *Reader) message(
	ctx context.Context, limits *Limits, a attempt, granted int64, data []byte, sheets *[]Sheet, out *page,
) (next attempt, err error) {
	base := firstWork(limits, a.kind, int64(len(data)))
	in := &attached{reader: r, limits: limits, asked: a, held: a, needed: a, base: base}
	in.held.work = granted
	if a.kind == kindOld {
		err = compoundText(ctx, limits, data, min(base, granted), in, sheets, out)
	} else {
		err = (&message{ctx: ctx, limits: limits, out: out, attached: in}).read(data, 0)
	}
	if errors.Is(err, errMore) && in.needed != a {
		return in.needed, nil
	}
	return a, err
}

// add adds an attached document, under a heading with its name. A document that cannot be read is a
// line with the reason.
func (in *attached) add(ctx context.Context, out *page, name, typ string, data []byte, depth int) error {
	title := strings.TrimSpace(name + " (" + typ + ")")
	part := newPage(in.limits)
	part.maxText = max(out.maxText-out.text.Len(), 1)
	part.deeper = min(max(depth+1, 2), block.DeepestHeading)
	if out.blocks != nil {
		part.blocks = &collector{maxSize: max(out.blocks.maxSize-out.blocks.size, 1)}
	}
	err := in.read(ctx, part, name, typ, data)
	if err == nil {
		err = part.err
	}
	switch {
	case err == nil && part.isEmpty(), errors.Is(err, errUnread):
		out.add(paragraph, "", "Attachment: "+title)
	case err == nil:
		out.add(heading, strings.Repeat("#", part.deeper)+" ", "Attachment: "+block.Line(cmp.Or(name, typ)))
		return out.take(part)
	case ctx.Err() != nil, errors.Is(err, errMore), out.err != nil:
		return errors.Join(err, out.err)
	default:
		reason := strings.ToValidUTF8(err.Error(), "\uFFFD")
		out.add(paragraph, "", fmt.Sprintf("Attachment: %s, not read: %s", title, block.Line(reason)))
	}
	return out.err
}

// read adds a document to out, which is its own page.
func (in *attached) read(ctx context.Context, out *page, name, typ string, data []byte) error {
	if in.count++; in.count > maxAttached {
		return exceeded(LimitParts, maxAttached, "attached documents")
	}
	if in.bytes += int64(len(data)); in.bytes > in.limits.Unpacked {
		return exceeded(LimitUnpacked, in.limits.Unpacked, "bytes of attached documents")
	}
	kind := kindOf(name, typ, data)
	left := in.held.work - in.base
	switch kind {
	case kindPDF:
		work := firstWork(in.limits, kindPDF, int64(len(data)))
		if !in.holds(work, true) {
			return errMore
		}
		err := in.reader.pdf.read(ctx, in.limits, data, min(left, int64(in.limits.Memory)), out, in.reader.OCR)
		if isLimit(err, LimitMemory) && !in.holds(int64(in.limits.Memory), true) {
			return errMore
		}
		return err
	case kindOffice:
		more, err := officeText(ctx, in.limits, data, left, left, nil, out)
		if err == nil && more > left {
			if !in.holds(more, false) {
				return errMore
			}
			return exceeded(LimitMemory, left, "bytes of memory")
		}
		if errors.Is(err, errArchive) {
			return errUnread
		}
		return err
	case kindFlatODF, kindOld:
		work := firstWork(in.limits, kind, int64(len(data)))
		if !in.holds(work, false) {
			return errMore
		}
		if kind == kindOld {
			return compoundText(ctx, in.limits, data, min(work, left), in, nil, out)
		}
		return flatODF(ctx, in.limits, data, min(work, left), out)
	case kindImage:
		if in.reader.OCR == nil || out.blocks == nil {
			return errUnread
		}
		return imageBlocks(ctx, data, out, in.reader.OCR)
	case kindEmail:
		if in.depth++; in.depth > maxMessageDepth {
			return exceeded(LimitDepth, maxMessageDepth, "messages inside each other")
		}
		defer func() { in.depth-- }()
		return (&message{ctx: ctx, limits: in.limits, out: out, attached: in}).read(data, 0)
	case kindText:
		if !isText(data) {
			return errUnread
		}
	}
	return read(ctx, in.limits, kind, name, data, out)
}

// holds reports whether the message holds enough memory for a document, and a turn for PDF. If not,
// it records the required amounts.
func (in *attached) holds(work int64, pdf bool) bool {
	limit := in.limits.Work + int64(in.limits.Memory)
	if work = min(in.base+work, limit); work <= in.held.work && (in.held.pdf || !pdf) {
		return true
	}
	// Twice as much at least, lest each of many documents reads the message again.
	work = max(work, min(2*in.asked.work, limit))
	in.needed.work, in.needed.pdf = max(in.needed.work, work), in.needed.pdf || pdf
	return in.needed == in.asked // it cannot get more
}

// isEmpty reports whether nothing was added.
func (p *page) isEmpty() bool {
	return p.whole == "" && p.text.Len() == 0 && (p.blocks == nil || len(p.blocks.list) == 0)
}

// take appends the content of another page.
func (p *page) take(part *page) error {
	if p.blocks == nil {
		text, err := part.result()
		if err != nil {
			return err
		}
		p.add(paragraph, "", strings.Trim(text, "\n"))
		return p.err
	}
	p.gap()
	for _, b := range part.blocks.result() {
		b.Positions = nil // on the pages of the part
		if b.Kind == block.Heading {
			b.Level = min(b.Level+part.deeper, block.DeepestHeading)
		}
		p.added++
		if p.err = errors.Join(p.err, addBlock(b, p.blocks)); p.err != nil {
			return p.err
		}
	}
	return nil
}
