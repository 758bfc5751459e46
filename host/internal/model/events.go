package model

import (
	"bytes"
	"io"
	"slices"

	"github.com/easel-canvas/easel/engine"
)

// events reads the documents of a response: the data of server-sent events, JSON without events, or
// JSON lines. Servers differ from each other in each detail of the format, so that it accepts all
// line ends, fields without a blank, documents over several lines, events that are not separated,
// and JSON where a stream was asked for.
type events struct {
	from     io.Reader
	received func() // called when anything arrives

	buf        []byte
	start, end int
	scanned    int // bytes after start without a line end
	begun      bool
	skipLF     bool // the line before ended with CR
	err        error

	name    string // of the current event
	pending []byte // start of a document that continues in the next lines
	bare    bool   // it has no event around it
	nesting nesting
}

// document is one part of a response.
type document struct {
	value engine.Value
	event string // its name, if any
	words string // what stands in its place, if it is not JSON
	done  bool   // the mark [DONE]
	bare  bool   // JSON without an event around it
}

const readBytes = 4 << 10

func newEvents(from io.Reader, received func()) *events {
	return &events{from: from, received: received, buf: make([]byte, readBytes)}
}

// next returns the next document; io.EOF after the last one.
func (e *events) next() (document, error) {
	for {
		line, err := e.line()
		if err != nil {
			if err == io.EOF && len(e.pending) > 0 {
				return e.complete(), nil
			}
			return document{}, err
		}
		if len(e.pending) > 0 {
			if e.more(line) {
				return e.complete(), nil
			}
			continue
		}
		if d, ok := e.read(bytes.TrimSpace(line)); ok {
			return d, nil
		}
	}
}

var (
	utf8Mark  = []byte("\ufeff")
	dataField = []byte("data:")
	doneMark  = []byte("[DONE]")
)

// read reads a line that is not inside a document.
func (e *events) read(line []byte) (document, bool) {
	if len(line) == 0 {
		e.name = ""
		return document{}, false
	}
	if data, ok := cutField(line); ok {
		return e.data(data, false)
	}
	if name, ok := bytes.CutPrefix(line, []byte("event:")); ok {
		e.name = string(bytes.TrimSpace(name))
		return document{}, false
	}
	switch {
	case line[0] == ':', bytes.HasPrefix(line, []byte("id:")), bytes.HasPrefix(line, []byte("retry:")):
		return document{}, false
	}
	return e.data(line, true)
}

// cutField returns the data of a line, which some gateways prefix twice; ok is false for another
// line.
func cutField(line []byte) (data []byte, ok bool) {
	for len(line) >= len(dataField) && bytes.EqualFold(line[:len(dataField)], dataField) {
		line, ok = bytes.TrimSpace(line[len(dataField):]), true
	}
	return line, ok
}

// data reads the start of a document.
func (e *events) data(data []byte, bare bool) (document, bool) {
	switch {
	case len(data) == 0, data[0] == ':', string(data) == "null":
		return document{}, false
	case bytes.HasPrefix(data, doneMark):
		return document{done: true, event: e.name}, true
	case data[0] != '{' && data[0] != '[':
		return document{words: string(data), event: e.name, bare: bare}, true
	}
	if v, err := engine.ParseJSON(data); err == nil {
		return document{value: v, event: e.name, bare: bare}, true
	}
	e.nesting, e.bare = nesting{}, bare
	e.pending = append(e.pending[:0], data...)
	if e.nesting.add(data) {
		return e.complete(), true
	}
	return document{}, false
}

// more adds a line to a document and reports whether it is complete.
func (e *events) more(line []byte) bool {
	text := bytes.TrimSpace(line)
	if data, ok := cutField(text); ok {
		text = data
	}
	if len(text) == 0 {
		return false
	}
	e.pending = append(append(e.pending, '\n'), text...)
	return e.nesting.add(text)
}

// complete returns the document in pending.
func (e *events) complete() document {
	data := e.pending
	e.pending = e.pending[:0]
	v, err := engine.ParseJSON(data)
	if err != nil {
		v, err = engine.ParseJSON(repaired(data))
	}
	if err != nil {
		return document{words: string(data), event: e.name, bare: true}
	}
	return document{value: v, event: e.name, bare: e.bare}
}

