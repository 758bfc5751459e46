package component

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/easel-canvas/easel/engine"
)

var loopSpec = engine.Spec{
	Ignores:  []string{maxConcurrency},
	Name:     "Loop",
	Declares: engine.DeclaresCollected,
	Title:    "Loop", Search: []string{"while", "until", "repeat", "counter", "直到"},
	Category: engine.CategoryFlow, Icon: "loop",
	Doc: "Repeats its body until its conditions hold or a maximum is reached; with items, once for each item.",
	New: func() engine.Component { return new(Loop) },
	Outputs: []engine.Field{
		{Name: "*", Type: "any", Doc: "each loop variable; a VariableAssigner in the body changes it"},
	},
	Inline:   true,
	Thoughts: "Running a loop.",
}

var loopItemSpec = engine.Spec{
	Name:  "LoopItem",
	Title: "Each turn", Search: []string{"element", "元素"},
	Category: engine.CategoryFlow, Icon: "enter", Label: "each turn",
	Doc: "Starts each turn of a Loop's body.",
	New: func() engine.Component { return new(LoopItem) },
	Outputs: []engine.Field{
		{Name: "item", Type: "any", Doc: "the element, in a Loop with items"},
		{Name: "index", Type: "number", Doc: "its index from 0, in a Loop with items"},
	},
	Inline:   true,
	Thoughts: "Checking whether to repeat.",
}

// Loop repeats its body.
//
// In: the initial values of its variables. Out: the variables.
//
// The conditions are tested before each turn, including the first. Without conditions the loop runs
// to its maximum, but an explicit "and" ends it immediately, as in the original; so does a maximum
// of 0.
//
// Source: RAGFlow agent/component/loop.py and loopitem.py at 80a16e71 (behaviour only). Differs:
// booleans compare as themselves; a condition that cannot be tested is an error of the LoopItem;
// with items the Loop iterates over a list, as an Iteration does, and an ExitLoop ends only its own
// element.
type Loop struct {
	Variables       []LoopVariable  `json:"loop_variables" label:"Variables" doc:"values that the steps inside may change; also outputs of the loop"`
	Conditions      []LoopCondition `json:"loop_termination_condition" label:"Stop when" doc:"the loop ends when these rules hold" widget:"conditions" show:"!items"`
	LogicalOperator string          `json:"logical_operator" label:"Rules that must hold" doc:"how many rules must hold to end the loop" ops:"logic" show:"!items"`
	MaximumCount    int             `json:"maximum_loop_count" label:"Turns at most" doc:"the loop ends after so many turns; with 0 no turn runs" show:"!items" unit:"turns"`
	Items           engine.Expr     `json:"items" label:"List" doc:"runs once per element, without end conditions" section:"advanced" widget:"prompt"`
	ItemOptions

	collected []collected
}

// LoopVariable is one variable of a Loop.
type LoopVariable struct {
	Variable  string       `json:"variable" label:"Name" doc:"name of the variable" output:"type"`
	InputMode string       `json:"input_mode" label:"Starts with" doc:"where the first value comes from" shape:"constant, variable or anything else for the empty value of the type" widget:"select" offer:"constant=Value|variable=From a step|=Empty" hidden:"true"`
	Type      string       `json:"type" label:"Type" doc:"type of the values" shape:"number, string, boolean, object or array<...>" widget:"select" offer:"string=Text|number=Number|boolean=Yes/no|object=Object|array<string>=List of texts|array<number>=List of numbers|array<object>=List of objects"`
	Value     engine.Value `json:"value" label:"First value" doc:"value before the first turn" widget:"value" ops:",of=type" by:"input_mode"`
}

// Init reads the outputs to collect, and replaces synonyms of operators.
func (l *Loop) Init(s *engine.Setup) error {
	l.collected = collectedOutputs(s.Outputs)
	l.LogicalOperator = logicOperators.stored(l.LogicalOperator)
	for i := range l.Conditions {
		l.Conditions[i].Operator = loopOperators.stored(l.Conditions[i].Operator)
	}
	return l.readMax(s)
}

// References returns the references in variables and conditions, in fields of any type.
func (l *Loop) References() []engine.Ref {
	var refs []engine.Ref
	add := func(mode string, v engine.Value) {
		if mode == variableMode && v.Kind() == engine.KindString {
			refs = append(refs, engine.ParseRef(v.Str()))
		}
	}
	for i := range l.Variables {
		add(l.Variables[i].InputMode, l.Variables[i].Value)
	}
	for i := range l.Conditions {
		add(l.Conditions[i].InputMode, l.Conditions[i].Value)
	}
	return refs
}

// Input modes of a value.
const (
	constantMode = "constant"
	variableMode = "variable"
)

