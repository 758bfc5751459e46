package traces

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/runs"
)

// formatVersion is the member v of headers that this version writes and reads.
const formatVersion = 1

// ErrFormat means that a trace is damaged or of a newer version.
var ErrFormat = errors.New("trace cannot be read")

// Header is the first line of a trace.
type Header struct {
	Version int    `json:"v"`
	Run     string `json:"run"`
	Canvas  string `json:"canvas"`
	Doc     string `json:"doc"`    // SHA-256 of the document that ran
	Engine  string `json:"engine"` // version of the host
	Masks   []any  `json:"masks"`  // what was masked; nothing yet
	Ended   int64  `json:"ended"`  // Unix milliseconds
	// Tail has the members that all events of the run have before their data.
	Tail string `json:"tail"`
}

// line is one line after the header: a record, or the pieces of a message that follow each other.
type line struct {
	Seq  uint64 `json:"n"`
	At   uint64 `json:"at,omitempty"` // position in the run log; 0 means that of the line before
	Kind string `json:"e"`

	Data json.RawMessage `json:"d,omitempty"` // data of an event with the tail of the header
	JSON json.RawMessage `json:"j,omitempty"` // a whole record
	Raw  []byte          `json:"raw,omitempty"`

	Text    *string     `json:"text,omitempty"`    // of all pieces
	Lengths []int       `json:"lengths,omitempty"` // of each piece in bytes
	Ats     [][2]uint64 `json:"ats,omitempty"`     // positions: the number of pieces, and theirs
}

// selection is which records of a kind a trace has.
func selection(kind string) runlog.Selection {
	switch engine.EventType(kind) {
	case engine.EventResult, engine.EventCheckpoint:
		return runlog.SelectNone
	case engine.EventSnapshot:
		return runlog.SelectEnds
	}
	return runlog.SelectAll
}

