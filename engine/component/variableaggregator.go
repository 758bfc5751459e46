package component

import (
	"context"
	"fmt"
	"strconv"

	"github.com/easel-canvas/easel/engine"
)

var variableAggregatorSpec = engine.Spec{
	Name:  "VariableAggregator",
	Title: "Merge branches", Search: []string{"join", "coalesce", "combine", "合并"},
	Category: engine.CategoryData, Icon: "merge",
	Doc: "Joins alternative branches: the output of each group is the first of its variables that is not empty.",
	New: func() engine.Component { return new(VariableAggregator) },
	Outputs: []engine.Field{
		{Name: "*", Type: "any", Doc: "the first value of the group that is not empty; null if all are empty"},
	},
	Inline:   true,
	Thoughts: "Joining the branches.",
}

// VariableAggregator outputs the first non-empty value of each group: not null, "", 0, false, [] or
// {}.
//
// In: <group>.variables, as the canvas lists them. Out: one value per group.
//
// Source: RAGFlow agent/component/varaiable_aggregator.py at 80a16e71 (behaviour only).
type VariableAggregator struct {
	Groups []AggregatorGroup `json:"groups" label:"Groups" doc:"each becomes an output: its first variable that is not empty" check:"nonempty"`
}

// AggregatorGroup is one output.
type AggregatorGroup struct {
	Name      string         `json:"group_name" label:"Name" doc:"name of the output" output:"type" check:"nonempty"`
	Type      string         `json:"type" label:"Type" doc:"type of the values, for editors" widget:"select" offer:"=Anything|string=Text|number=Number|boolean=Yes/no|object=Object|array<string>=List of texts|array<number>=List of numbers|array<object>=List of objects"`
	Variables []engine.Value `json:"variables" label:"Variables" doc:"tried in this order" shape:"list of {value: reference}" widget:"references" check:"nonempty"`

	refs []engine.Ref
}

// Init compiles the references.
func (a *VariableAggregator) Init(s *engine.Setup) error {
	if len(a.Groups) == 0 {
		return s.Fail("groups", engine.Null, "is missing; expected at least one group")
	}
	for i := range a.Groups {
		g := &a.Groups[i]
		param := "groups[" + strconv.Itoa(i) + "]"
		if g.Name == "" {
			return s.Fail(param+".group_name", engine.Null, "is missing; expected the name of the output")
		}
		if len(g.Variables) == 0 {
			return s.Fail(param+".variables", engine.Null,
				fmt.Sprintf("of group %q is missing; expected a list of references", g.Name))
		}
		for _, v := range g.Variables {
			if v.Kind() == engine.KindObject {
				v = v.Get("value")
			}
			if v.Kind() != engine.KindString {
				return s.Fail(param+".variables", v, fmt.Sprintf("in group %q is a %s; expected a reference", g.Name,
					v.Kind()))
			}
			g.refs = append(g.refs, engine.ParseRef(v.Str()))
		}
	}
	return nil
}

// References returns the variables of all groups.
func (a *VariableAggregator) References() []engine.Ref {
	var refs []engine.Ref
	for i := range a.Groups {
		refs = append(refs, a.Groups[i].refs...)
	}
	return refs
}

// Run sets the output of each group.
func (a *VariableAggregator) Run(ctx context.Context, call *engine.Call) error {
	for i := range a.Groups {
		g := &a.Groups[i]
		call.In(g.Name+".variables", engine.List(g.Variables...))
		v, err := g.first(ctx, call)
		if err != nil {
			return fmt.Errorf("group %q: %w", g.Name, err)
		}
		call.Out(g.Name, v)
	}
	return nil
}

func (g *AggregatorGroup) first(ctx context.Context, call *engine.Call) (engine.Value, error) {
	for i := range g.refs {
		if g.refs[i].IsZero() {
			continue
		}
		v, err := call.Resolve(ctx, &g.refs[i])
		if err != nil || v.Truthy() {
			return v, err
		}
	}
	return engine.Null, nil
}

var (
	_ engine.Component   = (*VariableAggregator)(nil)
	_ engine.Initializer = (*VariableAggregator)(nil)
	_ engine.Referrer    = (*VariableAggregator)(nil)
)
