package enginetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/easel-canvas/easel/engine"
)

// OutsideCall is one call outside the engine with its answer: of a component behind engine.Tools,
// of a tool of an MCP server, or a request behind engine.HTTP.
type OutsideCall struct {
	Component string // of a call behind engine.Tools; Invoke for a request behind engine.HTTP
	Server    string // of an MCP server: its id, or its address
	Name      string // of the tool of that server
	Arguments engine.Value
	Result    engine.Value // outputs of a component, or the text of a tool
	Error     string       // instead of Result
	Final     bool         // the error is one that another try cannot change
}

// callee names the called component, tool or address.
func (c *OutsideCall) callee() string {
	if c.Component != "" {
		return c.Component
	}
	return c.Name + " of " + c.Server
}

// request returns the call without its answer.
func (c *OutsideCall) request() *engine.ObjectBuilder {
	b := engine.NewObject(5)
	if c.Component != "" {
		b.Set("component", engine.String(c.Component))
	} else {
		b.Set("server", engine.String(c.Server)).Set("name", engine.String(c.Name))
	}
	return b.Set("arguments", c.Arguments)
}

// value returns the call as cases write it: {component, or server and name, arguments, result or
// error}.
func (c *OutsideCall) value() engine.Value {
	b := c.request()
	if c.Error == "" {
		return b.Set("result", c.Result).Value()
	}
	b.Set("error", engine.String(c.Error))
	if c.Final {
		b.Set("final", engine.Bool(true))
	}
	return b.Value()
}

func readOutsideCall(v engine.Value) (OutsideCall, error) {
	c := OutsideCall{
		Component: v.Get("component").Str(), Server: v.Get("server").Str(), Name: v.Get("name").Str(),
		Arguments: v.Get("arguments"), Result: v.Get("result"),
		Error: v.Get("error").Str(), Final: v.Get("final").True(),
	}
	if (c.Component == "") == (c.Server == "" || c.Name == "") {
		return c, errors.New("expected component, or server and name")
	}
	return c, nil
}

// setError stores an error in the form of the tape.
func (c *OutsideCall) setError(err error) {
	c.Error, c.Final = err.Error(), errors.Is(err, engine.ErrNoRetry)
}

// answer returns the recorded answer as the results of a port.
func (c *OutsideCall) answer() (engine.Value, error) {
	switch {
	case c.Error == "":
		return c.Result, nil
	case c.Final:
		return engine.Null, finalError(c.Error)
	}
	return engine.Null, errors.New(c.Error)
}

// finalError is an error that another try cannot change.
type finalError string

func (e finalError) Error() string { return string(e) }
func (e finalError) Unwrap() error { return engine.ErrNoRetry }

// outsideAnswers answers calls of tools from a case. A call takes the first unused answer to the
// same call; one that repeats the idempotency key of another is a repetition of it.
type outsideAnswers struct {
	calls   []OutsideCall
	servers engine.Value // MCP server -> [{name, description, parameters}]

	mu    sync.Mutex
	used  []bool
	asked []engine.Value // requests, in the order they were made
	taken []int          // index of the answer to each; -1 without one
	cuts  repetitions    // of calls without a key
	given map[string]int // index of the answer, by idempotency key
}

