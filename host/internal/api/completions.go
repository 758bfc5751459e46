package api

import (
	"bytes"
	"errors"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
)

var completionRoutes = []route{
	{method: "POST", path: "/api/v1/agents/{id}/completions", body: bodyCanvas, scope: scopeRun, answer: (*API).complete},
	{method: "POST", path: chatPath + "s", body: bodyCanvas, scope: scopeRun, answer: (*API).chat},
	{method: "POST", path: chatPath, body: bodyCanvas, scope: scopeRun, answer: (*API).chat},
	{method: "POST", path: "/api/v1/agents_openai/{id}/chat/completions", body: bodyCanvas, scope: scopeRun, openAI: true, answer: (*API).openAI},
}

// chatPath is the completion of the newer dialect in version 0.25.1, which streams unless told not
// to; later versions have it with an s.
const chatPath = "/api/v1/agents/chat/completion"

// turn is one question to a session, as a request asks it.
type turn struct {
	agent   store.Canvas
	session store.Session
	job     runs.Job
	stream  bool
	traced  bool
	bare    bool // it answers the visitor of an embedding page, see embed.go
}

// readTurn reads what all completions have in common. The session is found or
// made before anything is run.
func (c *call) readTurn(agent store.Canvas, source string, stream bool) (*turn, error) {
	t := &turn{agent: agent, stream: c.flag("stream", stream), traced: c.flag("return_trace", false)}
	query, inputs, files := c.question(), c.object("inputs"), c.list("files")
	user, id, name, release := c.text("user_id"), c.text("session_id"), c.text("name"), c.release()
	if err := c.valid(); err != nil {
		return nil, err
	}
	var err error
	if id != "" {
		t.session, err = c.session(agent.ID, id)
	} else {
		if user == "" {
			user = c.who.user
		}
		if name == "" {
			text := []rune(query.Text())
			name = string(text[:min(len(text), 250)])
		}
		if agent, err = c.chosen(agent, release); err != nil {
			return nil, err
		}
		t.session, err = c.newSession(agent, user, name, source, false)
	}
	if err != nil {
		return nil, err
	}
	t.job = runs.Job{
		Tenant: c.who.tenant, Canvas: agent.ID, Session: t.session.ID, User: t.session.User, Source: sourceAPI, Caller: c.who.rateID,
		Keep: runs.KeepSession, Query: query, Inputs: inputs, Files: c.ownFiles(files),
	}
	return t, nil
}

// question is what a body asks: query, or question when there is none.
func (c *call) question() engine.Value {
	name := "query"
	v := c.body.Get(name)
	if v.IsNull() {
		name = "question"
		v = c.body.Get(name)
	}
	switch v.Kind() {
	case engine.KindNull:
		return engine.String("")
	case engine.KindObject, engine.KindList:
		c.mismatch(name, "text", v)
	}
	return v
}

// start accepts the turn's run.
func (c *call) start(t *turn) error {
	j, err := c.startRun(t.job)
	if errors.Is(err, store.ErrNotFound) {
		return failed(codeData, "Agent not found.")
	}
	t.job, t.agent.DSL, t.session = j, nil, store.Session{ID: t.session.ID, Source: t.session.Source} // a stream may last
	return err
}

// complete is the older completion of one agent. In the 0.27 dialect its path
// is another name of the newer one.
func (a *API) complete(c *call) error {
	if c.newer() {
		return c.chatWith(c.params["id"])
	}
	agent, err := c.canvas(c.params["id"], failed(codeData, "You don't own the agent %s", c.params["id"]))
	if err != nil {
		return err
	}
	t, err := c.readTurn(agent, sourceAgent, true)
	if err != nil {
		return err
	}
	return c.answerTurn(t)
}

// chat is the completion of the 0.27 dialect.
func (a *API) chat(c *call) error {
	id := c.text("agent_id")
	if id == "" {
		return refused(codeArgument, "`agent_id` is required.")
	}
	return c.chatWith(id)
}

func (c *call) chatWith(id string) error {
	c.asOpenAI = c.flag("openai-compatible", false)
	agent, err := c.canvas(id, refused(codeOperating, notAccess))
	if err != nil {
		return err
	}
	if c.asOpenAI {
		return c.answerOpenAI(agent)
	}
	t, err := c.readTurn(agent, sourceWorkflow, strings.HasSuffix(c.route.path, chatPath))
	if err != nil {
		return err
	}
	return c.answerTurn(t)
}

func (c *call) answerTurn(t *turn) error {
	if err := c.start(t); err != nil {
		return err
	}
	if !t.stream {
		return c.answerWhole(t)
	}
	return c.stream(t.job, c.turnFace(t))
}

// plainTurn says that a turn shows messages and forms, not the course of the
// run: those of sessions that a client of the 0.27 dialect made by itself.
func (c *call) plainTurn(t *turn) bool {
	return c.newest() && t.session.Source == sourceAgent && t.job.Source == sourceAPI
}

// newest says that the request is made as the 0.27 dialect makes it.
func (c *call) newest() bool { return c.newer() || strings.HasPrefix(c.route.path, chatPath) }

