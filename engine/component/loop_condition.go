package component

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// LoopCondition is one test that ends a Loop.
type LoopCondition struct {
	Variable  engine.Ref   `json:"variable" label:"Variable" doc:"value to compare"`
	Operator  string       `json:"operator" label:"Comparison" doc:"upper and lower case differ" ops:"loop,of=variable"`
	Value     engine.Value `json:"value" label:"Value" doc:"compared with the variable" widget:"value" ops:",of=variable" right:"operator" by:"input_mode"`
	InputMode string       `json:"input_mode" label:"Compare with" doc:"a value, or the output of a step" offer:"constant=Value|variable=From a step" hidden:"true" default:"constant"`
}

// ended reports whether the conditions hold. All are tested, so that an invalid one fails in the
// first turn.
func (l *Loop) ended(ctx context.Context, call *engine.Call) (bool, error) {
	if err := l.checkLogic(); err != nil {
		return false, err
	}
	all, one := true, false
	for i := range l.Conditions {
		holds, err := l.Conditions[i].holds(ctx, call)
		if err != nil {
			return false, err
		}
		all, one = all && holds, one || holds
	}
	if l.LogicalOperator == "or" || l.LogicalOperator == "" && len(l.Conditions) == 0 {
		return one, nil
	}
	return all, nil
}

func (l *Loop) checkLogic() error {
	if l.LogicalOperator == "" {
		return nil
	}
	return logicOperators.check("logical_operator", l.LogicalOperator)
}

func (c *LoopCondition) checkMode() error {
	if c.InputMode == "" {
		return nil
	}
	return inputModes.check("input_mode", c.InputMode)
}

func (c *LoopCondition) holds(ctx context.Context, call *engine.Call) (bool, error) {
	if c.Variable.IsZero() || c.Operator == "" {
		return false, errors.New("a loop condition is incomplete; expected a variable and an operator")
	}
	err := c.checkMode()
	if err == nil {
		err = loopOperators.check("operator", c.Operator)
	}
	if err != nil {
		return false, fmt.Errorf("loop condition on %s: %w", c.Variable.String(), err)
	}
	left, err := call.Resolve(ctx, &c.Variable)
	if err != nil {
		return false, err
	}
	right := c.Value
	if c.InputMode == variableMode {
		if right, err = resolveText(ctx, call, c.Value); err != nil {
			return false, fmt.Errorf("loop condition on %s: %w", c.Variable.String(), err)
		}
	}
	holds, known := loopCompare(left, c.Operator, right)
	if !known {
		return false, fmt.Errorf("loop condition on %s: a %s has no operator %q", c.Variable.String(), left.Kind(),
			c.Operator)
	}
	return holds, nil
}

// loopCompare evaluates one comparison of a Loop; known is false when the left value has no such
// operator. Comparison is case-sensitive; values of different types are neither equal nor ordered.
func loopCompare(left engine.Value, operator string, right engine.Value) (holds, known bool) {
	switch left.Kind() {
	case engine.KindNull:
		return operator == "empty", true
	case engine.KindString:
		return compareText(left, operator, right)
	case engine.KindNumber, engine.KindBool:
		return compareScalar(left, operator, right)
	case engine.KindList:
		return compareList(left, operator, right)
	}
	return compareEmpty(left, operator)
}

func compareEmpty(v engine.Value, operator string) (holds, known bool) {
	switch operator {
	case "empty":
		return !v.Truthy(), true
	case "not empty":
		return v.Truthy(), true
	}
	return false, false
}

func compareText(left engine.Value, operator string, right engine.Value) (holds, known bool) {
	both := bothTexts(left, right)
	switch operator {
	case "contains":
		return both && strings.Contains(left.Str(), right.Str()), true
	case "not contains":
		return !both || !strings.Contains(left.Str(), right.Str()), true
	case "start with":
		return both && strings.HasPrefix(left.Str(), right.Str()), true
	case "end with":
		return both && strings.HasSuffix(left.Str(), right.Str()), true
	case "is", "=":
		return engine.Equal(left, right), true
	case "is not", "≠":
		return !engine.Equal(left, right), true
	}
	return compareEmpty(left, operator)
}

// compareScalar compares numbers with numbers and booleans with booleans, false before true.
// Neither is ever empty.
func compareScalar(left engine.Value, operator string, right engine.Value) (holds, known bool) {
	switch operator {
	case "empty":
		return false, true
	case "not empty":
		return true, true
	case "=", "is":
		return engine.Equal(left, right), true
	case "≠", "is not":
		return !engine.Equal(left, right), true
	}
	orders, known := orderings[operator]
	if !known || left.Kind() != right.Kind() {
		return false, known
	}
	return orders(engine.CompareNumbers(asNumber(left), asNumber(right))), true
}

// asNumber returns a number, or 0 and 1 for false and true.
func asNumber(v engine.Value) engine.Value {
	if v.Kind() != engine.KindBool {
		return v
	}
	if v.True() {
		return engine.Int(1)
	}
	return engine.Int(0)
}

func compareList(left engine.Value, operator string, right engine.Value) (holds, known bool) {
	switch operator {
	case "contains", "not contains":
		return listHas(left, right) == (operator == "contains"), true
	case "is", "=":
		return engine.Equal(left, right), true
	case "is not", "≠":
		return !engine.Equal(left, right), true
	}
	return compareEmpty(left, operator)
}

func listHas(list, x engine.Value) bool {
	for _, e := range list.Elements() {
		if engine.Equal(e, x) {
			return true
		}
	}
	return false
}
