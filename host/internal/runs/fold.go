package runs

import (
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runlog"
)

// fold keeps a run that was taken over from telling twice what its former host
// told after the last checkpoint. The engine repeats those entries, since they
// belong to a batch that was not settled; fold drops them again.
//
// A message whose text comes out differently the second time (a model rarely
// says the same twice) is announced by message_reset and told from its start.
type fold struct {
	told    map[string]int // entries by type and node
	message string         // what was told of the open message
	again   []runlog.Record
	text    string // what the open message has said again
}

// newFold looks at the records after the last one a state is known at.
func newFold(void []runlog.Record) *fold {
	f := &fold{told: map[string]int{}}
	for _, r := range void {
		switch t := engine.EventType(r.Kind); t {
		case engine.EventMessage:
			f.message += Facts(r).Message.Marked()
		case engine.EventMessageReset:
			f.message = ""
		case engine.EventMessageEnd:
			f.told[foldKey(r)]++
			f.told["message"]++ // a whole message
			f.message = ""
		case engine.EventCheckpoint, engine.EventSnapshot, engine.EventResult:
		default:
			f.told[foldKey(r)]++
		}
	}
	return f
}

func foldKey(r runlog.Record) string { return r.Kind + " " + Facts(r).Node }

// take gives the records to write in place of one.
func (f *fold) take(r runlog.Record) []runlog.Record {
	if f == nil {
		return []runlog.Record{r}
	}
	switch t := engine.EventType(r.Kind); t {
	case engine.EventCheckpoint:
		// The batch is settled: the same node may run again later, and is told again.
		f.told = map[string]int{"message": f.told["message"]}
		return []runlog.Record{r}
	case engine.EventSnapshot, engine.EventResult:
		return []runlog.Record{r}
	case engine.EventMessage:
		return f.takeMessage(r)
	case engine.EventMessageEnd:
		if f.told["message"] > 0 { // the end of a message that was told whole
			f.told["message"]--
			f.drop(r)
			return nil
		}
		defer func() { f.message, f.text, f.again = "", "", nil }()
		if len(f.text) < len(f.message) {
			return append(f.reset(r), r)
		}
		return []runlog.Record{r}
	default:
		if f.drop(r) {
			return nil
		}
		return []runlog.Record{r}
	}
}

func (f *fold) drop(r runlog.Record) bool {
	key := foldKey(r)
	if f.told[key] == 0 {
		return false
	}
	f.told[key]--
	return true
}

func (f *fold) takeMessage(r runlog.Record) []runlog.Record {
	if f.told["message"] > 0 {
		return nil // all of this message was told
	}
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

// reset announces that the open message starts again, and what it said again.
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
