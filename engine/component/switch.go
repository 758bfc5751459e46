package component

import (
	"context"
	"fmt"
	"strconv"

	"github.com/easel-canvas/easel/engine"
)

var switchSpec = engine.Spec{
	Name:  "Switch",
	Title: "If / else", Search: []string{"if", "else", "condition", "case", "router", "条件", "判断", "如果"},
	Category: engine.CategoryFlow, Icon: "fork",
	Branches: []engine.Branch{{Param: "conditions", To: "to", Label: "Case"}, {Param: "end_cpn_ids", Label: "else"}},
	Doc:      "Continues with the branch of the first condition that holds.",
	FromForm: switchFromForm,
	New:      func() engine.Component { return new(Switch) },
	Outputs: []engine.Field{
		{Name: "next", Type: "list", Doc: "display names of the nodes that run next"},
		{Name: "_next", Type: "list", Doc: "their ids"},
	},
	Inline:   true,
	Thoughts: "Choosing a branch.",
}

// Switch continues with the targets of the first condition that holds, or else with end_cpn_ids.
//
// In: the values in its conditions. Out: next and _next.
//
// Source: RAGFlow agent/component/switch.py at 80a16e71 (behaviour only). Differs: comparing values
// of different types is false, not an error; contains also searches lists; a condition without
// usable items does not hold; the operators in and not in, which its editor offers, exist; a branch
// without targets loads, and choosing it is an error.
type Switch struct {
	Conditions []SwitchCondition `json:"conditions" label:"Cases" doc:"the first case that holds decides" widget:"branches" check:"nonempty"`
	EndCpnIDs  []string          `json:"end_cpn_ids" label:"Otherwise" doc:"runs if no case holds" shape:"list of node ids" widget:"targets"`
}

// SwitchCondition is one branch.
type SwitchCondition struct {
	LogicalOperator string       `json:"logical_operator" label:"Rules that must hold" doc:"how many rules of the case must hold" ops:"logic" default:"and"`
	Items           []SwitchItem `json:"items" label:"Rules" doc:"comparisons; those without a variable are ignored" widget:"conditions"`
	To              []string     `json:"to" label:"Then run" doc:"steps that run if the case holds" shape:"list of node ids" widget:"targets"`
}

// SwitchItem is one comparison.
type SwitchItem struct {
	CpnID    engine.Ref   `json:"cpn_id" label:"Variable" doc:"value to compare"`
	Operator string       `json:"operator" label:"Comparison" doc:"upper and lower case count as equal when texts are searched" ops:"switch,of=cpn_id"`
	Value    engine.Value `json:"value" label:"Value" doc:"compared with the variable; separate several by commas" widget:"value" right:"operator"`
}

// Init checks the types of the branches, and replaces synonyms of operators.
func (s *Switch) Init(setup *engine.Setup) error {
	if to := setup.Params.Get("end_cpn_ids"); to.Kind() != engine.KindList && !to.IsNull() {
		return setup.Fail("end_cpn_ids", to, "is a "+to.Kind().String()+"; expected a list of ids")
	}
	if len(s.Conditions) == 0 {
		return setup.Fail("conditions", engine.Null, "is missing; expected at least one condition")
	}
	for i, c := range setup.Params.Get("conditions").Elements() {
		to := c.Get("to")
		if to.Kind() != engine.KindList && !to.IsNull() {
			return setup.Fail("conditions["+strconv.Itoa(i)+"].to", to,
				"is a "+to.Kind().String()+"; expected a list of ids")
		}
	}
	for i := range s.Conditions {
		c := &s.Conditions[i]
		c.LogicalOperator = logicOperators.stored(c.LogicalOperator)
		for j := range c.Items {
			c.Items[j].Operator = switchOperators.stored(c.Items[j].Operator)
		}
	}
	return nil
}

// Warnings reports operators that do not exist and branches without targets.
func (s *Switch) Warnings() (list []engine.Diagnostic) {
	for i := range s.Conditions {
		c := &s.Conditions[i]
		at := "conditions[" + strconv.Itoa(i) + "]"
		list = wrongOperator(list, at+".logical_operator", c.checkLogic())
		for j := range c.Items {
			if item := &c.Items[j]; !item.CpnID.IsZero() {
				list = wrongOperator(list, at+".items["+strconv.Itoa(j)+"].operator",
					switchOperators.check("operator", item.Operator))
			}
		}
		list = noTarget(list, at+".to", c.To)
	}
	return noTarget(list, "end_cpn_ids", s.EndCpnIDs)
}

// noTarget adds a warning for a branch without targets.
func noTarget(list []engine.Diagnostic, param string, to []string) []engine.Diagnostic {
	if len(to) > 0 {
		return list
	}
	return append(list, engine.Diagnostic{
		Code: engine.CodeUnknownTarget, Param: param,
		Message: "leads nowhere: choosing this branch is an error; connect it to a node",
	})
}

// errNowhere is the error of a chosen branch without targets.
var errNowhere = fmt.Errorf("%w: the chosen branch leads nowhere; connect it to a node", engine.ErrRef)

// Choices returns the nodes of each branch that leads somewhere.
func (s *Switch) Choices() (choices [][]string) {
	for i := range s.Conditions {
		if to := s.Conditions[i].To; len(to) > 0 {
			choices = append(choices, to)
		}
	}
	if len(s.EndCpnIDs) > 0 {
		choices = append(choices, s.EndCpnIDs)
	}
	return choices
}

// Run selects the branch of the first condition that holds.
func (s *Switch) Run(ctx context.Context, call *engine.Call) error {
	to, branch := s.EndCpnIDs, "end_cpn_ids"
	for i := range s.Conditions {
		holds, err := s.Conditions[i].holds(ctx, call)
		if err != nil {
			return err
		}
		if holds {
			to, branch = s.Conditions[i].To, "conditions["+strconv.Itoa(i)+"].to"
			break
		}
	}
	if len(to) == 0 {
		return fmt.Errorf("%s: %w", branch, errNowhere)
	}
	names := make([]string, len(to))
	for i, id := range to {
		names[i] = call.NodeName(id)
	}
	call.Out("next", engine.Strings(names...))
	return call.Next(to)
}

// checkLogic returns an error for an unknown logical operator. An empty one means or, as in the
// original.
func (c *SwitchCondition) checkLogic() error {
	if c.LogicalOperator == "" {
		return nil
	}
	return logicOperators.check("logical_operator", c.LogicalOperator)
}

func (c *SwitchCondition) holds(ctx context.Context, call *engine.Call) (bool, error) {
	if err := c.checkLogic(); err != nil {
		return false, err
	}
	counted, all := 0, true
	for i := range c.Items {
		item := &c.Items[i]
		if item.CpnID.IsZero() {
			continue
		}
		v, err := call.Resolve(ctx, &item.CpnID)
		if err != nil {
			return false, err
		}
		call.In(item.CpnID.Expr, v)
		holds, err := switchCompare(v, item.Operator, item.Value)
		if err != nil {
			return false, fmt.Errorf("%s: %w", item.CpnID.Expr, err)
		}
		if holds && c.LogicalOperator != "and" {
			return true, nil
		}
		counted++
		all = all && holds
	}
	return counted > 0 && all, nil
}

var (
	_ engine.Component   = (*Switch)(nil)
	_ engine.Initializer = (*Switch)(nil)
	_ engine.Brancher    = (*Switch)(nil)
	_ engine.Warner      = (*Switch)(nil)
)
