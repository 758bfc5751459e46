package component

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/easel-canvas/easel/engine"
)

var variableAssignerSpec = engine.Spec{
	Name:  "VariableAssigner",
	Title: "Set variables", Search: []string{"set", "counter", "state", "赋值"},
	Category: engine.CategoryData, Icon: "assign",
	Doc:      "Changes variables: of the session, of a loop, or outputs of other nodes.",
	New:      func() engine.Component { return new(VariableAssigner) },
	Inline:   true,
	Thoughts: "Assigning variables.",
}

// VariableAssigner changes variables in order.
//
// In and out: none; see Assignment. A variable that does not exist is an error. If an operator does
// not apply to the values, it assigns a text that starts with "ERROR:" and logs a warning.
//
// Source: RAGFlow agent/component/variable_assigner.py at 80a16e71 (behaviour only). Differs: lists
// are never changed in place; clear makes a boolean false; a nested path sets exactly that path.
type VariableAssigner struct {
	Variables []Assignment `json:"variables" label:"Changes" doc:"carried out in this order" want:"Add a change, or the step does nothing."`
}

// Assignment is one change of a variable.
type Assignment struct {
	Variable  engine.Ref   `json:"variable" label:"Variable" doc:"what changes; with a path only that member"`
	Operator  string       `json:"operator" label:"Operation" doc:"what is done with the variable" ops:"assign,of=variable"`
	Parameter engine.Value `json:"parameter" label:"Value" doc:"the new value, the element or list to add, or the number" shape:"overwrite, append, extend: a reference; set: a value, or a text with references; arithmetic: a number" widget:"value" ops:",of=variable" right:"operator"`

	given bool        // the parameter is set, even if null
	from  engine.Ref  // parameter as a reference
	text  engine.Text // parameter as a text
}

// Init compiles the parameters.
func (a *VariableAssigner) Init(s *engine.Setup) error {
	for i := range a.Variables {
		x := &a.Variables[i]
		x.Operator = assignOperators.stored(x.Operator)
		_, x.given = s.Params.Get("variables").At(i).Lookup("parameter")
		if x.Parameter.Kind() != engine.KindString {
			continue
		}
		if x.takesReference() {
			x.from = engine.ParseRef(x.Parameter.Str())
		} else if x.Operator == "set" {
			x.text = s.Text(x.Parameter.Str())
		}
	}
	return nil
}

// incomplete returns the name of the missing field, or "". An unknown operator needs no parameter:
// it assigns null.
func (x *Assignment) incomplete() string {
	switch {
	case x.Variable.IsZero() || x.Operator == "":
		return "a variable and an operator"
	case x.takesReference() && x.Parameter.IsNull(), !x.given && slices.Contains(valued, x.Operator):
		return "a parameter for " + x.Operator
	}
	return ""
}

// valued are the operators with a value.
var valued = []string{"set", "+=", "-=", "*=", "/="}

func (x *Assignment) takesReference() bool {
	return x.Operator == "overwrite" || x.Operator == "append" || x.Operator == "extend"
}

// Warnings reports operators that do not exist.
func (a *VariableAssigner) Warnings() (list []engine.Diagnostic) {
	for i := range a.Variables {
		if operator := a.Variables[i].Operator; operator != "" {
			list = wrongOperator(list, "variables["+strconv.Itoa(i)+"].operator",
				assignOperators.check("operator", operator))
		}
	}
	return list
}

// References returns the references in the parameters.
func (a *VariableAssigner) References() []engine.Ref {
	var refs []engine.Ref
	for i := range a.Variables {
		if x := &a.Variables[i]; x.takesReference() && !x.from.IsZero() {
			refs = append(refs, x.from)
		}
		refs = append(refs, a.Variables[i].text.Refs()...)
	}
	return refs
}

// Writes returns the variables that change.
func (a *VariableAssigner) Writes() []engine.Ref {
	refs := make([]engine.Ref, len(a.Variables))
	for i := range a.Variables {
		refs[i] = a.Variables[i].Variable
	}
	return refs
}

// Run applies the assignments. Each sees the previous ones.
func (a *VariableAssigner) Run(ctx context.Context, call *engine.Call) error {
	for i := range a.Variables {
		x := &a.Variables[i]
		if missing := x.incomplete(); missing != "" {
			return fmt.Errorf("variables[%d] is incomplete; expected %s", i, missing)
		}
		old, err := call.Resolve(ctx, &x.Variable)
		if err != nil {
			return err
		}
		v, err := x.apply(ctx, call, old)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", x.Variable.String(), x.Operator, err)
		}
		if err := call.Set(ctx, &x.Variable, v); err != nil {
			return err
		}
	}
	return nil
}

var (
	_ engine.Component   = (*VariableAssigner)(nil)
	_ engine.Initializer = (*VariableAssigner)(nil)
	_ engine.Referrer    = (*VariableAssigner)(nil)
	_ engine.Writer      = (*VariableAssigner)(nil)
	_ engine.Warner      = (*VariableAssigner)(nil)
)
