package enginetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/easel-canvas/easel/engine"
)

// EventTakeover marks, in a log for [Player.FromLog], that another process continued the run.
const EventTakeover engine.EventType = "takeover"

// span is the time in which a question to a model was open.
type span struct {
	exchange int
	from, to float64
}

// Recorded is a run with its log.
type Recorded struct {
	DSL   engine.Value    // the document that it started with
	Log   []*engine.Event // with snapshot and exchanges, see [engine.Options]
	Pins  engine.Value    // as in [Run]
	Until string
}

// FromLog makes a case of one run. The case is played with its own answers, and code runs again by
// the port of the Player; the error lists the first difference to the run.
func (p *Player) FromLog(ctx context.Context, name, about string, given Recorded) (*Case, error) {
	l, err := readLog(given.Log)
	if err != nil {
		return nil, err
	}
	run, err := l.run()
	if err != nil {
		return nil, err
	}
	dsl := given.DSL
	if run.Pins, run.Until, run.Rerun = given.Pins, given.Until, l.rerun; !l.middle {
		dsl = l.before(dsl)
		run.Seed, _ = strconv.ParseUint(l.start.Get("run").Get("seed").Str(), 16, 64)
	} else if run.Start, err = p.stateAt(dsl, l.first); err != nil {
		return nil, err
	}
	c := &Case{Name: name, About: about, Expect: ExpectRecorded, DSL: dsl, Runs: []Run{run}}
	again := &Player{Registry: p.Registry, Concurrency: 1, Ports: engine.Ports{Code: p.Ports.Code}}
	played, err := again.Play(ctx, c)
	if err != nil {
		return nil, err
	}
	seen := played.Get("runs").At(0).With("events", engine.List(l.events...))
	made := Record(name, about, dsl, c.Runs, engine.Object("runs", engine.List(seen)))
	if diffs := Compare(made.Value(), played); len(diffs) > 0 {
		return made, fmt.Errorf("played again, the run differs: %s", diffs[0])
	}
	return made, nil
}

// stateAt returns a document with the state of a snapshot.
func (p *Player) stateAt(dsl engine.Value, snapshot *engine.Event) (engine.Value, error) {
	canvas, err := engine.Load(p.Registry, dsl.AppendJSON(nil))
	if err != nil {
		return engine.Null, err
	}
	state, err := canvas.StateAt([]*engine.Event{snapshot}, 0)
	if err != nil {
		return engine.Null, err
	}
	return engine.ParseJSON(canvas.Save(state))
}

// runLog has the entries of a log that a case needs.
type runLog struct {
	first     *engine.Event // the first snapshot
	start     engine.Value  // its data
	middle    bool          // the run does not begin at the start of the canvas
	rerun     bool          // it repeats a part of another run
	parts     map[string]engine.Value
	exchanges []asked        // in the order they began
	events    []engine.Value // of the wire
	models    []span         // questions to models
	missing   error          // a part that is not in the log
}

// asked is an exchange of the process that many others had worked on the run before.
type asked struct {
	engine.Value
	before int
}

func readLog(log []*engine.Event) (*runLog, error) {
	l, processes := &runLog{parts: map[string]engine.Value{}}, 0
	for _, e := range log {
		switch {
		case e.Type == engine.EventSnapshot && l.first == nil:
			l.first, l.start = e, e.Data()
			next := l.start.Get("run").Get("next")
			l.rerun = len(l.events) == 0
			l.middle = l.rerun || next.Len() != 1 || next.At(0).Str() != engine.StartID
			if l.middle {
				l.events = nil // of what has begun before
			}
		case e.Type == engine.EventPart:
			l.parts[e.Data().Get("hash").Str()] = e.Data()
		case e.Type == engine.EventExchange:
			l.exchanges = append(l.exchanges, asked{e.Data(), processes})
		case e.Type == EventTakeover:
			processes++
		case e.Type.Wire():
			l.events = append(l.events, e.Value())
		}
	}
	if l.first == nil {
		return nil, errors.New("the log does not have the state at the start of the run")
	}
	slices.SortStableFunc(l.exchanges, func(a, b asked) int {
		return cmp.Or(a.before-b.before, cmp.Compare(number(a.Value, "nth"), number(b.Value, "nth")))
	})
	for i, x := range l.exchanges {
		if x.Get("port").Str() == "model" {
			l.models = append(l.models, spanOf(i, x.Value))
		}
	}
	return l, nil
}

