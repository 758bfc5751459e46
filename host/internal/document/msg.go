package document

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Properties of messages and attachments.
const (
	msgSubject   = 0x0037
	msgSubmitted = 0x0039
	msgSender    = 0x0C1A
	msgAddress   = 0x0C1F
	msgBcc       = 0x0E02
	msgCc        = 0x0E03
	msgTo        = 0x0E04
	msgDelivered = 0x0E06
	msgBody      = 0x1000
	msgRTF       = 0x1009
	msgHTML      = 0x1013
	msgData      = 0x3701
	msgShortName = 0x3704
	msgName      = 0x3707
	msgMIME      = 0x370E
	msgInternet  = 0x3FDE
	msgCodePage  = 0x3FFD
	msgSMTP      = 0x5D01
)

// Types of properties.
const (
	msgNumber = 0x0003
	msgObject = 0x000D
	msgBytes8 = 0x001E
	msgText16 = 0x001F
	msgTime   = 0x0040
	msgBinary = 0x0102
)

// msgProperties is the stream of the properties of fixed size.
const msgProperties = "__properties_version1.0"

// outlook reads a message of Outlook: subject, sender, receivers, date, the text, and the attached
// documents.
//
// Source: [MS-OXMSG].
type outlook struct {
	office   *office
	file     *compound
	attached *attached
	out      *page
	parts    int
}

// message reads the message in a storage; depth counts the messages around it.
func (m *outlook) message(storage, depth int) error {
	if depth > maxMessageDepth {
		return exceeded(LimitDepth, maxMessageDepth, "messages inside each other")
	}
	if err := m.office.ctx.Err(); err != nil {
		return err
	}
	numbers, err := m.numbers(storage, depth)
	if err != nil {
		return err
	}
	codePage := int(cmp.Or(numbers[msgCodePage], numbers[msgInternet]))
	text := func(id int) string {
		s, readErr := m.text(storage, id, codePage)
		err = errors.Join(err, readErr)
		return s
	}
	m.out.add(heading, strings.Repeat("#", min(depth+1, 6))+" ", strings.Join(strings.Fields(text(msgSubject)), " "))
	var lines []string
	line := func(name, value string) {
		if value = strings.Join(strings.Fields(value), " "); value != "" {
			lines = append(lines, name+": "+value)
		}
	}
	address, name := cmp.Or(text(msgSMTP), text(msgAddress)), text(msgSender)
	if strings.Contains(address, "@") && address != name {
		name = strings.TrimSpace(name + " <" + address + ">")
	}
	line("From", name)
	line("To", text(msgTo))
	line("Cc", text(msgCc))
	line("Bcc", text(msgBcc))
	if at := cmp.Or(numbers[msgSubmitted], numbers[msgDelivered]); at > 0 {
		const from1601 = 11644473600 // seconds before 1970
		line("Date", time.Unix(int64(at/10_000_000)-from1601, 0).UTC().Format(time.RFC1123Z))
	}
	m.out.add(paragraph, "", strings.Join(lines, "\n"))
	if err = errors.Join(err, m.body(storage, text(msgBody))); err != nil {
		return err
	}
	return m.attachments(storage, depth)
}

// numbers reads the properties of fixed size of a message.
func (m *outlook) numbers(storage, depth int) (map[int]uint64, error) {
	data, ok, err := m.file.stream(storage, msgProperties)
	if err != nil || !ok {
		return nil, cmp.Or(err, fmt.Errorf("%w: a message has no properties", ErrDamaged))
	}
	head := 24
	if depth == 0 {
		head = 32
	}
	numbers := map[int]uint64{}
	for data = data[min(head, len(data)):]; len(data) >= 16; data = data[16:] {
		switch id := int(binary.LittleEndian.Uint16(data[2:])); binary.LittleEndian.Uint16(data) {
		case msgNumber:
			numbers[id] = uint64(binary.LittleEndian.Uint32(data[8:]))
		case msgTime:
			numbers[id] = binary.LittleEndian.Uint64(data[8:])
		}
	}
	return numbers, nil
}

// value returns a property of variable size.
func (m *outlook) value(storage, id, typ int) ([]byte, bool, error) {
	return m.file.stream(storage, fmt.Sprintf("__substg1.0_%04X%04X", id, typ))
}

// text returns a property that is text, "" if it is missing.
func (m *outlook) text(storage, id, codePage int) (string, error) {
	data, ok, err := m.value(storage, id, msgText16)
	if err != nil || ok {
		return strings.ReplaceAll(utf16Text(data), "\x00", ""), err
	}
	data, ok, err = m.value(storage, id, msgBytes8)
	if err != nil || !ok {
		return "", err
	}
	if codePage > 0 && codePage != 1200 {
		return strings.ReplaceAll(decodeCodePage(codePage, data), "\x00", ""), nil
	}
	return Decode(data, m.office.limits.Text)
}

