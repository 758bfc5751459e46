package enginetest

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/easel-canvas/easel/engine"
)

// freeFields may be in an event without being expected.
var freeFields = []string{
	"created_at", "elapsed_time", "thoughts", "usage", "downloads", "seq", "run_id", "session_id", "message_id",
	"task_id",
}

// comparedFields are members of an event's data that are compared by value.
var comparedFields = []string{
	"component_name", "component_type", "inputs", "tips", "status", "attachment", "reference",
}

// knownFields are all members an event's data may have besides the free ones.
var knownFields = append([]string{"component_id", "outputs", "error"}, comparedFields...)

// folded is one event after the pieces of messages have been joined.
type folded struct {
	event    string
	data     engine.Value
	optional bool
	mark     string       // start_to_think or end_to_think
	content  engine.Value // of a message
	extra    []string     // other members of a message
	sound    []string     // hex
}

// fold joins message pieces between marks; pieces without text and sound are dropped.
func fold(events engine.Value) []folded {
	var out []folded
	for _, e := range events.Elements() {
		data := e.Get("data")
		if e.Get("event").Str() != "message" || data.Kind() != engine.KindObject {
			out = append(out, folded{event: e.Get("event").Str(), data: data, optional: e.Get("optional").Truthy()})
			continue
		}
		out = foldMessage(out, data, e.Get("optional").Truthy())
	}
	return out
}

func foldMessage(out []folded, data engine.Value, optional bool) []folded {
	piece := folded{event: "message", content: data.Get("content"), extra: extraFields(data), optional: optional}
	if s := data.Get("audio_binary"); s.Truthy() {
		piece.sound = []string{s.Text()}
	}
	for _, mark := range [...]string{"start_to_think", "end_to_think"} {
		if data.Get(mark).Truthy() {
			out = append(out, folded{event: "message", mark: mark, content: engine.String(""), extra: piece.extra})
			break
		}
	}
	isText := piece.content.IsNull() || piece.content.Kind() == engine.KindString
	if isText && piece.content.Str() == "" && len(piece.sound) == 0 {
		return out
	}
	if n := len(out); n > 0 && isText {
		p := &out[n-1]
		if p.event == "message" && p.mark == "" && p.content.Kind() == engine.KindString {
			p.content = engine.String(p.content.Str() + piece.content.Str())
			p.sound = append(p.sound, piece.sound...)
			p.extra = append(p.extra, piece.extra...)
			return out
		}
	}
	if piece.content.IsNull() {
		piece.content = engine.String("")
	}
	return append(out, piece)
}

func extraFields(data engine.Value) []string {
	var extra []string
	for k, v := range data.Fields() {
		switch k {
		case "content", "audio_binary", "start_to_think", "end_to_think":
		default:
			if !v.IsNull() && !slices.Contains(freeFields, k) {
				extra = append(extra, k)
			}
		}
	}
	return extra
}

func (f *folded) label() string {
	if f.event == "message" {
		return strings.TrimSpace("message " + f.mark)
	}
	return strings.TrimSpace(f.event + " " + f.data.Get("component_id").Text())
}

// events compares two sequences; the first event of another kind ends the comparison.
func (d *differences) events(want, seen engine.Value, where string) {
	w, s := fold(want), fold(seen)
	i := 0
	for k := range w {
		if i >= len(s) || s[i].label() != w[k].label() {
			if w[k].optional {
				continue
			}
			saw := "the end"
			if i < len(s) {
				saw = s[i].label()
			}
			d.add("%s: event %d: expected %s, saw %s", where, i, w[k].label(), saw)
			return
		}
		d.event(&w[k], &s[i], fmt.Sprintf("%s: event %d %s", where, i, w[k].label()))
		i++
	}
	if i < len(s) {
		d.add("%s: %d events too many, the first is %s", where, len(s)-i, s[i].label())
	}
}

func (d *differences) event(want, seen *folded, where string) {
	if want.event == "message" {
		d.message(want, seen, where)
		return
	}
	w, s := want.data, seen.data
	for _, k := range comparedFields {
		x, expected := w.Lookup(k)
		if y := s.Get(k); expected || !y.IsNull() {
			if !sameNothing(want.event, k, x, y) {
				d.value(x, y, where+"."+k)
			}
		}
	}
	if want.event == "node_finished" || want.event == "workflow_finished" {
		d.outputs(w.Get("outputs"), s.Get("outputs"), w.Get("component_type").Str(), where+".outputs")
	}
	if want.event == "node_finished" {
		d.failure(w.Get("error"), s.Get("error"), where+".error")
	}
	d.unknown(s, where)
}

// sameNothing reports whether both sides are empty values, of any type.
func sameNothing(event, field string, x, y engine.Value) bool {
	empty := func(v engine.Value) bool { return v.IsNull() || v.Kind() == engine.KindObject && v.Len() == 0 }
	switch field {
	case "tips":
		return !x.Truthy() && !y.Truthy()
	case "inputs":
		return event != "node_started" && empty(x) && empty(y)
	}
	return false
}

func (d *differences) unknown(data engine.Value, where string) {
	for k, v := range data.Fields() {
		if v.IsNull() || strings.HasPrefix(k, "_") || slices.Contains(knownFields, k) ||
			slices.Contains(freeFields, k) {
			continue
		}
		d.add("%s: unknown field %s", where, k)
	}
}

func (d *differences) message(want, seen *folded, where string) {
	if want.mark == "" {
		d.value(want.content, seen.content, where+".content")
		if w, s := voice(want.sound), voice(seen.sound); w != s {
			d.add("%s.audio_binary: expected %q, saw %q", where, w, s)
		}
	}
	for _, k := range seen.extra {
		d.add("%s: unknown field %s", where, k)
	}
}

// voice returns the output of the scripted voice, without its marks and without blanks.
func voice(sound []string) string {
	var b strings.Builder
	for _, s := range sound {
		raw, err := hex.DecodeString(s)
		if err != nil {
			b.WriteString(s)
			continue
		}
		b.WriteString(strings.ReplaceAll(strings.ToValidUTF8(string(raw), "\uFFFD"), voiceMark, ""))
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, b.String())
}
