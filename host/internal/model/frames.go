package model

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/easel-canvas/easel/engine"
)

// framesType is the media type of Amazon's event streams.
const framesType = "application/vnd.amazon.eventstream"

// frameFailure precedes the type of a failure in the name of its event, which no other event has.
const frameFailure = "failure:"

// maxFrame bounds one message of an event stream, in bytes, as the service does.
const maxFrame = 16 << 20

// frames reads Amazon's event streams as server-sent events: a message becomes an event with the
// name of its type and its payload as the data.
//
// A message has a length of all, a length of the headers and their checksum, four bytes each, then
// the headers, the payload and the checksum of all before.
//
// Source: package eventstream of aws-sdk-go-v2.
type frames struct {
	from io.Reader
	text bytes.Buffer // what was not read yet
	head [12]byte
	rest []byte
}

func (f *frames) Read(p []byte) (int, error) {
	for f.text.Len() == 0 {
		if err := f.next(); err != nil {
			return 0, err
		}
	}
	return f.text.Read(p)
}

// next reads a message.
func (f *frames) next() error {
	if _, err := io.ReadFull(f.from, f.head[:]); err != nil {
		return err // io.EOF between messages
	}
	size, headers := binary.BigEndian.Uint32(f.head[:]), binary.BigEndian.Uint32(f.head[4:])
	sum := crc32.ChecksumIEEE(f.head[:8])
	const around = len(f.head) + 4
	switch {
	case sum != binary.BigEndian.Uint32(f.head[8:]):
		return fmt.Errorf("%w: event stream: checksum of a message differs", ErrBroken)
	case size > maxFrame:
		return fmt.Errorf("%w: a message of the event stream has more than %d MiB", ErrTooLarge, maxFrame>>20)
	case size < uint32(around) || headers > size-uint32(around):
		return fmt.Errorf("%w: event stream: invalid lengths", ErrBroken)
	}
	n := int(size) - len(f.head)
	if cap(f.rest) < n {
		f.rest = make([]byte, n)
	}
	f.rest = f.rest[:n]
	if _, err := io.ReadFull(f.from, f.rest); err != nil {
		return noEnd(err)
	}
	body := f.rest[:n-4]
	if crc32.Update(crc32.ChecksumIEEE(f.head[:]), crc32.IEEETable, body) != binary.BigEndian.Uint32(f.rest[n-4:]) {
		return fmt.Errorf("%w: event stream: checksum of a message differs", ErrBroken)
	}
	named, err := frameHeaders(body[:headers])
	if err != nil {
		return err
	}
	f.write(named, body[headers:])
	return nil
}

// noEnd returns the error of a message that is cut.
func noEnd(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// write appends the event of a message. Line ends of names and payload become blanks.
func (f *frames) write(headers map[string]string, payload []byte) {
	f.text.Reset()
	name := headers[":event-type"]
	switch headers[":message-type"] {
	case "exception":
		name = frameFailure + headers[":exception-type"]
		if v, err := engine.ParseJSON(payload); err != nil || v.Kind() != engine.KindObject {
			payload = failureOf(string(payload))
		}
	case "error":
		name, payload = frameFailure, failureOf(headers[":error-code"]+" "+headers[":error-message"])
	}
	f.text.WriteString("event: ")
	f.text.Write(oneLineBytes([]byte(name)))
	f.text.WriteString("\ndata: ")
	f.text.Write(oneLineBytes(payload))
	f.text.WriteString("\n\n")
}

// failureOf returns the payload of a failure that has only a text.
func failureOf(text string) []byte { return []byte(engine.Object("message", text).JSON()) }

// oneLineBytes replaces line ends, which JSON has only between its values.
func oneLineBytes(text []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r == '\r' || r == '\n' {
			return ' '
		}
		return r
	}, text)
}

// headerSizes are the bytes of header values by type; those of strings and bytes have a length.
var headerSizes = [...]int{0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}

// Types of header values with a length of two bytes.
const (
	headerBytes  = 6
	headerString = 7
)

// frameNames are the headers that are read; a message may have millions of others.
var frameNames = map[string]bool{
	":event-type": true, ":message-type": true, ":exception-type": true, ":error-code": true, ":error-message": true,
}

// frameHeaders returns those headers of a message that are read.
func frameHeaders(data []byte) (map[string]string, error) {
	headers := map[string]string{}
	take := func(n int) (part []byte, ok bool) {
		if n > len(data) {
			return nil, false
		}
		part, data = data[:n], data[n:]
		return part, true
	}
	for len(data) > 0 {
		length, _ := take(1)
		name, ok := take(int(length[0]))
		kind, typed := take(1)
		if !ok || !typed || int(kind[0]) >= len(headerSizes) {
			return nil, fmt.Errorf("%w: event stream: invalid header", ErrBroken)
		}
		size := headerSizes[kind[0]]
		if kind[0] == headerBytes || kind[0] == headerString {
			length, ok := take(2)
			if !ok {
				return nil, fmt.Errorf("%w: event stream: invalid header", ErrBroken)
			}
			size = int(binary.BigEndian.Uint16(length))
		}
		value, ok := take(size)
		if !ok {
			return nil, fmt.Errorf("%w: event stream: invalid header", ErrBroken)
		}
		if kind[0] == headerString && frameNames[string(name)] {
			headers[string(name)] = string(value)
		}
	}
	return headers, nil
}