func spanOf(i int, v engine.Value) span {
	to := number(v, "created_at")
	return span{i, to - number(v, "ms")/1e3, to}
}

func number(v engine.Value, name string) float64 {
	n, _ := v.Get(name).Float()
	return n
}

// before returns the document with the conversation as it was before the run. A host stores both
// apart: then the document has less of it than the state at the start of the run, to which the run
// has added the question.
func (l *runLog) before(dsl engine.Value) engine.Value {
	history := l.start.Get("history")
	if history.Len() <= 1 || dsl.Get("history").Len() >= history.Len()-1 {
		return dsl
	}
	given := dsl.Get("globals")
	if given.IsNull() {
		given = engine.Object()
	}
	for name, v := range l.start.Get("globals").Fields() {
		switch name {
		case "sys.history":
			v = withoutLast(v)
		case "sys.conversation_turns":
			n, _ := v.Int()
			v = engine.Int(n - 1)
		}
		given = given.With(name, v)
	}
	return dsl.With("globals", given).With("history", withoutLast(history)).
		With("memory", l.start.Get("memory")).With("retrieval", withoutLast(l.start.Get("retrieval")))
}

func withoutLast(list engine.Value) engine.Value {
	if list.Len() == 0 {
		return list
	}
	return engine.List(list.Slice()[:list.Len()-1]...)
}

// whole returns a request or an answer with its parts in place.
func (l *runLog) whole(v engine.Value) engine.Value {
	switch v.Kind() {
	case engine.KindList:
		list := make([]engine.Value, v.Len())
		for i, e := range v.Elements() {
			list[i] = l.whole(e)
		}
		return engine.List(list...)
	case engine.KindObject:
		if hash, ok := v.Lookup("$part"); ok && v.Len() == 1 {
			return l.part(hash.Str())
		}
		b := engine.NewObject(v.Len())
		for name, member := range v.Fields() {
			b.Set(name, l.whole(member))
		}
		return b.Value()
	}
	return v
}

func (l *runLog) part(hash string) engine.Value {
	entry, ok := l.parts[hash]
	if value, kept := entry.Lookup("value"); kept {
		return value
	}
	if l.missing == nil {
		l.missing = fmt.Errorf("a part of %s bytes was too large for the log", entry.Get("size").JSON())
		if !ok {
			l.missing = errors.New("a part of its exchanges is not in the log")
		}
	}
	return engine.Null
}

// run returns the inputs of the run and the answers it got.
func (l *runLog) run() (Run, error) {
	var r Run
	given, files := l.start.Get("run"), engine.List()
	for i, x := range l.exchanges {
		answer := l.whole(x.Get("answer"))
		request := x.Get("request")
		switch port := x.Get("port").Str(); port {
		case "model":
			if !answer.Get("tools_refused").True() {
				r.Script = append(r.Script, l.reply(i, answer))
			}
		case "retrieval":
			if answer.Get("error").IsNull() {
				found := engine.Object("chunks", answer.Get("chunks"), "doc_aggs", answer.Get("doc_aggs"))
				r.Retrieval = r.Retrieval.With(l.whole(request.Get("query")).Str(), found)
			}
		case "file":
			file := l.whole(request.Get("file"))
			if x.Get("component_id").IsNull() {
				files = files.Append(file)
			}
			if answer.Get("error").IsNull() {
				r.Blobs = r.Blobs.With(file.Get("id").Text(), engine.Object("text", answer.Get("text")))
			}
		case "mcp_tools":
			if answer.Get("error").IsNull() {
				r.Servers = r.Servers.With(request.Get("server").Str(), answer.Get("tools"))
			}
		case "canvas":
			id, version := request.Get("canvas").Str(), request.Get("version").Str()
			if answer.Get("error").IsNull() {
				r.Canvases = r.Canvases.With(id, r.Canvases.Get(id).With(version, answer.Get("dsl")))
			}
		case "metadata":
			return r, errors.New("a model chose from the metadata of datasets, which a case cannot hold")
		default:
			r.Tools = append(r.Tools, outsideCall(port, l.whole(request), answer))
		}
	}
	b := engine.NewObject(5).Set("query", l.start.Get("globals").Get("sys.query"))
	b.Set("user_id", given.Get("user_id"))
	for _, m := range [...]struct {
		name  string
		value engine.Value
	}{{"inputs", given.Get("inputs")}, {"webhook_payload", given.Get("webhook")}, {"files", files}} {
		if m.value.Truthy() {
			b.Set(m.name, m.value)
		}
	}
	r.Kwargs = b.Value()
	return r, l.missing
}

