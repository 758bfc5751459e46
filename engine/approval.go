package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrRejected means that a person refused to let a node run; its error handler applies.
var ErrRejected = errors.New("rejected by a person")

// Words of the answer to an approval.
const (
	ApprovalYes = "yes"
	ApprovalNo  = "no"
)

// approvalPrefix begins the names of the fields of approvals, so that they differ from those of
// forms.
const approvalPrefix = "approval:"

// ArgumentsSuffix ends the name of the field with which a person changes the arguments.
const ArgumentsSuffix = ":arguments"

// Ask is a call of a tool that a model asked for.
type Ask struct {
	Tool      string // as the model knows it
	Arguments Value
	Schema    Value // JSON Schema of the arguments
	Approval  bool  // a person is asked first
}

// needsApproval reports whether a node, or a tool under the name that the model knows, may only run
// when a person agrees: by its param, or by a name in the settings or the options.
func (o *Options) needsApproval(n *node, names ...string) bool {
	if n != nil && n.common.Approval {
		return true
	}
	if len(o.Approval) == 0 {
		return false
	}
	if n != nil {
		names = append(names, n.id, n.spec.Name)
	}
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(o.Approval, name) })
}

// ToolNeedsApproval reports whether a person has to agree to a call of a tool. The component is nil
// for other tools.
func (c *Call) ToolNeedsApproval(t *BoundTool, names ...string) bool {
	if t == nil {
		return c.run.opt.needsApproval(nil, names...)
	}
	return c.run.opt.needsApproval(t.node, append(names, t.Name)...)
}

// MaySuspend reports whether this execution may wait for a person before it ends. It cannot stream
// then, because text that was sent cannot be withdrawn.
func (c *Call) MaySuspend() bool {
	return c.root().tape != nil
}

// maySuspend reports whether a node or one of its tools may wait for a person, whatever the options
// say.
func (n *node) maySuspend() bool {
	if s, ok := n.comp.(Suspender); ok && s.MaySuspend() {
		return true
	}
	return slices.ContainsFunc(n.tools, func(t *node) bool { return t.common.Approval || t.maySuspend() })
}

// attach prepares an execution that may wait for a person, and restores the state of its last wait.
func (r *run) attach(call *Call) {
	n := call.node
	if s := r.suspendedAt(n.index); s != nil {
		call.asked, call.resumed = s.fields, s.state
	}
	if n.suspends || n.toolUser && len(r.opt.Approval) > 0 {
		call.tape = newTape(call.resumed)
	}
}

// approvalFields ask whether something may run with its arguments. The member approval of the first
// field is for programs.
func approvalFields(name, node, tool string, args, schema Value) Value {
	title := tool
	if title == "" {
		title = node
	}
	return Object(
		name, Object("name", "Allow "+title+"?", "type", "options", "optional", false,
			"options", Strings(ApprovalYes, ApprovalNo), "value", "",
			"approval", Object("component_id", node, "tool_name", tool, "arguments", args, "schema", schema)),
		name+ArgumentsSuffix, Object("name", "Arguments of "+title, "type", "paragraph", "optional", true,
			"value", args.JSON()))
}

// approved returns the arguments that a person approved for a tool. The error is a *Suspension
// before there is an answer.
func (c *Call) approved(t *Ask, key string) (Value, error) {
	name := approvalPrefix + c.root().id + key
	if field := c.root().asked.Get(name); !field.IsNull() {
		return answerTo(name, field, c.run.in.Inputs)
	}
	return Null, &Suspension{
		Fields: approvalFields(name, c.root().id, t.Tool, t.Arguments, t.Schema),
		Tips:   "A tool needs your approval.",
	}
}

// answerTo reads the answer of a person to an approval.
func answerTo(name string, field, inputs Value) (Value, error) {
	args := field.Get("approval").Get("arguments")
	if decision(answer(inputs, name)) != ApprovalYes {
		return Null, ErrRejected
	}
	edited, err := editedArguments(answer(inputs, name+ArgumentsSuffix))
	if err != nil || edited.IsNull() {
		return args, err
	}
	return edited, nil
}

// decision returns yes, no or, for any other answer, "".
func decision(v Value) string {
	if v.Kind() == KindBool {
		if v.True() {
			return ApprovalYes
		}
		return ApprovalNo
	}
	switch text := strings.ToLower(strings.TrimSpace(v.Text())); text {
	case ApprovalYes, ApprovalNo:
		return text
	}
	return ""
}

// editedArguments reads arguments that a person changed: an object, or its JSON; null when
// unchanged.
func editedArguments(v Value) (Value, error) {
	if v.Kind() == KindString {
		if strings.TrimSpace(v.Str()) == "" {
			return Null, nil
		}
		parsed, err := ParseJSONText(v.Str())
		if err != nil {
			return Null, fmt.Errorf("arguments: %w", err)
		}
		v = parsed
	}
	if k := v.Kind(); k != KindObject && k != KindNull {
		return Null, fmt.Errorf("arguments: is a %s; expected an object", k)
	}
	return v, nil
}

// approvalProblem returns the error of an invalid answer to an approval, or nil. Fields of other
// forms are always valid.
func approvalProblem(name string, field, inputs Value) error {
	ask := field.Get("approval")
	if ask.IsNull() {
		return nil
	}
	if v := answer(inputs, name); decision(v) == "" {
		return fmt.Errorf("%s is %s; expected yes or no", field.Get("name").Text(), brief(v.JSON()))
	}
	if decision(answer(inputs, name)) == ApprovalNo {
		return nil
	}
	args, err := editedArguments(answer(inputs, name+ArgumentsSuffix))
	if err == nil && !args.IsNull() {
		err = CheckSchema("arguments", args, ask.Get("schema"))
	}
	return err
}

// askNode returns the approval of a node that has not begun. Its arguments are the values that its
// params refer to and, for a tool, its arguments as far as they are set in the params.
func (f *forms) askNode(n *node) *suspended {
	args, properties := NewObject(4), NewObject(4)
	add := func(name string, v Value) {
		args.Set(name, v)
		if v.IsNull() {
			properties.Set(name, emptyObject)
			return
		}
		properties.Set(name, Object("type", v.Kind().String()))
	}
	if n.spec.Tool != nil {
		for _, a := range n.spec.Tool.Args {
			v := n.params.Get(a.Name)
			if ref := ParseRef(strings.Trim(v.Str(), "{}")); v.Kind() == KindString && !ref.IsZero() {
				if x, _, err := f.st.lookup(&ref); err == nil && x.Stream() == nil {
					v = x
				}
			}
			if !v.IsNull() {
				add(a.Name, v)
			}
		}
	}
	for _, ref := range n.refs {
		if v, _, err := f.st.lookup(ref); err == nil && v.Stream() == nil {
			add(ref.Expr, v)
		}
	}
	schema := Object("type", "object", "properties", properties.Value(), "additionalProperties", false)
	name := n.name
	if name == "" {
		name = n.spec.Name
	}
	fields := approvalFields(approvalPrefix+n.id, n.id, "", args.Value(), schema)
	return &suspended{node: n.index, fields: f.redact(fields), tips: name + " needs your approval."}
}

// begin reads a person's answer before the execution. The error is a refusal.
func (c *execution) begin() error {
	name := approvalPrefix + c.id
	field := c.asked.Get(name)
	if !c.resumed.IsNull() || field.IsNull() {
		return nil
	}
	inputs := c.run.in.Inputs
	args, err := answerTo(name, field, inputs)
	if err == nil && !answer(inputs, name+ArgumentsSuffix).IsNull() {
		c.args, c.edited = args, true
	}
	return err
}