func (a *outsideAnswers) take(ctx context.Context, key string, c OutsideCall) (engine.Value, error) {
	if err := ctx.Err(); err != nil {
		return engine.Null, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if i, again := a.given[key]; again && key != "" {
		return a.calls[i].answer()
	}
	request, others := c.request().Value(), []string(nil)
	if key == "" {
		if place, again := a.cuts.take(request, a.asked); again && a.taken[place] >= 0 {
			return a.calls[a.taken[place]].answer()
		}
	}
	a.asked, a.taken = append(a.asked, request), append(a.taken, -1)
	if a.used == nil {
		a.used, a.given = make([]bool, len(a.calls)), map[string]int{}
	}
	for i := range a.calls {
		if engine.Equal(a.calls[i].request().Value(), request) && !a.used[i] {
			a.used[i], a.given[key], a.taken[len(a.taken)-1] = true, i, i
			return a.calls[i].answer()
		}
		if a.calls[i].callee() == c.callee() && !a.used[i] {
			others = append(others, short(a.calls[i].Arguments))
		}
	}
	text := c.callee() + ": no answer is recorded for the arguments " + short(c.Arguments)
	if len(others) > 0 {
		text += "; recorded and not used are " + strings.Join(others, ", ")
	}
	return engine.Null, finalError(text)
}

// requests returns the calls so far.
func (a *outsideAnswers) requests() []engine.Value {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.asked)
}

// answeredTools is the port Tools of a case.
type answeredTools struct{ *outsideAnswers }

func (a answeredTools) CallTool(ctx context.Context, c *engine.ExternalCall) (engine.Value, error) {
	return a.take(ctx, c.Key, componentCall(c))
}

// componentCall returns a call behind engine.Tools, without marks of secrets.
func componentCall(c *engine.ExternalCall) OutsideCall {
	unmarked := func(text string) string { return engine.UnmarkSecrets(text, c.SecretMark) }
	return OutsideCall{Component: c.Component, Arguments: c.Arguments.MapStrings(unmarked)}
}

// answeredMCP is the port MCP of a case.
type answeredMCP struct{ *outsideAnswers }

func (a answeredMCP) ListTools(_ context.Context, server *engine.MCPServer) ([]engine.ToolDef, error) {
	list, ok := a.servers.Lookup(serverName(server))
	if !ok {
		return nil, fmt.Errorf("MCP server %q: its tools are not recorded", serverName(server))
	}
	defs := make([]engine.ToolDef, list.Len())
	for i, d := range list.Elements() {
		defs[i] = engine.ToolDef{
			Name: d.Get("name").Str(), Description: d.Get("description").Str(), Parameters: d.Get("parameters"),
		}
	}
	return defs, nil
}

func (a answeredMCP) CallTool(
	ctx context.Context, server *engine.MCPServer, name string, arguments engine.Value,
) (engine.ToolAnswer, error) {
	v, err := a.take(ctx, "", OutsideCall{Server: serverName(server), Name: name, Arguments: arguments})
	if v.Kind() == engine.KindObject { // an answer with files
		return engine.ReadToolAnswer(v), err
	}
	return engine.ToolAnswer{Result: engine.String(v.Str())}, err
}

// serverName names a server in a case: its id, or its address where it has none.
func serverName(s *engine.MCPServer) string {
	if s.ID != "" {
		return s.ID
	}
	return s.URL
}

// toolCalls compares calls of tools in any order. A call with other arguments is compared with the
// expected one of the same tool, so that the difference names the argument.
func (d *differences) toolCalls(want, seen engine.Value, where string) {
	left := seen.Slice()
	var missing []engine.Value
	for _, w := range want.Elements() {
		i := slices.IndexFunc(left, func(s engine.Value) bool { return engine.Equal(w, s) })
		if i < 0 {
			missing = append(missing, w)
			continue
		}
		left = slices.Delete(slices.Clone(left), i, i+1)
	}
	for _, w := range missing {
		i := slices.IndexFunc(left, func(s engine.Value) bool {
			return engine.Equal(w.Without("arguments"), s.Without("arguments"))
		})
		if i < 0 {
			d.add("%s: tool calls: expected %s, saw none", where, short(w))
			continue
		}
		callee := w.Get("component").Str() + w.Get("name").Str()
		d.value(w.Get("arguments"), left[i].Get("arguments"), where+": tool call "+callee+": arguments")
		left = slices.Delete(slices.Clone(left), i, i+1)
	}
	for _, s := range left {
		d.add("%s: tool calls: one too many: %s", where, short(s))
	}
}