// selected returns the records of a whole log that a trace has.
func selected(records []runlog.Record) (out []runlog.Record) {
	records = runs.WithoutRepeated(records) // which needs what is left out
	first, last := -1, -1
	for i, r := range records {
		if selection(r.Kind) == runlog.SelectEnds {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	for i, r := range records {
		choice := selection(r.Kind)
		if choice == runlog.SelectAll || choice == runlog.SelectEnds && (i == first || i == last) {
			out = append(out, r)
		}
	}
	return out
}

// encoder writes the lines of a trace.
type encoder struct {
	out  []byte
	tail []byte // of the header
	at   uint64 // position of the last line
	text []byte // of the pieces that are not written yet

	piece   line // Seq of the first piece; Lengths is empty without pieces
	scratch []byte
}

// Encode appends a trace. The first record is the document, which the header names; snapshots
// after the first are left out.
func Encode(dst []byte, h Header, records []runlog.Record) ([]byte, error) {
	e := &encoder{out: dst}
	for _, r := range records {
		if tail, ok := tailOf(r); ok {
			h.Tail = string(tail)
			e.tail = tail
			break
		}
	}
	if h.Masks == nil {
		h.Masks = []any{}
	}
	h.Version = formatVersion
	head, err := json.Marshal(h)
	if err != nil {
		return dst, err
	}
	e.out = append(append(e.out, head...), '\n')
	snapshots := 0
	for _, r := range records {
		switch r.Kind {
		case runs.KindDocument:
			continue
		case string(engine.EventSnapshot):
			if snapshots++; snapshots > 1 {
				continue
			}
		}
		e.record(r)
	}
	e.flush()
	return e.out, nil
}

// tailOf returns the members of an event between its type and its data.
func tailOf(r runlog.Record) (tail []byte, ok bool) {
	rest, ok := bytes.CutPrefix(r.Data, []byte(`{"event":"`+r.Kind))
	if !ok || r.Kind == "" {
		return nil, false
	}
	i := bytes.Index(rest, []byte(`,"data":`))
	if i < 0 {
		return nil, false
	}
	return rest[:i+len(`,"data":`)], true
}

func (e *encoder) record(r runlog.Record) {
	rest, ok := bytes.CutPrefix(r.Data, []byte(`{"event":"`+r.Kind))
	var data []byte
	if ok && len(e.tail) > 0 {
		data, ok = bytes.CutPrefix(rest, e.tail)
	}
	switch {
	case !ok || len(data) < 2 || data[len(data)-1] != '}' || !oneLine(data):
		e.whole(r)
	case r.Kind == string(engine.EventMessage) && e.addPiece(r, data[:len(data)-1]):
	default:
		e.flush()
		e.head(r)
		e.out = append(append(e.out, `,"d":`...), data...) // with the brace that ends the event
		e.out = append(e.out, '\n')
	}
}

// oneLine reports whether bytes that the engine wrote as JSON can be a part of a line.
func oneLine(data []byte) bool { return bytes.IndexByte(data, '\n') < 0 && utf8.Valid(data) }

// head writes the members that every line begins with.
func (e *encoder) head(r runlog.Record) {
	e.out = strconv.AppendUint(append(e.out, `{"n":`...), r.Seq, 10)
	if r.At != e.at {
		e.out = strconv.AppendUint(append(e.out, `,"at":`...), r.At, 10)
		e.at = r.At
	}
	e.out = engine.AppendQuoted(append(e.out, `,"e":`...), r.Kind)
}

// whole writes a record that is not an event of the run's engine.
func (e *encoder) whole(r runlog.Record) {
	e.flush()
	e.head(r)
	if oneLine(r.Data) && json.Valid(r.Data) {
		e.out = append(append(e.out, `,"j":`...), r.Data...)
	} else {
		raw, _ := json.Marshal(r.Data) // bytes always have a form
		e.out = append(append(e.out, `,"raw":`...), raw...)
	}
	e.out = append(e.out, "}\n"...)
}

// addPiece adds a piece that has nothing but text, and returns false for any other.
func (e *encoder) addPiece(r runlog.Record, data []byte) bool {
	quoted, ok := bytes.CutPrefix(data, []byte(`{"content":`))
	if !ok || len(quoted) < 3 || quoted[len(quoted)-1] != '}' {
		return false
	}
	quoted = quoted[:len(quoted)-1]
	text, ok := e.unquoted(quoted)
	if !ok {
		return false
	}
	if len(e.piece.Lengths) > 0 && r.Seq != e.piece.Seq+uint64(len(e.piece.Lengths)) {
		e.flush()
	}
	if len(e.piece.Lengths) == 0 {
		e.piece.Seq = r.Seq
	}
	e.piece.Lengths = append(e.piece.Lengths, len(text))
	e.text = append(e.text, text...)
	if n := len(e.piece.Ats); n > 0 && e.piece.Ats[n-1][1] == r.At {
		e.piece.Ats[n-1][0]++
	} else {
		e.piece.Ats = append(e.piece.Ats, [2]uint64{1, r.At})
	}
	return true
}

// unquoted returns the text of a JSON string that the engine would write in the same way again.
func (e *encoder) unquoted(quoted []byte) ([]byte, bool) {
	if quoted[0] != '"' || quoted[len(quoted)-1] != '"' {
		return nil, false
	}
	inner := quoted[1 : len(quoted)-1]
	text := inner
	if bytes.IndexByte(inner, '\\') >= 0 || bytes.IndexByte(inner, '"') >= 0 {
		var s string
		if json.Unmarshal(quoted, &s) != nil {
			return nil, false
		}
		text = []byte(s)
	}
	e.scratch = engine.AppendQuoted(e.scratch[:0], string(text))
	return text, bytes.Equal(e.scratch, quoted)
}

// flush writes the pieces that were collected.
func (e *encoder) flush() {
	if len(e.piece.Lengths) == 0 {
		return
	}
	e.out = strconv.AppendUint(append(e.out, `{"n":`...), e.piece.Seq, 10)
	e.out = append(e.out, `,"e":"message","text":`...)
	e.out = engine.AppendQuoted(e.out, string(e.text))
	e.out = append(e.out, `,"lengths":[`...)
	for i, n := range e.piece.Lengths {
		if i > 0 {
			e.out = append(e.out, ',')
		}
		e.out = strconv.AppendInt(e.out, int64(n), 10)
	}
	e.out = append(e.out, `],"ats":[`...)
	for i, at := range e.piece.Ats {
		if i > 0 {
			e.out = append(e.out, ',')
		}
		e.out = strconv.AppendUint(append(e.out, '['), at[0], 10)
		e.out = append(strconv.AppendUint(append(e.out, ','), at[1], 10), ']')
		e.at = at[1]
	}
	e.out = append(e.out, "]}\n"...)
	e.text, e.piece.Lengths, e.piece.Ats = e.text[:0], e.piece.Lengths[:0], e.piece.Ats[:0]
}

// Decode reads a trace back into records: the events as the log had them, byte by byte, without the
// document. Errors: [ErrFormat].
func Decode(trace []byte) (h Header, records []runlog.Record, err error) {
	head, rest, _ := bytes.Cut(trace, []byte("\n"))
	if err := json.Unmarshal(head, &h); err != nil {
		return h, nil, fmt.Errorf("header: %w: %w", ErrFormat, err)
	}
	if h.Version != formatVersion {
		return h, nil, fmt.Errorf("version %d, this program reads %d: %w", h.Version, formatVersion, ErrFormat)
	}
	d := decoder{tail: h.Tail}
	for n := 2; len(rest) > 0; n++ {
		var text []byte
		text, rest, _ = bytes.Cut(rest, []byte("\n"))
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			return h, nil, fmt.Errorf("line %d: %w: %w", n, ErrFormat, err)
		}
		if err := d.line(l); err != nil {
			return h, nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return h, d.records, nil
}

type decoder struct {
	tail    string
	at      uint64
	records []runlog.Record
}

func (d *decoder) line(l line) error {
	if l.Text != nil {
		return d.pieces(l)
	}
	if l.At > 0 {
		d.at = l.At
	}
	r := runlog.Record{Seq: l.Seq, At: d.at, Kind: l.Kind}
	switch {
	case len(l.Data) > 0:
		r.Data = d.event(l.Kind, l.Data)
	case len(l.JSON) > 0:
		r.Data = l.JSON
	default:
		r.Data = l.Raw
	}
	d.records = append(d.records, r)
	return nil
}

// event puts an event together.
func (d *decoder) event(kind string, data []byte) []byte {
	out := make([]byte, 0, len(data)+len(d.tail)+len(kind)+16)
	out = append(append(append(out, `{"event":"`...), kind...), d.tail...)
	return append(append(out, data...), '}')
}

func (d *decoder) pieces(l line) error {
	text := *l.Text
	for i, n := range l.Lengths {
		if n < 0 || n > len(text) {
			return fmt.Errorf("piece %d has %d of %d bytes: %w", i, n, len(text), ErrFormat)
		}
		for len(l.Ats) > 0 && l.Ats[0][0] == 0 {
			l.Ats = l.Ats[1:]
		}
		if len(l.Ats) > 0 {
			d.at = l.Ats[0][1]
			l.Ats[0][0]--
		}
		data := append(engine.AppendQuoted([]byte(`{"content":`), text[:n]), '}')
		d.records = append(d.records, runlog.Record{
			Seq: l.Seq + uint64(i), At: d.at, Kind: l.Kind, Data: d.event(l.Kind, data),
		})
		text = text[n:]
	}
	return nil
}
