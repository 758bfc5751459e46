package document

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"strings"

	"golang.org/x/net/html/charset"
)

// message reads an e-mail: its subject as heading, sender, receivers and date, the body, and the
// attached documents. Other attachments are named with their type.
type message struct {
	ctx      context.Context
	limits   *Limits
	out      *page
	attached *attached
	parts    int
}

// maxMessageDepth bounds the messages and multiparts inside each other.
const maxMessageDepth = 32

// mailHeaders are the shown headers after the subject.
var mailHeaders = []string{"From", "To", "Cc", "Bcc", "Date"}

// headerDecoder decodes encoded words of headers in any charset.
var headerDecoder = mime.WordDecoder{CharsetReader: charset.NewReaderLabel}

func header(h interface{ Get(string) string }, name string) string {
	text := h.Get(name)
	if decoded, err := headerDecoder.DecodeHeader(text); err == nil { // else it is shown as it is
		text = decoded
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	return strings.Join(strings.Fields(text), " ")
}

func (m *message) read(data []byte, depth int) error {
	if depth > maxMessageDepth {
		return exceeded(LimitDepth, maxMessageDepth, "messages inside each other")
	}
	data, err := mailText(data, m.limits)
	if err != nil {
		return err
	}
	head := data[:min(len(data), m.limits.Block)]
	if len(data) > len(head) && !bytes.Contains(head, []byte("\n\n")) && !bytes.Contains(head, []byte("\n\r\n")) {
		return exceeded(LimitBlock, m.limits.Block, "bytes of headers")
	}
	in, err := mail.ReadMessage(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("%w: headers of the e-mail: %w", ErrDamaged, err)
	}
	if subject := header(in.Header, "Subject"); subject != "" {
		m.out.add(heading, strings.Repeat("#", min(depth+1, 6))+" ", subject)
	}
	var lines []string
	for _, name := range mailHeaders {
		if text := header(in.Header, name); text != "" {
			lines = append(lines, name+": "+text)
		}
	}
	m.out.add(paragraph, "", strings.Join(lines, "\n"))
	return m.body(textproto.MIMEHeader(in.Header), in.Body, depth)
}

// body adds the content of a message or of one of its parts.
func (m *message) body(h textproto.MIMEHeader, in io.Reader, depth int) error {
	if m.parts++; m.parts > m.limits.Parts {
		return exceeded(LimitParts, m.limits.Parts, "parts of an e-mail")
	}
	if err := m.ctx.Err(); err != nil {
		return err
	}
	typ, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		typ, params = "text/plain", nil // RFC 2045 section 5.2
	}
	in = transferDecoded(h.Get("Content-Transfer-Encoding"), in)
	name := attachmentName(h, params)
	isAttachment := strings.HasPrefix(strings.ToLower(h.Get("Content-Disposition")), "attachment")
	switch isText := strings.HasPrefix(typ, "text/"); {
	case strings.HasPrefix(typ, "multipart/"):
	case typ == "message/rfc822":
		if name != "" {
			m.out.add(paragraph, "", "Attachment: "+name+" ("+typ+")")
		}
	case isAttachment, name != "" && !isText, !isText && strings.HasPrefix(typ, "application/"):
		data, err := m.content(in, m.limits.File)
		if err != nil {
			return err
		}
		return m.attached.add(m.ctx, m.out, name, typ, data, depth)
	}
	switch {
	case strings.HasPrefix(typ, "multipart/"):
		return m.multipart(typ, params["boundary"], in, depth)
	case typ == "message/rfc822":
		data, err := m.content(in, m.limits.Text)
		if err != nil {
			return err
		}
		return m.read(data, depth+1)
	case strings.HasPrefix(typ, "text/"):
		return m.text(typ, params["charset"], in)
	}
	return nil
}

func attachmentName(h textproto.MIMEHeader, params map[string]string) string {
	name := params["name"]
	if _, more, err := mime.ParseMediaType(h.Get("Content-Disposition")); err == nil && more["filename"] != "" {
		name = more["filename"]
	}
	return header(textproto.MIMEHeader{"N": {name}}, "N")
}

// transferDecoded undoes a transfer encoding.
func transferDecoded(encoding string, in io.Reader) io.Reader {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "base64":
		return base64.NewDecoder(base64.StdEncoding, in)
	case "quoted-printable":
		return quotedprintable.NewReader(in)
	}
	return in
}

// mailText returns the bytes of a message that was stored in UTF-16 or UTF-32, as some programs do,
// in UTF-8. Others are returned unchanged: each part declares its encoding.
func mailText(data []byte, limits *Limits) ([]byte, error) {
	_, rest, isMarked := marked(data)
	_, wide := unmarkedUTF16(data)
	_, wider := unmarkedUTF32(data)
	if isMarked && data[0] == 0xEF {
		return rest, nil
	}
	if !isMarked && !(bytes.IndexByte(data[:min(len(data), 4)], 0) >= 0 && (wide || wider)) {
		return data, nil
	}
	text, err := Decode(data, limits.Text)
	return []byte(text), err
}

// content reads a part of at most maxBytes; it ends where its encoding is damaged.
func (m *message) content(in io.Reader, maxBytes int) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, int64(maxBytes)+1))
	if len(data) > maxBytes {
		return nil, exceeded(LimitText, maxBytes, "bytes of text")
	}
	if err != nil && len(data) == 0 {
		return nil, fmt.Errorf("%w: part of the e-mail: %w", ErrDamaged, err)
	}
	return data, nil
}

func (m *message) text(typ, label string, in io.Reader) error {
	data, err := m.content(in, m.limits.Text)
	if err != nil {
		return err
	}
	if _, _, isMarked := marked(data); label != "" && !isMarked {
		if r, err := charset.NewReaderLabel(label, bytes.NewReader(data)); err == nil { // else detect it
			if converted, err := m.content(r, m.limits.Text); err == nil {
				data = converted
			}
		}
	}
	if typ == "text/html" {
		source, err := decodeHTML(data)
		if err != nil {
			return err
		}
		return htmlPage(m.ctx, m.limits, source, m.out, false)
	}
	text, err := Decode(data, m.limits.Text)
	if errors.Is(err, ErrFormat) {
		text, err = "[binary data]", nil
	}
	for part := range strings.SplitSeq(text, "\n\n") {
		m.out.add(paragraph, "", strings.Trim(part, "\n"))
	}
	return errors.Join(err, m.out.err)
}

// multipart adds the parts of a message. Of alternatives it takes the first that is text: senders
// put the plainest first.
func (m *message) multipart(typ, boundary string, in io.Reader, depth int) error {
	if depth++; depth > maxMessageDepth {
		return exceeded(LimitDepth, maxMessageDepth, "parts inside each other")
	}
	if boundary == "" {
		return fmt.Errorf("%w: a part of the e-mail has no boundary", ErrDamaged)
	}
	parts := multipart.NewReader(in, boundary)
	for taken := false; ; {
		p, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: parts of the e-mail: %w", ErrDamaged, err)
		}
		if typ == "multipart/alternative" && taken {
			continue
		}
		before := m.out.added
		if err := m.body(p.Header, p, depth); err != nil {
			return err
		}
		taken = m.out.added > before
	}
}
