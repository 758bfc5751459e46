package runs

import (
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runlog"
)

// fold drops the records of a run taken over that its former host wrote after the
// last checkpoint. The engine repeats those entries, since they
// belong to a batch that was not settled.
//
// A message whose text differs the second time, as texts of models mostly do, is announced by
// message_reset and sent again from the beginning.
//
// Messages of bodies that run at once may come in another order the second time; they are known by
// their element and text, which the log holds before they are sent.
type fold struct {
	written map[string]int // entries by type and node
	message string         // written text of the open message
	again   []runlog.Record
	text    string // text of the open message since the takeover

	body     []runlog.Record // message of a body, until it ends
	bodyText string
}

// newFold replays the records after the last checkpoint.
func newFold(void []runlog.Record) *fold {
	f := &fold{written: map[string]int{}}
	for _, r := range void {
		switch t := engine.EventType(r.Kind); t {
		case engine.EventMessage:
			f.message += Facts(r).Message.Marked()
		case engine.EventMessageReset:
			f.message = ""
		case engine.EventMessageEnd:
			if element := Execution(r); element != "" {
				f.written[bodyKey(element, f.message)]++
			} else {
				f.written[foldKey(r)]++
				f.written["message"]++ // a whole message
			}
			f.message = ""
		case engine.EventCheckpoint, engine.EventSnapshot, engine.EventResult, engine.EventExchange, engine.EventPart:
		default:
			f.written[foldKey(r)]++
		}
	}
	return f
}

func foldKey(r runlog.Record) string { return r.Kind + " " + Execution(r) }

func bodyKey(element, text string) string { return "message" + element + " " + text }

// take returns the records to write instead of r.
func (f *fold) take(r runlog.Record) []runlog.Record {
	if f == nil {
		return []runlog.Record{r}
	}
	t := engine.EventType(r.Kind)
	if (t == engine.EventMessage || t == engine.EventMessageEnd) && Execution(r) != "" {
		return f.takeOfBody(r)
	}
	switch t {
	case engine.EventCheckpoint:
		// The batch is settled: the same node may run again later, and is written again.
		f.written = map[string]int{"message": f.written["message"]}
		return []runlog.Record{r}
	case engine.EventSnapshot, engine.EventResult, engine.EventExchange, engine.EventPart:
		return []runlog.Record{r}
	case engine.EventMessage:
		if f.written["message"] > 0 {
			return nil // all of this message was written
		}
		return f.takeMessage(r)
	case engine.EventMessageEnd:
		if f.written["message"] > 0 { // the end of a message that was written whole
			f.written["message"]--
			f.drop(r)
			return nil
		}
		return f.endMessage(r)
	default:
		if f.drop(r) {
			return nil
		}
		return []runlog.Record{r}
	}
}

func (f *fold) drop(r runlog.Record) bool {
	key := foldKey(r)
	if f.written[key] == 0 {
		return false
	}
	f.written[key]--
	return true
}

// takeOfBody holds the message of a body until it ends. Such a message is complete when it is sent,
// so that readers do not wait for this.
func (f *fold) takeOfBody(r runlog.Record) []runlog.Record {
	f.body = append(f.body, r)
	if engine.EventType(r.Kind) == engine.EventMessage {
		f.bodyText += Facts(r).Message.Marked()
		return nil
	}
	pieces, key := f.body[:len(f.body)-1], bodyKey(Execution(r), f.bodyText)
	f.body, f.bodyText = nil, ""
	if f.written[key] > 0 {
		f.written[key]--
		return nil
	}
	var out []runlog.Record
	for _, x := range pieces {
		out = append(out, f.takeMessage(x)...)
	}
	return append(out, f.endMessage(r)...)
}

func (f *fold) endMessage(r runlog.Record) []runlog.Record {
	defer func() { f.message, f.text, f.again = "", "", nil }()
	if len(f.text) < len(f.message) {
		return append(f.reset(r), r)
	}
	return []runlog.Record{r}
}

func (f *fold) takeMessage(r runlog.Record) []runlog.Record {
	before := f.text
	f.text += Facts(r).Message.Marked()
	switch {
	case len(before) >= len(f.message):
		return []runlog.Record{r}
	case strings.HasPrefix(f.message, f.text):
		f.again = append(f.again, r)
		return nil
	case strings.HasPrefix(f.text, f.message) && !strings.Contains(f.text[len(before):], "think>"):
		rest := f.text[len(f.message):]
		f.message = f.text[:len(f.message)]
		return []runlog.Record{{Kind: r.Kind, Data: withContent(r.Data, rest)}}
	}
	out := append(f.reset(r), r)
	f.message = ""
	return out
}

// reset announces that the open message starts again, with its new text so far.
func (f *fold) reset(like runlog.Record) []runlog.Record {
	v, err := engine.ParseJSON(like.Data)
	if err != nil {
		return nil
	}
	v = v.With("event", engine.String(string(engine.EventMessageReset))).With("data", engine.Object())
	out := append([]runlog.Record{{Kind: string(engine.EventMessageReset), Data: v.AppendJSON(nil)}}, f.again...)
	f.again = nil
	return out
}

func withContent(data []byte, content string) []byte {
	v, err := engine.ParseJSON(data)
	if err != nil {
		return data
	}
	return v.With("data", v.Get("data").With("content", engine.String(content))).AppendJSON(nil)
}