// turnFace is how a completion streams. Older clients read data.content of
// every frame, so they get messages only, unless they ask for the trace.
func (c *call) turnFace(t *turn) face {
	f := face{session: t.session.ID, done: true, broke: errorMessage}
	newer := c.newest()
	if !newer || t.session.Source == sourceAgent {
		f.shows = func(e engine.EventType) bool {
			switch e {
			case engine.EventMessage, engine.EventMessageEnd, engine.EventUserInputs:
				return true
			case engine.EventNodeFinished:
				return newer || t.traced
			case engine.EventWorkflowFinished:
				return newer
			}
			return false
		}
	}
	tr := &trail{}
	if newer && !t.traced && f.shows == nil {
		return f
	}
	f.alters = func(e engine.EventType) bool {
		return e == engine.EventNodeFinished && t.traced || e == engine.EventUserInputs && !newer ||
			e == engine.EventWorkflowFinished && f.shows != nil
	}
	f.change = func(r runlog.Record) engine.Value {
		switch engine.EventType(r.Kind) {
		case engine.EventNodeFinished:
			return f.frame(tr.add(document(r.Data)))
		case engine.EventUserInputs:
			// A client that reads content of every frame shows the tips.
			d := runs.Facts(r).Data
			return f.frame(document(r.Data).With("data", d.With("content", d.Get("tips"))))
		default:
			// Of the end of the run, sessions tell what it cost, if it did.
			usage := runs.Facts(r).Usage
			if usage.IsNull() {
				return engine.Null
			}
			return f.frame(document(r.Data).With("data", engine.Object("usage", usage)))
		}
	}
	return f
}

// errorMessage tells of a failed run in a frame that every client can read.
func errorMessage(end runs.End, like engine.Value) engine.Value {
	return like.With("event", engine.String(string(engine.EventMessage))).
		With("data", engine.Object("content", "**ERROR**: "+end.Error))
}

// trail is what nodes or tools did: [{component_id, trace: [entry, ...]}].
type trail struct{ nodes []engine.Value }

// add notes a node that has finished, and gives its event with all that were
// noted; a node that runs again is noted again.
func (t *trail) add(e engine.Value) engine.Value {
	d := e.Get("data")
	t.nodes = append(t.nodes, engine.Object("component_id", d.Get("component_id"), "trace", engine.List(d)))
	return e.With("data", d.With("trace", t.value()))
}

// group adds an entry to those of its component.
func (t *trail) group(id, entry engine.Value) {
	for i, n := range t.nodes {
		if n.Get("component_id").Str() == id.Str() {
			t.nodes[i] = n.With("trace", n.Get("trace").Append(entry))
			return
		}
	}
	t.nodes = append(t.nodes, engine.Object("component_id", id, "trace", engine.List(entry)))
}

func (t *trail) value() engine.Value { return engine.List(append([]engine.Value(nil), t.nodes...)...) }

// structuredKey is in the JSON of each event whose node has an output of this name.
var structuredKey = []byte(`"structured"`)

// answerWhole waits for the end and answers the last event, with everything
// that was said as its content.
func (c *call) answerWhole(t *turn) error {
	tr := &trail{}
	structured := engine.NewObject(2)
	said, end, err := c.gather(t.job.ID, func(kind engine.EventType, data []byte) {
		if kind != engine.EventNodeFinished {
			return
		}
		if t.bare || !t.traced && !bytes.Contains(data, structuredKey) {
			return
		}
		e := document(data)
		if t.traced {
			tr.add(e)
		}
		if s := e.Get("data").Get("outputs").Get("structured"); s.Truthy() {
			structured.Set(e.Get("data").Get("component_id").Str(), s)
		}
	})
	if err != nil {
		return err
	}
	if t.bare {
		end = bareEnd(end)
	}
	if end.Status == store.RunFailed {
		v := engine.Object("session_id", t.session.ID, "data", engine.Object("content", "**ERROR**: "+end.Error))
		return &failure{code: codeException, message: end.Error, data: v, hasData: true}
	}
	ended := said.Last()
	last := ended
	if asked := said.Asked(); c.plainTurn(t) && !asked.IsNull() {
		last = asked
	}
	if last.IsNull() {
		return c.result(engine.Object("session_id", t.session.ID))
	}
	if t.bare {
		last, ended, t.traced = bareEvent(engine.EventType(last.Get("event").Str()), last), engine.Null, false
	}
	ref := said.Reference()
	if ref.IsNull() {
		ref = engine.Object()
	}
	d := last.Get("data").With("content", engine.String(said.Deltas.String())).With("reference", ref)
	if usage := ended.Get("data").Get("usage"); !usage.IsNull() {
		d = d.With("usage", usage)
	}
	if t.traced {
		d = d.With("trace", tr.value())
	}
	if structured.Len() > 0 {
		d = d.With("structured", structured.Value())
	}
	return c.result(last.With("data", d).With("session_id", engine.String(t.session.ID)))
}
