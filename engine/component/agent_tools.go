package component

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// agentTool is something an agent may call, under the name the model sees.
type agentTool struct {
	def      engine.ToolDef
	bound    *engine.BoundTool // nil for a tool of an MCP server
	server   *remoteServer     // MCP server
	remote   string            // the tool's name there
	approval bool              // a person has to agree to each call
	gone     bool              // removed at the server: not offered, and calls are errors
}

// toolset is the tools of an agent in one execution.
type toolset []agentTool

// definer is a component that describes itself as a tool in each execution.
type definer interface {
	Define(ctx context.Context, call *engine.Call, def engine.ToolDef) engine.ToolDef
}

// named is a component whose name as a tool differs from that in its Spec.
type named interface{ ToolName() string }

// bindTools compiles the tools of the canvas. Their position is part of their name, so that two of
// a kind differ.
func (a *Agent) bindTools(s *engine.Setup) error {
	if k := a.Tools.Kind(); k != engine.KindList && k != engine.KindNull {
		return s.Fail("tools", a.Tools, "is a "+k.String()+"; expected a list of {component_name, name, params}")
	}
	for i, entry := range a.Tools.Elements() {
		kind := entry.Get("component_name")
		if kind.Kind() != engine.KindString {
			return s.Fail("tools["+strconv.Itoa(i)+"].component_name", kind,
				"is missing; expected the name of a component")
		}
		bound, err := s.BindTool(kind.Str(), entry.Get("name").Str(), entry.Get("params"))
		if err != nil {
			return err
		}
		a.tools = append(a.tools, agentTool{def: defineBound(bound, i), bound: bound})
	}
	if k := a.CustomHeader.Kind(); k != engine.KindObject && a.CustomHeader.Truthy() {
		return s.Fail("custom_header", a.CustomHeader, "is a "+k.String()+"; expected an object {name: value}")
	}
	a.bindServers()
	return nil
}

// Warnings lists the tools that will fail when the model calls them.
func (a *Agent) Warnings() []engine.Diagnostic {
	var list []engine.Diagnostic
	for _, t := range a.tools {
		if t.bound == nil {
			continue
		}
		prefix := "tool " + t.bound.Name + ": "
		if err := t.bound.Err(); err != nil {
			message := prefix + err.Error()
			list = append(list, engine.Diagnostic{Code: engine.CodeBadParam, Param: "tools", Message: message})
			continue
		}
		if t.bound.Spec.Tool == nil {
			list = append(list, engine.Diagnostic{
				Severity: engine.SeverityError, Code: engine.CodeBadParam, Param: "tools",
				Message: prefix + notTool(t.bound),
			})
		}
		if w, ok := t.bound.Component().(engine.Warner); ok {
			for _, d := range w.Warnings() {
				if d.Param != "" {
					d.Message = d.Param + ": " + d.Message
				}
				list = append(list, engine.Diagnostic{
					Severity: d.Severity, Code: d.Code, Param: "tools", Message: prefix + d.Message,
				})
			}
		}
	}
	return list
}

// defineBound describes a component for models.
func defineBound(t *engine.BoundTool, index int) engine.ToolDef {
	function := strings.ToLower(t.Spec.Name)
	def := engine.ToolDef{
		Description: t.Description(),
		Parameters:  engine.Object("type", "object", "properties", engine.Object()),
	}
	if t.Spec.Tool != nil {
		function, def.Parameters = t.Spec.Tool.Function, t.Spec.Tool.Parameters()
	}
	switch c := t.Component().(type) {
	case *Agent:
		function = strings.ReplaceAll(t.Name, " ", "_")
		if c.UserPrompt != "" {
			def.Parameters = engine.Put(def.Parameters, []string{"properties", "user_prompt", "default"},
				engine.String(c.UserPrompt))
		}
	case named:
		if name := c.ToolName(); name != "" {
			function = name
		}
	}
	def.Name = function + "_" + strconv.Itoa(index)
	return def
}

func (s toolset) find(name string) *agentTool {
	for i := range s {
		if s[i].def.Name == name {
			return &s[i]
		}
	}
	return nil
}

// defs describe the tools to the model.
func (s toolset) defs() []engine.ToolDef {
	defs := make([]engine.ToolDef, 0, len(s))
	for i := range s {
		if !s[i].gone {
			defs = append(defs, s[i].def)
		}
	}
	return defs
}

// toolCall is one call a model asked for.
type toolCall struct {
	name string
	args engine.Value
	bad  error // the call cannot be made; reported to the model
}

// run makes all calls of a round concurrently, as far as the run has slots. Answers are in the
// order of the calls, errors as text; the calls are recorded in use_tools. The only error is that
// the run was cancelled.
func (t *task) run(ctx context.Context, calls []toolCall) ([]engine.ToolAnswer, error) {
	for i, c := range calls {
		if err := t.allow(&calls[i]); err != nil {
			return nil, fmt.Errorf("tool %s: %w", c.name, err)
		}
	}
	answers := make([]engine.ToolAnswer, len(calls))
	errs := t.call.Beside(ctx, len(calls), func(ctx context.Context, i int) (err error) {
		answers[i], err = t.callWithin(ctx, calls[i])
		return err
	})
	for i, err := range errs {
		if err != nil {
			answers[i].Result = engine.String(err.Error())
		}
	}
	if err := engine.JoinSuspensions(errs); err != nil && t.call.Canceled() == nil {
		return nil, err
	}
	for i, c := range calls {
		if c.bad == nil && t.tools.find(c.name) != nil {
			t.made = append(t.made, answers[i].Files...)
			t.used = append(t.used, engine.Object("name", c.name, "arguments", c.args, "results", answers[i].Result))
		}
	}
	if len(t.used) > 0 {
		t.call.Out("use_tools", engine.List(t.used...))
	}
	if err := t.call.Canceled(); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(errs, isStopped) {
		return nil, engine.ErrCanceled
	}
	size := int64(0)
	for _, a := range answers {
		size += a.Result.Size()
	}
	if err := t.call.CheckSize(size); err != nil {
		return nil, fmt.Errorf("results of tools: %w", err)
	}
	return answers, ctx.Err()
}

// callOne makes one call.
func (t *task) callOne(ctx context.Context, c toolCall) (answer engine.ToolAnswer, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("tool %s: panic: %v", c.name, p)
		}
	}()
	tool := t.tools.find(c.name)
	switch {
	case c.bad != nil:
		return answer, c.bad
	case tool == nil:
		return answer, fmt.Errorf("LLM tool %s does not exist", c.name)
	case tool.bound == nil:
		return t.callRemote(ctx, tool, c)
	case tool.bound.Spec.Tool == nil:
		return answer, errors.New(notTool(tool.bound))
	}
	return t.call.CallTool(ctx, tool.bound, c.name, c.args)
}

// notTool returns the problem of a component that models cannot call.
func notTool(t *engine.BoundTool) string { return t.Spec.Name + " cannot be used as a tool" }

// readArguments accepts an object, or its JSON text.
func readArguments(v engine.Value) (engine.Value, error) {
	if v.Kind() == engine.KindString {
		if strings.TrimSpace(v.Str()) == "" {
			return engine.Object(), nil
		}
		parsed, err := readLooseJSON(v.Str())
		if err != nil {
			return engine.Null, fmt.Errorf("arguments: %w", err)
		}
		v = parsed
	}
	if v.Kind() != engine.KindObject {
		return engine.Null, errors.New("arguments is a " + v.Kind().String() + "; expected an object")
	}
	return v, nil
}
