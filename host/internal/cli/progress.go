package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/easel-canvas/easel/engine"
)

// printer shows a run on a terminal: the answer on out; nodes, durations, tool calls and reasoning
// on err.
type printer struct {
	out, err io.Writer
	progress bool
	answer   strings.Builder
	thinking bool
	midLine  bool // the last line of the answer has no line break yet
	cited    engine.Value
}

func (p *printer) event(e *engine.Event) {
	switch e.Type {
	case engine.EventMessage:
		p.message(e.Data())
	case engine.EventMessageEnd:
		p.messageEnd(e.Data())
	case engine.EventWarning:
		p.note("warning: %s", warningText(e.Data()))
	}
	if p.progress {
		p.step(e)
	}
}

// thoughts are steps of an agent that are logged as tool calls.
var thoughts = []string{"analyze_task", "reflection", "Multi-turn conversation optimization", "gen_citations"}

// step prints the progress of nodes and tools.
func (p *printer) step(e *engine.Event) {
	switch e.Type {
	case engine.EventNodeStarted:
		p.note("> %s", nodeName(e.Data()))
	case engine.EventNodeFinished:
		d := e.Data()
		if text := d.Get("error").Text(); text != "" {
			p.note("x %s failed after %s: %s", nodeName(d), elapsed(d), text)
			return
		}
		p.note("+ %s, %s", nodeName(d), elapsed(d))
	case engine.EventToolFinished:
		d := e.Data()
		if slices.Contains(thoughts, d.Get("tool_name").Text()) {
			return
		}
		p.note("  %s %s -> %s, %s", d.Get("tool_name").Text(), cut(d.Get("arguments").Text(), 80),
			cut(d.Get("result").Text(), 80), elapsed(d))
	}
}

// note writes a line to err, after the open line of the answer is ended.
func (p *printer) note(format string, args ...any) {
	if p.midLine && p.progress {
		fmt.Fprintln(p.err)
	}
	fmt.Fprintf(p.err, format+"\n", args...)
}

func (p *printer) message(d engine.Value) {
	switch {
	case d.Get("start_to_think").True():
		p.thinking = true
	case d.Get("end_to_think").True():
		p.thinking = false
	}
	text := d.Get("content").Text()
	if text == "" {
		return
	}
	if p.thinking {
		if p.progress {
			fmt.Fprint(p.err, text)
		}
		return
	}
	p.answer.WriteString(text)
	fmt.Fprint(p.out, text)
	p.midLine = !strings.HasSuffix(text, "\n")
}

// messageEnd ends the line and lists the sources that the answer cites.
func (p *printer) messageEnd(d engine.Value) {
	if p.midLine {
		fmt.Fprintln(p.out)
		p.midLine = false
	}
	p.cited = d.Get("reference")
	for number, chunk := range p.cited.Get("chunks").Fields() {
		mark := "[ID:" + number + "]"
		if strings.Contains(p.answer.String(), mark) {
			fmt.Fprintf(p.out, "%s %s\n", mark, chunk.Get("document_name").Text())
		}
	}
}

func nodeName(d engine.Value) string {
	if name := d.Get("component_name").Text(); name != "" {
		return name
	}
	return d.Get("component_id").Text()
}

func elapsed(d engine.Value) string {
	f, _ := d.Get("elapsed_time").Float()
	return fmt.Sprintf("%.2f s", f)
}

func warningText(d engine.Value) string {
	for _, key := range [...]string{"text", "message", "content"} {
		if v := d.Get(key); v.Truthy() {
			return v.Text()
		}
	}
	return d.Text()
}

// cut shortens a text to one line of at most n bytes.
func cut(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "..."
}