// body adds the text of a message: as text, as HTML or as RTF, whichever comes first.
func (m *outlook) body(storage int, text string) error {
	if strings.TrimSpace(text) != "" {
		for part := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n") {
			m.out.add(paragraph, "", strings.Trim(part, "\r\n"))
		}
		return m.out.err
	}
	data, ok, err := m.value(storage, msgHTML, msgBinary)
	if err == nil && !ok {
		var page string
		page, err = m.text(storage, msgHTML, 0)
		data = []byte(page)
	}
	if err != nil {
		return err
	}
	if len(data) > 0 {
		source, err := decodeHTML(data)
		if err != nil {
			return err
		}
		return htmlPage(m.office.ctx, m.office.limits, source, m.out, false)
	}
	packed, ok, err := m.value(storage, msgRTF, msgBinary)
	if err != nil || !ok {
		return err
	}
	if data, err = unpackedRTF(packed, m.office.limits.Text); err != nil {
		return err
	}
	return rtfPage(m.office.ctx, m.office.limits, data, m.out)
}

// attachments adds the attachments of a message.
func (m *outlook) attachments(storage, depth int) error {
	for _, i := range m.file.entries[storage].children {
		e := &m.file.entries[i]
		if !e.storage || !strings.HasPrefix(strings.ToLower(e.name), "__attach_version1.0_") {
			continue
		}
		if m.parts++; m.parts > m.office.limits.Parts {
			return exceeded(LimitParts, m.office.limits.Parts, "parts of an e-mail")
		}
		name, err := m.text(i, msgName, 0)
		short, shortErr := m.text(i, msgShortName, 0)
		typ, typeErr := m.text(i, msgMIME, 0)
		data, ok, dataErr := m.value(i, msgData, msgBinary)
		if err = errors.Join(err, shortErr, typeErr, dataErr); err != nil {
			return err
		}
		name = strings.Join(strings.Fields(cmp.Or(name, short)), " ")
		object := m.file.find(i, fmt.Sprintf("__substg1.0_%04X%04X", msgData, msgObject))
		switch {
		case ok:
			err = m.attached.add(m.office.ctx, m.out, name, cmp.Or(typ, "application/octet-stream"), data, depth)
		case object >= 0 && m.file.find(object, msgProperties) >= 0:
			m.out.add(paragraph, "", "Attachment: "+strings.TrimSpace(name+" (message/rfc822)"))
			err = m.message(object, depth+1)
		default:
			m.out.add(paragraph, "", strings.TrimSpace("Attachment: "+name))
		}
		if err = errors.Join(err, m.out.err); err != nil {
			return err
		}
	}
	return nil
}

// rtfDictionary precedes compressed RTF, which may refer to it.
const rtfDictionary = `{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript ` +
	`\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0` + "\r\n" +
	`\par \pard\plain\f0\fs20\b\i\u\tab\tx`

// unpackedRTF returns compressed RTF of at most maxBytes. Its declared size is not trusted.
//
// Source: [MS-OXRTFCP].
func unpackedRTF(data []byte, maxBytes int) ([]byte, error) {
	const stored, packed = 0x414C454D, 0x75465A4C
	if len(data) < 16 {
		return nil, fmt.Errorf("%w: the text of a message ends in the middle", ErrDamaged)
	}
	kind := binary.LittleEndian.Uint32(data[8:])
	data = data[16:]
	switch {
	case kind == stored:
		return data, nil
	case kind != packed:
		return nil, fmt.Errorf("%w: the text of a message is neither RTF nor compressed RTF", ErrDamaged)
	}
	var ring [4096]byte
	at := copy(ring[:], rtfDictionary)
	var out []byte
	put := func(b byte) {
		out = append(out, b)
		ring[at] = b
		at = (at + 1) % len(ring)
	}
	for len(data) > 0 {
		flags := data[0]
		data = data[1:]
		for bit := 0; bit < 8 && len(data) > 0; bit++ {
			if len(out) > maxBytes {
				return nil, exceeded(LimitText, maxBytes, "bytes of text")
			}
			if flags>>bit&1 == 0 {
				put(data[0])
				data = data[1:]
				continue
			}
			if len(data) < 2 {
				return out, nil
			}
			reference := int(data[0])<<8 | int(data[1])
			data = data[2:]
			from, n := reference>>4, reference&15+2
			if from == at {
				return out, nil
			}
			for i := range n {
				put(ring[(from+i)%len(ring)])
			}
		}
	}
	return out, nil
}
