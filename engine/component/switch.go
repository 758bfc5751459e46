package component

import (
	"context"
	"fmt"
	"strconv"

	"github.com/easel-canvas/easel/engine"
)

var switchSpec = engine.Spec{
	Name:     "Switch",
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
// usable items does not hold.
type Switch struct {
	Conditions []SwitchCondition `json:"conditions" doc:"conditions in order; the first that holds decides" check:"nonempty"`
	EndCpnIDs  []string          `json:"end_cpn_ids" doc:"ids of the nodes to run if no condition holds" check:"nonempty" label:"Otherwise"`
}

// SwitchCondition is one branch.
type SwitchCondition struct {
	LogicalOperator string       `json:"logical_operator" doc:"and: all items must hold; anything else: one is enough" default:"and"`
	Items           []SwitchItem `json:"items" doc:"comparisons; those without cpn_id are ignored"`
	To              []string     `json:"to" doc:"ids of the nodes to run if the condition holds" check:"nonempty"`
}

// SwitchItem is one comparison.
type SwitchItem struct {
	CpnID    engine.Ref   `json:"cpn_id" doc:"reference to the value to compare" label:"Variable"`
	Operator string       `json:"operator" doc:"contains, not contains, start with, end with, empty, not empty, =, ≠, >, <, ≥ or ≤"`
	Value    engine.Value `json:"value" doc:"value to compare with"`
}

// Init checks that every branch has targets.
func (s *Switch) Init(setup *engine.Setup) error {
	if len(s.EndCpnIDs) == 0 {
		return setup.Fail("end_cpn_ids", engine.Null, "is missing; expected the ids of the nodes for all other cases")
	}
	if to := setup.Params.Get("end_cpn_ids"); to.Kind() != engine.KindList {
		return setup.Fail("end_cpn_ids", to, "is a "+to.Kind().String()+"; expected a list of ids")
	}
	if len(s.Conditions) == 0 {
		return setup.Fail("conditions", engine.Null, "is missing; expected at least one condition")
	}
	for i, c := range setup.Params.Get("conditions").Elements() {
		param := "conditions[" + strconv.Itoa(i) + "].to"
		to := c.Get("to")
		if to.Kind() != engine.KindList && !to.IsNull() {
			return setup.Fail(param, to, "is a "+to.Kind().String()+"; expected a list of ids")
		}
		if to.Len() == 0 {
			return setup.Fail(param, engine.Null, "is empty; expected the ids of the nodes to run")
		}
	}
	return nil
}

// Targets returns the nodes of all branches.
func (s *Switch) Targets() []string {
	var ids []string
	for i := range s.Conditions {
		ids = append(ids, s.Conditions[i].To...)
	}
	return append(ids, s.EndCpnIDs...)
}

// Run selects the branch of the first condition that holds.
func (s *Switch) Run(ctx context.Context, call *engine.Call) error {
	to := s.EndCpnIDs
	for i := range s.Conditions {
		holds, err := s.Conditions[i].holds(ctx, call)
		if err != nil {
			return err
		}
		if holds {
			to = s.Conditions[i].To
			break
		}
	}
	names := make([]string, len(to))
	for i, id := range to {
		names[i] = call.NodeName(id)
	}
	call.Out("next", engine.Strings(names...))
	return call.Next(to)
}

func (c *SwitchCondition) holds(ctx context.Context, call *engine.Call) (bool, error) {
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
)