// line returns the next line without its end.
func (e *events) line() ([]byte, error) {
	for {
		line := e.buf[e.start:e.end]
		if e.skipLF && len(line) > 0 {
			e.skipLF = false
			if line[0] == '\n' {
				e.start++
				continue
			}
		}
		if i := lineEnd(line[e.scanned:]); i >= 0 {
			line = line[:e.scanned+i+1]
			e.skipLF = line[len(line)-1] == '\r'
		}
		if n := len(line); n > e.scanned && (line[n-1] == '\n' || line[n-1] == '\r') {
			e.start += n
			e.scanned = 0
			return line[:n-1], nil
		}
		e.scanned = len(line)
		if e.err != nil {
			if len(line) == 0 || e.err != io.EOF {
				return nil, e.err
			}
			e.start, e.scanned = e.end, 0
			return line, nil
		}
		e.fill()
	}
}

// lineWindow bounds how far one kind of line end is searched before the other.
const lineWindow = 1 << 10

// lineEnd returns the place of the first line feed or carriage return, or -1. It is three times as
// fast as bytes.IndexAny.
func lineEnd(data []byte) int {
	for from := 0; from < len(data); from += lineWindow {
		part := data[from:min(from+lineWindow, len(data))]
		feed := bytes.IndexByte(part, '\n')
		if feed >= 0 {
			part = part[:feed]
		}
		if i := bytes.IndexByte(part, '\r'); i >= 0 {
			return from + i
		}
		if feed >= 0 {
			return from + feed
		}
	}
	return -1
}

// fill reads more bytes.
func (e *events) fill() {
	if e.start > 0 {
		e.end = copy(e.buf, e.buf[e.start:e.end])
		e.start = 0
	}
	if e.end == len(e.buf) {
		e.buf = slices.Grow(e.buf, len(e.buf))
		e.buf = e.buf[:cap(e.buf)]
	}
	n, err := e.from.Read(e.buf[e.end:])
	e.end += n
	e.err = err
	if n > 0 {
		e.received()
	}
	if !e.begun && (e.end >= len(utf8Mark) || err != nil || n > 0 && e.buf[0] != utf8Mark[0]) {
		e.begun = true
		if bytes.HasPrefix(e.buf[:e.end], utf8Mark) {
			e.start = len(utf8Mark)
		}
	}
	if !e.begun {
		e.fill()
	}
}

// nesting follows the brackets of JSON.
type nesting struct {
	depth           int
	inside, escaped bool // a string, an escape in it
}

// add reads on and reports whether all brackets are closed.
func (n *nesting) add(data []byte) bool {
	for _, c := range data {
		switch {
		case n.escaped:
			n.escaped = false
		case n.inside:
			n.escaped = c == '\\'
			n.inside = c != '"'
		case c == '"':
			n.inside = true
		case c == '{', c == '[':
			n.depth++
		case c == '}', c == ']':
			n.depth--
		}
	}
	return n.depth <= 0
}

// repaired returns JSON with the deviations of some servers replaced: NaN and infinite numbers,
// and control characters inside strings.
func repaired(data []byte) []byte {
	out := make([]byte, 0, len(data)+16)
	var n nesting
	for i := 0; i < len(data); i++ {
		c := data[i]
		if n.inside && c < ' ' {
			switch c {
			case '\n':
				out = append(out, `\n`...)
			case '\t':
				out = append(out, `\t`...)
			default:
				out = append(out, ' ')
			}
			continue
		}
		if !n.inside {
			if word := notANumber(data[i:]); word > 0 {
				out = append(out, "null"...)
				i += word - 1
				continue
			}
		}
		n.add(data[i : i+1])
		out = append(out, c)
	}
	return out
}

func notANumber(data []byte) int {
	for _, word := range [...]string{"NaN", "Infinity", "-Infinity", "-NaN"} {
		if bytes.HasPrefix(data, []byte(word)) {
			return len(word)
		}
	}
	return 0
}
