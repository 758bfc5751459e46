package runs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runlog"
)

// script writes records in short: "+n" node started, "-n" finished, "m:text"
// a message delta, "t" and "/t" marks of reasoning, "end" its end, "ck" a
// checkpoint, "reset" a message that starts again.
func script(words string) []runlog.Record {
	var out []runlog.Record
	for w := range strings.FieldsSeq(words) {
		kind, data := engine.EventMessage, ""
		switch {
		case w[0] == '+':
			kind, data = engine.EventNodeStarted, fmt.Sprintf(`"component_id":%q`, w[1:])
		case w[0] == '-':
			kind, data = engine.EventNodeFinished, fmt.Sprintf(`"component_id":%q`, w[1:])
		case strings.HasPrefix(w, "m:"):
			data = fmt.Sprintf(`"content":%q`, w[2:])
		case w == "t":
			data = `"content":"","start_to_think":true`
		case w == "/t":
			data = `"content":"","end_to_think":true`
		case w == "end":
			kind = engine.EventMessageEnd
		case w == "ck":
			kind = engine.EventCheckpoint
		}
		out = append(out, runlog.Record{Kind: string(kind), Data: []byte(`{"event":"` + string(kind) + `","data":{` + data + `}}`)})
	}
	return out
}

// short is the reverse of script.
func short(records []runlog.Record) string {
	var out []string
	for _, r := range records {
		d := document(r.Data)
		switch engine.EventType(r.Kind) {
		case engine.EventNodeStarted:
			out = append(out, "+"+d.Get("component_id").Str())
		case engine.EventNodeFinished:
			out = append(out, "-"+d.Get("component_id").Str())
		case engine.EventMessageEnd:
			out = append(out, "end")
		case engine.EventMessageReset:
			out = append(out, "reset")
		case engine.EventCheckpoint:
			out = append(out, "ck")
		case engine.EventMessage:
			switch {
			case d.Get("start_to_think").True():
				out = append(out, "t")
			case d.Get("end_to_think").True():
				out = append(out, "/t")
			default:
				out = append(out, "m:"+d.Get("content").Str())
			}
		}
	}
	return strings.Join(out, " ")
}

func document(data []byte) engine.Value {
	v, err := engine.ParseJSON(data)
	if err != nil {
		return engine.Null
	}
	return v.Get("data")
}

func TestFold(t *testing.T) {
	for _, test := range []struct{ name, told, again, want string }{
		{"nothing was sent", "", "+a m:x end -a ck", "+a m:x end -a ck"},
		{"everything was sent", "+a m:x m:y end -a", "+a m:x m:y end -a ck", "ck"},
		{"the batch was truncated", "+a +b -a", "+a +b -a -b ck", "-b ck"},
		{"the message continues", "+a m:one m:two", "+a m:one m:two m:three end -a", "m:three end -a"},
		{"the message is truncated elsewhere", "+a m:onetw", "+a m:one m:two m:three end", "m:o m:three end"},
		{"the message is different", "+a m:one m:two", "+a m:one m:zwei end -a", "reset m:one m:zwei end -a"},
		{"the message is shorter", "+a m:one m:two", "+a m:one end -a", "reset m:one end -a"},
		{"reasoning continues", "+a t m:hm", "+a t m:hm m:so /t m:yes end", "m:so /t m:yes end"},
		{"the second message was truncated", "+a m:x end -a +b m:y", "+a m:x end -a +b m:y m:z end", "m:z end"},
		{"a node that runs again is written again", "+a -a", "+a -a ck +a -a ck", "ck +a -a ck"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFold(script(test.told))
			var got []runlog.Record
			for _, r := range script(test.again) {
				got = append(got, f.take(r)...)
			}
			require.Equal(t, test.want, short(got))
			var whole Transcript
			for _, r := range append(script(test.told), got...) {
				whole.Take(r)
			}
			var plain Transcript
			for _, r := range script(test.again) {
				plain.Take(r)
			}
			require.Equal(t, plain.Text.String(), whole.Text.String(), "a reader ends with the text of a run that never stopped")
		})
	}
}

// TestFoldTellsElementsApart has the model call of one element written before a crash: that of
// another is not the same.
func TestFoldTellsElementsApart(t *testing.T) {
	usage := func(item string) runlog.Record {
		return runlog.Record{Kind: string(engine.EventUsage), Data: []byte(
			`{"event":"usage","data":{"component_id":"LLM:L","index_path":` + item + `}}`)}
	}
	f := newFold([]runlog.Record{usage("[1]")})
	require.Len(t, f.take(usage("[0]")), 1)
	require.Empty(t, f.take(usage("[1]")))
	require.Len(t, f.take(usage("[1]")), 1)
}