// reply returns the answer of a model. One that was open while another call was is matched by a
// text: the last message, or the system prompt where the others end in the same one.
func (l *runLog) reply(i int, answer engine.Value) Reply {
	r := TextReply(answer.Get("text").Str())
	text := answer.Get("error").Str()
	request := l.exchanges[i].Get("request")
	offered := !request.Get("tools").IsNull() && request.Get("purpose").Str() != string(engine.PurposePlan)
	if calls, ok := answer.Lookup("calls"); ok || offered {
		r.Calls = []engine.ToolCall{}
		for _, c := range calls.Elements() {
			r.Calls = append(r.Calls, engine.ToolCall{
				ID: c.At(0).Str(), Name: c.At(1).Str(), Arguments: c.At(2).Str(),
			})
		}
	}
	if text != "" {
		r = Reply{Pieces: append(r.Pieces, Piece{Raise: text, Final: answer.Get("final").True()}), Calls: r.Calls}
	}
	last, system := l.words(i)
	own := spanOf(i, l.exchanges[i].Value)
	for _, other := range l.models {
		if other.exchange == i || own.from >= other.to || other.from >= own.to {
			continue
		}
		if heard, _ := l.words(other.exchange); heard == last && system != "" {
			r.Match = system
			return r
		}
		r.Match = last
	}
	return r
}

// words returns the last message and the system prompt of a question to a model.
func (l *runLog) words(i int) (last, system string) {
	request := l.exchanges[i].Get("request")
	messages := request.Get("messages")
	if n := messages.Len(); n > 0 {
		last = l.whole(messages.At(n - 1)).Get("content").Str()
	}
	return last, l.whole(request.Get("system")).Str()
}

// outsideCall returns a call of a tool, an MCP server or a web request as cases write it.
func outsideCall(port string, request, answer engine.Value) OutsideCall {
	var c OutsideCall
	switch port {
	case "mcp":
		c = OutsideCall{Server: request.Get("server").Str(), Name: request.Get("name").Str()}
		c.Arguments, c.Result = request.Get("arguments"), answer.Get("answer")
		if c.Result.Get("files").IsNull() {
			c.Result = c.Result.Get("result")
		}
	case "http":
		c = requestCall(&engine.HTTPRequest{
			Method: request.Get("method").Str(), URL: request.Get("url").Str(), Body: request.Get("body").Str(),
			Proxy: request.Get("proxy").Str(), Header: headerLines(request.Get("headers")),
		})
		c.Result = engine.Object("status", answer.Get("status"),
			"headers", headerObject(headerLines(answer.Get("headers")), ""), "body", answer.Get("body"))
	default:
		c = OutsideCall{Component: request.Get("component").Str(), Arguments: request.Get("arguments")}
		c.Result = answer.Get("outputs")
	}
	if text := answer.Get("error").Str(); text != "" {
		c.Result, c.Error, c.Final = engine.Null, text, answer.Get("final").True()
	}
	return c
}

func headerLines(list engine.Value) []engine.HTTPHeader {
	lines := make([]engine.HTTPHeader, list.Len())
	for i, h := range list.Elements() {
		lines[i] = engine.HTTPHeader{Name: h.At(0).Str(), Value: h.At(1).Str()}
	}
	return lines
}