// Run sets the variables to their initial values.
func (l *Loop) Run(ctx context.Context, call *engine.Call) error {
	for i := range l.Variables {
		v := &l.Variables[i]
		if v.Variable == "" {
			continue
		}
		value, err := v.initial(ctx, call)
		if err != nil {
			return fmt.Errorf("loop variable %q: %w", v.Variable, err)
		}
		call.Out(v.Variable, value)
	}
	clearCollected(call, l.collected)
	if !l.overItems() {
		return nil
	}
	if _, err := l.items(ctx, call); err != nil || l.Inline() || call.Debugging() {
		return err
	}
	return l.run(ctx, call, l)
}

// Inline reports whether the body runs turn by turn, as part of the run itself.
func (l *Loop) Inline() bool { return !l.overItems() || l.inTurn() }

// Warnings reports operators that do not exist, a loop without turns, and params that count only
// for a list.
func (l *Loop) Warnings() []engine.Diagnostic {
	var list []engine.Diagnostic
	for i := range l.Variables {
		if mode := l.Variables[i].InputMode; mode != "" {
			list = wrongOperator(list, "loop_variables["+strconv.Itoa(i)+"].input_mode",
				inputModes.check("input_mode", mode))
		}
	}
	if l.overItems() {
		return list
	}
	list = wrongOperator(list, "logical_operator", l.checkLogic())
	for i := range l.Conditions {
		at := "loop_termination_condition[" + strconv.Itoa(i) + "]"
		list = wrongOperator(list, at+".input_mode", l.Conditions[i].checkMode())
		if operator := l.Conditions[i].Operator; operator != "" {
			list = wrongOperator(list, at+".operator", loopOperators.check("operator", operator))
		}
	}
	note := func(param, message string) {
		list = append(list, engine.Diagnostic{Code: engine.CodeBadParam, Param: param, Message: message})
	}
	switch {
	case l.MaximumCount <= 0:
		note("maximum_loop_count", "no turn runs with a maximum of 0; set the number of turns")
	case len(l.Conditions) == 0 && l.LogicalOperator == "and":
		note("loop_termination_condition", "no turn runs without an end condition and with logical_operator and; "+
			"add a condition, or use or to run to the maximum")
	}
	if !l.inTurn() {
		note("items", "concurrency and on_error count only with items; the turns of other loops follow each other")
	}
	return list
}

func (v *LoopVariable) initial(ctx context.Context, call *engine.Call) (engine.Value, error) {
	switch v.InputMode {
	case constantMode:
		return v.Value, nil
	case variableMode:
		return resolveText(ctx, call, v.Value)
	}
	return engine.ZeroOf(v.Type), nil
}

// resolveText returns the value of a reference in a string.
func resolveText(ctx context.Context, call *engine.Call, v engine.Value) (engine.Value, error) {
	if v.Kind() != engine.KindString {
		return engine.Null, fmt.Errorf("its value is a %s; expected a reference", v.Kind())
	}
	ref := engine.ParseRef(v.Str())
	return call.Resolve(ctx, &ref)
}

// overItems reports whether the loop iterates over a list.
func (l *Loop) overItems() bool { return !l.Items.IsEmpty() }

func (l *Loop) items(ctx context.Context, call *engine.Call) (engine.Value, error) {
	v, err := call.Eval(ctx, &l.Items)
	if err == nil && v.Kind() != engine.KindList {
		err = fmt.Errorf("items must be a list, but it is a %s", v.Kind())
	}
	return v, err
}

func (l *Loop) outputs() []collected { return l.collected }

// Progresses reports whether it is a loop over a list.
func (l *Loop) Progresses() bool { return l.overItems() }

// Breaks returns true: an ExitLoop in the body ends the loop.
func (l *Loop) Breaks() bool { return true }

// LoopItem decides before each turn whether it takes place.
//
// Out: nothing, or item and index in a Loop with items.
type LoopItem struct{}

// Run begins the next turn or ends the loop.
func (*LoopItem) Run(ctx context.Context, call *engine.Call) error {
	loop, ok := call.Container().(*Loop)
	if !ok {
		return errors.New("a LoopItem needs a Loop as parent (parent_id)")
	}
	if loop.overItems() {
		_, _, err := nextItem(ctx, call, loop)
		return err
	}
	ended := call.Cursor() >= loop.MaximumCount
	if !ended {
		var err error
		if ended, err = loop.ended(ctx, call); err != nil {
			return err
		}
	}
	if ended {
		call.EndBody()
	} else {
		call.Turn()
	}
	return nil
}

// Item marks the component as the start of a body.
func (*LoopItem) Item() {}

// Fits reports whether a container is a Loop.
func (*LoopItem) Fits(c engine.Container) bool {
	_, ok := c.(*Loop)
	return ok
}

var (
	_ engine.Container   = (*Loop)(nil)
	_ engine.Inliner     = (*Loop)(nil)
	_ engine.Warner      = (*Loop)(nil)
	_ engine.Initializer = (*Loop)(nil)
	_ engine.Referrer    = (*Loop)(nil)
	_ engine.Item        = (*LoopItem)(nil)
	_ engine.Fitter      = (*LoopItem)(nil)
	_ lister             = (*Loop)(nil)
)
